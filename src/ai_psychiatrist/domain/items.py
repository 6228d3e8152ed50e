"""The scores of the eight items, each with the words that carry it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, computed_field

from ai_psychiatrist.domain.belief import ItemBelief, TotalInterval
from ai_psychiatrist.domain.drive import ItemDrive
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Grounding,
    Quote,
    UnreadAnswer,
    UnverifiedQuote,
)
from ai_psychiatrist.domain.phq8 import (
    Item,
    NotExaminedCause,
    ScoreTotals,
    UnknownReason,
    require_score_or_reason,
)
from ai_psychiatrist.domain.shape import Shape


class NoReferences(StrEnum):
    """Why an item is scored without examples of other participants, in a mode that shows them."""

    NO_EVIDENCE = "no_evidence"
    """No grounded quote speaks of it, so there is nothing to search with."""
    NONE_LEFT = "none_left"
    """No scored reference of other participants is about the item."""
    BELOW_FLOOR = "below_floor"
    """None is similar enough."""
    OVER_BUDGET = "over_budget"
    """None is short enough."""
    UNFIT = "unfit"
    """The score of each is contradicted by the reading of its own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReference:
    """An example of another participant that scoring was shown, without its words."""

    chunk: int
    """Its number among the references, from 0."""
    digest: str
    """Of its words, keyed by its whole session: 16 hexadecimal digits."""
    score: int
    """0-3, as it was shown."""
    similarity: float | None
    """To the item's evidence, 0-1; `None` where it was drawn by chance."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ItemAssessment(Shape):
    """One item of the PHQ-8: a score 0-3 with its evidence, or unknown with the reason."""

    item: Annotated[Item, Field(exclude=True)]
    """In JSON it is the key that the item stands under."""
    score: Annotated[int, Field(ge=0, le=3)] | None
    """0-3, or null for unknown."""
    unknown_reason: UnknownReason | None
    """Why there is no score."""
    not_examined_cause: NotExaminedCause | None = None
    """Why nothing was read, where the reason is `not_examined`."""
    unread_answer: UnreadAnswer | None = None
    """The question for the item and the answer from which nothing was read."""
    proposed_score: int | None
    """The model's own score, kept when the evidence does not carry it."""
    evidence: tuple[Quote, ...]
    """The participant's words that carry the score."""
    frequency: Frequency
    """The highest frequency that affirming quotes state; unstated when they state none."""
    unverified_quotes: tuple[UnverifiedQuote, ...]
    """Quotes that the model gave and that do not count as the participant's words."""
    reason: str
    """The model's own words for its score."""
    confidence: int | None
    """1 (guess) to 5 (certain), as the model says it; null where it says none that can be read."""
    warnings: tuple[str, ...]
    """Names of the clinical rules that speak against the model's answer to this item, and of parts
    of the answer that could not be read (`confidence_not_read` and the like)."""
    llm_evidence_count: int
    """How many quotes of the evidence stage are kept."""
    llm_evidence_extracted_count: int
    """How many the model gave."""
    llm_evidence_rejected_count: int
    """How many were refused."""
    belief: ItemBelief | None = None
    """How likely each score is; null in results that were made without it."""
    references: tuple[ShownReference, ...] = ()
    """Examples of other participants that scoring was shown, in the modes that show any."""
    no_references: NoReferences | None = None
    """Why there are none, in such a mode."""
    drive: ItemDrive | None = None
    """Whether the evidence drives the score; null where that was not asked for, or none is."""

    def __post_init__(self) -> None:
        require_score_or_reason(self.score, self.unknown_reason)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def label(self) -> str:
        """The item in words."""
        return self.item.label

    def shown(self) -> Iterator[tuple[str, object]]:
        """Yield the item as well, which is no word of the interview."""
        yield "label", self.label
        yield from Shape.shown(self)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QuoteGrounding(Shape):
    """How many quotes of the evidence stage were the participant's words."""

    grounding: Grounding
    """Whether quotes were checked."""
    extracted_count: int
    """How many the model gave."""
    validated_count: int
    """How many are the participant's words."""
    rejected_count: int
    """How many are not."""
    rejected_by_domain: Mapping[str, int]
    """Item → how many of its quotes were refused."""
    unknown_keys: int
    """How many keys of the reply name no item."""


def _with_keys(items: object) -> object:
    """Return the items of JSON with their key in each."""
    if not isinstance(items, dict):
        return items
    return {
        key: {**one, "item": key} if isinstance(one, dict) else one for key, one in items.items()
    }


ItemTable: TypeAlias = Annotated[Mapping[Item, ItemAssessment], BeforeValidator(_with_keys)]
"""Key of the item → its result, in the order of the instrument."""


class ItemTotals(ScoreTotals):
    """What the eight items say together."""

    __slots__ = ()
    items: ItemTable

    def scores(self) -> Iterator[int | None]:
        """Yield the score of each item."""
        return (item.score for item in self.items.values())

    @property
    def has_answers(self) -> bool:
        """Whether a reply answers any of the items, accepted or not."""
        reasons = {item.unknown_reason for item in self.items.values()}
        return bool(reasons - {UnknownReason.SCORING_FAILED})

    @property
    def has_scores(self) -> bool:
        """Whether any item has a score."""
        return any(item.score is not None for item in self.items.values())

    def shown_total(self) -> Iterator[tuple[str, object]]:
        """Yield the total, or its range and how many items are unknown."""
        if self.total_score is not None:
            yield "total_score", self.total_score
            yield "severity", self.severity_label
        else:
            yield "total_score_min", self.total_score_min
            yield "total_score_max", self.total_score_max
            yield "unknown_items", self.na_count


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PHQ8Assessment(ItemTotals, Shape):
    """Item scores and what the total can be."""

    accepted: bool = True
    """Whether a reply answers each item; items without an answer keep the evidence."""
    total_interval: TotalInterval | None = None
    """Where the beliefs of the items let the total lie; the items are taken as independent."""
    items: ItemTable
    """Key of the item → its result."""
    grounding: Annotated[QuoteGrounding | None, Field(exclude=True)] = field(
        default=None, compare=False
    )
    """The counts that the assessment has; `None` in one that was read back."""

    @property
    def lost_all_evidence(self) -> bool:
        """Whether the model gave quotes and every one of them was refused."""
        counts = self.grounding
        return counts is not None and counts.validated_count == 0 and counts.rejected_count > 0
