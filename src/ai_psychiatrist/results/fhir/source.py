"""What a bundle is made from: a result, when it was made, and what one rater says of it."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ChangedScore, Committed, ReviewRow
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.interview.interview_store import ReadInterview, latest_done
from ai_psychiatrist.results.fhir.elements import Element, about

_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "urn:ai-psychiatrist:fhir")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """Scores of a rater who has committed all eight, with what was changed after that."""

    rater: str
    """A keyed digest that the rater is called by; nobody's name."""
    at: datetime
    """Of the last score."""
    scores: Mapping[Item, int | None]
    """`None`: the rater cannot tell."""

    @property
    def url(self) -> str:
        """The address of the rater, the same in all bundles of an installation."""
        return _url(f"rater/{self.rater}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOptions:
    """What a bundle contains beyond scores."""

    made_at: datetime | None = None
    """When the assessment was made, where that is known."""
    subject: str | None = None
    """Whom it is about: a reference such as `Patient/17` that whoever asks vouches for."""
    study_id: str | None = field(default=None, repr=False)
    """What a study calls whom it is about: an identifier, which refers to no resource."""
    with_words: bool = False
    """Whether the quotes that carry scores are in notes."""
    questionnaire: bool = False
    """Whether there is a QuestionnaireResponse, too."""
    interviews: tuple[ReadInterview, ...] = field(default=(), repr=False)
    """Those about the assessment, the newest first."""
    is_transaction: bool = False
    """Whether the bundle can be posted to a FHIR server as it is, and not only be kept."""


AS_USUAL: Final = BundleOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Everything that the resources of one bundle are made from."""

    result: Assessment
    transcript_sha256: str | None
    wanted: BundleOptions
    rated: Rated | None

    @property
    def interview(self) -> ReadInterview | None:
        """The interview whose answers count, where the program's scores are shown."""
        return latest_done(self.wanted.interviews) if self.rated is None else None

    def url(self, part: str) -> str:
        """Return the address of a part that is the same for every rater."""
        return _url(f"{self.result.assessment_id}/{part}")

    def own_url(self, part: str) -> str:
        """Return the address of a part that each rater has of its own."""
        return self.url(part if self.rated is None else f"{part}/{self.rated.rater}")

    @property
    def about(self) -> Element:
        """Whom a resource is about, where that is said."""
        return about(self.wanted.subject, self.wanted.study_id)

    @property
    def device(self) -> str:
        """The address of the program."""
        return self.url("device")

    @property
    def document(self) -> str:
        """The address of the transcript."""
        return self.url("transcript")

    @property
    def interview_document(self) -> str:
        """The address of the words of interviews with the person."""
        return self.url("interview")

    @property
    def items(self) -> Mapping[Item, ItemAssessment]:
        """What the program says of the items; empty where its scoring failed."""
        scores = self.result.quantitative
        return {} if scores is None else scores.items

    def program_score(self, item: Item) -> int | None:
        """Return the program's score of an item."""
        return self.items[item].score if item in self.items else None

    def score(self, item: Item) -> int | None:
        """Return an item's score: the rater's where one has rated."""
        return self.program_score(item) if self.rated is None else self.rated.scores[item]


def instant(at: datetime) -> str:
    """Return a time as FHIR writes it, in UTC; a naive one is taken as UTC."""
    aware = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def rated_of(rows: Iterable[ReviewRow]) -> tuple[Rated, ...]:
    """Return each rater who has committed, in the order of committing."""
    found: dict[str, Rated] = {}
    for row in rows:
        match row.said:
            case Committed(items=items, has_scores=True):
                scores = {one.item: one.score for one in items}
                found[row.rater] = _rated(row, scores)
            case ChangedScore(item=item, score=score) if row.rater in found:
                found[row.rater] = _rated(row, {**found[row.rater].scores, item: score})
    return tuple(found.values())


def _rated(row: ReviewRow, scores: Mapping[Item, int | None]) -> Rated:
    # A name that somebody gave on the page could be guessed from a plain digest.
    return Rated(rater=keyed_digest(f"rater {row.rater}", length=16), at=row.at, scores=scores)


def _url(name: str) -> str:
    return f"urn:uuid:{uuid.uuid5(_NAMESPACE, name)}"
