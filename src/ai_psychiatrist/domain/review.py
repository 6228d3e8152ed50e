"""What a rater says of an assessment: rows that are added, and never changed."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from ai_psychiatrist.domain.phq8 import Item


class ReviewPhase(StrEnum):
    """How far a rater is with an assessment: not begun, begun `blind` or after scores were `seen`,
    or `revealed`, once their own ratings are committed."""

    UNSEEN = "unseen"
    BLIND = "blind"
    """Begun without having been given any score of it."""
    SEEN = "seen"
    """Begun after scores were given: rated with them in mind, and counted apart."""
    REVEALED = "revealed"
    """Own scores are committed; the program's are shown."""


class Verdict(StrEnum):
    """What a rater says of a piece of evidence."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


class RejectReason(StrEnum):
    """Why a piece of evidence does not count: it is about another item, denied, past, about another
    person, or not meant."""

    WRONG_ITEM = "wrong_item"
    NEGATED = "negated"
    PAST = "past"
    NOT_THE_PARTICIPANT = "not_the_participant"
    IRONY = "irony"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRating:
    """Words that a rater marks: characters of the transcript, the end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRating:
    """A rater's score of an item, 0-3, or `None` where the interview does not tell."""

    item: Item
    score: int | None
    evidence: tuple[SpanRating, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """All eight items, rated before the program's scores are shown."""

    items: tuple[ItemRating, ...]
    phase: ReviewPhase
    """`BLIND`, or `SEEN` where scores were given before."""
    has_scores: bool = True
    """`False` where evidence alone was marked, in another program."""
    has_evidence: bool = True
    """`False` where scores alone were given, in another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceVerdict:
    """A verdict on one quote of the program: its position among the item's evidence, from 0."""

    item: Item
    evidence: int
    verdict: Verdict
    reason: RejectReason | None = None
    """Why it was rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedEvidence:
    """Words about an item that the program did not find."""

    item: Item
    span: SpanRating


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedScore:
    """A score given after the program's was shown; `None`: cannot tell."""

    item: Item
    score: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRating:
    """The gold score of an item; `None` where the interview does not tell."""

    item: Item
    score: int | None
    reason: str = field(default="", repr=False)
    """Why, in the adjudicator's words; may be empty where all raters say the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudicated:
    """Gold scores of all eight items, decided from what raters committed; the last one counts."""

    items: tuple[GoldRating, ...]
    raters: tuple[str, ...]
    """Whose scores were compared."""


Said: TypeAlias = Committed | EvidenceVerdict | MissedEvidence | ChangedScore | Adjudicated


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRow:
    """One thing that one rater said, in the order in which all of it came."""

    number: int
    rater: str
    """`Principal.id`."""
    at: datetime
    said: Said
