"""What each agent's reply holds once it is accepted, and what is valid of one that is not."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ai_psychiatrist.domain.failures import UnreadPart
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.domain.risk import RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.llm.replies import ModelOutput, PartialOutput

SECTIONS: Final = (
    "assessment",
    "PHQ8_symptoms",
    "social_factors",
    "biological_factors",
    "risk_factors",
)
"""The tags of a narrative, which its fields are named after; its quotes stand in another."""
NOT_ASSESSED = "not assessed in interview"
"""What a model writes, in any case, for a domain that the interview does not cover."""
NOT_EXAMINED = "The words that tell are in a language that the rules do not read."
"""The reason that the rule baseline gives where it could not read, and so has no answer."""
NOT_READ = "The rules could not read the transcript."
"""The reason that it gives where its reading failed."""
UNSETTLED = "The words can be read in two ways, and do not settle whether the symptom is there."
"""The reason that it gives where two readings stand."""
NOT_SHARED = "The rules read this of the item, and the learned reader does not share it."
"""The reason that it gives where the learned reader reads otherwise."""

Scale3 = Annotated[int, Field(strict=True, ge=0, le=3)]
Scale4 = Annotated[int, Field(strict=True, ge=0, le=4)]
Scale5 = Annotated[int, Field(strict=True, ge=1, le=5)]


def words_of(text: str) -> str:
    """Return a text without the blanks around it, zero-width ones included."""
    return text.strip(_BLANKS)


_BLANKS: Final = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
)


def _not_blank(text: str) -> str:
    words = words_of(text)
    if not words:
        raise ValueError("there are no words")
    return words


Words = Annotated[str, Field(min_length=1), AfterValidator(_not_blank)]


class _Part(BaseModel):
    """A part of a reply."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class _ReadInPart(PartialOutput):
    """A single answer of which a part cannot be read."""

    unread: tuple[UnreadPart, ...]

    @property
    def unread_count(self) -> int:
        """How many fields cannot be read."""
        return len(self.unread)


class QualitativeOutput(ModelOutput):
    """The narrative of the qualitative agent; a domain without content says that it has none."""

    assessment: Words
    phq8_symptoms: Words
    social_factors: Words
    biological_factors: Words
    risk_factors: Words
    exact_quotes: tuple[Words, ...] = ()
    """Quotes as the model gave them; none of them is checked yet."""


class EvidenceOutput(ModelOutput):
    """The quotes that the evidence agent extracted, not yet checked against the transcript."""

    quotes: dict[str, list[str]]
    """One list for each of the eight item keys."""
    unknown_keys: int = Field(default=0, ge=0)
    """How many keys of the reply name no item."""


class ItemScoreOutput(_Part):
    """The score of one item as the model proposes it."""

    score: Scale3 | None
    """0-3, or `None` for N/A."""
    evidence: tuple[Words, ...] = ()
    reason: str = ""
    confidence: Scale5 | None = None


class QuantitativeOutput(ModelOutput):
    """The proposed scores of all eight items, by item key."""

    items: dict[str, ItemScoreOutput]

    def model_post_init(self, _: object, /) -> None:
        """Insist on exactly the eight items."""
        if set(self.items) != set(PHQ8_DOMAIN_KEYS):
            raise ValueError("an assessment has exactly the eight items")


class PartialScores(PartialOutput):
    """The items of a refused scoring reply that can be read, by item key."""

    items: dict[str, ItemScoreOutput]
    unread: dict[str, tuple[UnreadPart, ...]]
    """Item key → what of the item cannot be read, also of those that are left out for it."""

    @property
    def unread_count(self) -> int:
        """How many fields, or whole items, cannot be read."""
        return sum(map(len, self.unread.values()))

    @property
    def lost_count(self) -> int:
        """How many items have no answer."""
        return len(PHQ8_DOMAIN_KEYS) - len(self.items)

    def as_whole(self) -> QuantitativeOutput:
        """Return all eight items; those that are left out have no score and no quotes."""
        nothing = ItemScoreOutput(score=None)
        return QuantitativeOutput(
            items={key: self.items.get(key, nothing) for key in PHQ8_DOMAIN_KEYS}
        )


class MetricJudgement(_Part):
    """The score of one metric among several in one reply."""

    score: Scale5
    explanation: Words


class JudgeMetricOutput(MetricJudgement, ModelOutput):
    """The judge's score for one metric, 1 (poor) to 5 (very good)."""


class JudgesOutput(ModelOutput):
    """The scores of a reply by metric; one whose part of the reply cannot be read is absent."""

    scores: Annotated[dict[Metric, MetricJudgement], Field(min_length=1)]


class PartialJudgement(_ReadInPart):
    """The score of a metric whose explanation cannot be read; that is empty then."""

    score: Scale5
    explanation: str


class PartialJudgements(PartialOutput):
    """What can be read of a refused reply of the judge about all metrics."""

    scores: Annotated[dict[Metric, PartialJudgement], Field(min_length=1)]

    @property
    def unread_count(self) -> int:
        """How many fields of the metrics that have a score cannot be read."""
        return sum(one.unread_count for one in self.scores.values())

    @property
    def lost_count(self) -> int:
        """How many metrics have no score."""
        return len(Metric) - len(self.scores)


class MetaReviewOutput(ModelOutput):
    """The severity that the meta-review reads from everything, 0 (minimal) to 4 (severe)."""

    severity: Scale4
    explanation: Words


class PartialMetaReview(_ReadInPart):
    """A meta-review whose severity or explanation cannot be read."""

    severity: Scale4 | None
    explanation: str

    @property
    def lost_count(self) -> int:
        """1 where there is no severity."""
        return int(self.severity is None)


class DangerSign(_Part):
    """One sign of danger as the model gives it, its quote not yet checked."""

    quote: Words
    kind: RiskKind
    polarity: RiskPolarity
    level: Literal[RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH]


class DangerOutput(ModelOutput):
    """The signs of danger that the danger agent found; none when the list is empty."""

    signs: tuple[DangerSign, ...]


class CompletedSign(_Part):
    """A sign whose unread parts count as said: high, affirmed, of no kind that is known."""

    sign: DangerSign
    unread: tuple[UnreadPart, ...] = ()
    """Empty for a sign that was read as a whole."""


class PartialDanger(PartialOutput):
    """The signs of refused replies, in the order in which they were given."""

    signs: Annotated[tuple[CompletedSign, ...], Field(min_length=1)]
    wordless_count: int = 0
    """How many signs are lost, as no words of theirs can be read."""

    @property
    def unread_count(self) -> int:
        """How many fields cannot be read."""
        return self.wordless_count + sum(len(one.unread) for one in self.signs)

    @property
    def lost_count(self) -> int:
        """How many signs are lost."""
        return self.wordless_count

    def over(self, earlier: "PartialDanger") -> "PartialDanger":
        """Return all signs of both: none is lost that could once be read.

        Of the same words those count that were read more fully, or else later.
        """
        kept, later = _by_quote(earlier.signs), _by_quote(self.signs)
        for quote, signs in later.items():
            if quote not in kept or _unread(signs) <= _unread(kept[quote]):
                kept[quote] = signs
        return PartialDanger(
            signs=tuple(chain.from_iterable(kept.values())),
            wordless_count=min(self.wordless_count, earlier.wordless_count),
        )


def _by_quote(signs: Iterable[CompletedSign]) -> dict[str, list[CompletedSign]]:
    by_quote: dict[str, list[CompletedSign]] = defaultdict(list)
    for one in signs:
        by_quote[one.sign.quote].append(one)
    return by_quote


def _unread(signs: Iterable[CompletedSign]) -> int:
    return sum(len(one.unread) for one in signs)
