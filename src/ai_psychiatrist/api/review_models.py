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
    """Counted up with each row of the assessment."""
    at: datetime
    """When it was written."""
    rater: str
    """The id of a credential, no name."""
    mine: bool
    """Whether you said it."""
    kind: Kind
    """What the row says."""
    phase: ReviewPhase | None = None
    """Of committed ratings: `blind`, or `seen` where scores had been given before."""
    items: FrozenTable[str, RatedItemResult] | None = None
    """The eight committed ratings."""
    item: Item | None = None
    evidence: int | None = None
    """Which of the item's quotes, from 0."""
    verdict: Verdict | None = None
    reason: RejectReason | None = None
    span: SpanResult | None = None
    score: int | None = None
    """0-3, where the row gives one."""
    cannot_tell: bool | None = None
    """Whether no score could be told."""


class ReviewResult(Result):
    """How far you are with an assessment, and what was said of it."""

    phase: ReviewPhase
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
