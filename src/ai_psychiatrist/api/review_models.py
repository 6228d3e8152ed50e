"""What a rater gets back of a review."""

from datetime import datetime
from typing import Literal, TypeAlias

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import (
    ChangedScore,
    Committed,
    EvidenceVerdict,
    MissedEvidence,
    RejectReason,
    ReviewPhase,
    ReviewRow,
    SpanRating,
    Verdict,
)
from ai_psychiatrist.results.frozen_table import FrozenTable
from ai_psychiatrist.results.result import Result

Kind: TypeAlias = Literal["committed", "evidence", "missed", "score"]


class SpanResult(Result):
    """Words that were marked: characters of the transcript, the end exclusive."""

    start: int
    """First character, in code points of the transcript."""
    end: int
    """The character after the last."""


class RatedItemResult(Result):
    """One item as a rater scored it."""

    score: int | None
    """0-3; null where it cannot be told."""
    cannot_tell: bool
    """Whether no score could be told."""
    evidence: tuple[SpanResult, ...]
    """Where the words stand that carry it."""


class ReviewRowResult(Result):
    """One thing that a rater said; fields of other kinds are null."""

    number: int
    """Rises with each row that anybody adds, over all assessments of the tenant."""
    at: datetime
    """When it was written."""
    rater: str
    """Id of whoever said it; of a rater without a key it holds the name that they gave."""
    mine: bool
    """Whether you said it."""
    kind: Kind
    """`committed` ratings of all items, a verdict on a piece of `evidence`, words that the program
    `missed`, or a later `score`."""
    phase: ReviewPhase | None = None
    """Of committed ratings: `blind`, or `seen` where scores had been given before."""
    items: FrozenTable[str, RatedItemResult] | None = None
    """Of `committed`: the rating of each item by its key."""
    item: Item | None = None
    """Of all other kinds: the item that it is about."""
    evidence: int | None = None
    """Of `evidence`: which of the program's quotes for the item, from 0."""
    verdict: Verdict | None = None
    """Of `evidence`: whether the quote counts."""
    reason: RejectReason | None = None
    """Of `evidence`: why it was rejected; null where it was accepted."""
    span: SpanResult | None = None
    """Of `missed`: where the words stand."""
    score: int | None = None
    """Of `score`: 0-3, or null where `cannot_tell` is true."""
    cannot_tell: bool | None = None
    """Of `score`: whether no score could be told."""


class ReviewResult(Result):
    """How far you are with an assessment, and what was said of it."""

    phase: ReviewPhase
    """How far you are with rating it."""
    begun: bool
    """Whether your review is begun; ratings are taken only then."""
    rows: tuple[ReviewRowResult, ...]
    """Your own, and those of others once your ratings are committed."""


def row_result(row: ReviewRow, rater: str) -> ReviewRowResult:
    """Return a row as a rater gets it."""
    shown: dict[str, object] = {
        "number": row.number,
        "at": row.at,
        "rater": row.rater,
        "mine": row.rater == rater,
    }
    return ReviewRowResult.model_validate(shown | _said(row))


def _said(row: ReviewRow) -> dict[str, object]:
    match row.said:
        case Committed(items=items, phase=phase):
            rated = {
                one.item.value: _scored(one.score)
                | {"evidence": tuple(_span(span) for span in one.evidence)}
                for one in items
            }
            return {"kind": "committed", "phase": phase, "items": rated}
        case EvidenceVerdict(item=item, evidence=evidence, verdict=verdict, reason=reason):
            return {
                "kind": "evidence",
                "item": item,
                "evidence": evidence,
                "verdict": verdict,
                "reason": reason,
            }
        case MissedEvidence(item=item, span=span):
            return {"kind": "missed", "item": item, "span": _span(span)}
        case ChangedScore(item=item, score=score):
            return {"kind": "score", "item": item, **_scored(score)}


def _scored(score: int | None) -> dict[str, object]:
    return {"score": score, "cannot_tell": score is None}


def _span(span: SpanRating) -> dict[str, int]:
    return {"start": span.start, "end": span.end}
