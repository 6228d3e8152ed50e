"""The rows of results: one for each assessment, or one for each of its items."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Final, TypedDict

from ai_psychiatrist.domain.phq8 import Item, TotalScore, UnknownReason, total_of
from ai_psychiatrist.domain.risk import is_to_be_read
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.models import BeliefResult, ItemResult
from ai_psychiatrist.results.tables.writing import Cell, Row

_WORDS: Final = ("unread_question", "unread_answer", "reason", "quotes")


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentRow:
    """One assessment; its eight scores follow in columns of their own."""

    assessment_id: str
    made_at: str | None
    status: str
    mode: str
    total: int | None
    total_min: int | None
    total_max: int | None
    severity: str | None
    unknown_items: int | None
    danger: str | None
    danger_read_now: int | None
    """How many signs are affirmed, hypothetical or unclear at moderate or above."""
    turns_not_examined: int | None
    models: tuple[str, ...]
    scores: dict[str, int | None]

    def as_row(self) -> Row:
        """Return its cells."""
        cells = asdict(self)
        scores: dict[str, Cell] = cells.pop("scores")
        return {**cells, **{item.value: scores.get(item.value) for item in Item}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """One item of one assessment."""

    assessment_id: str
    item: str
    score: int | None
    unknown_reason: str | None
    not_examined_cause: str | None
    unread_turn: int | None
    """The turn of the question, from 0, whose answer was not read."""
    proposed_score: int | None
    confidence: int | None
    frequency: str | None
    evidence: int | None
    """How many quotes are grounded."""
    evidence_rejected: int | None
    p0: float | None
    p1: float | None
    p2: float | None
    p3: float | None
    p_not_determinable: float | None
    calibrated: bool | None
    warnings: tuple[str, ...]

    def as_row(self) -> Row:
        """Return its cells."""
        return asdict(self)


ASSESSMENT_COLUMNS: Final = (
    *(field.name for field in fields(AssessmentRow) if field.name != "scores"),
    *(item.value for item in Item),
)
ITEM_COLUMNS: Final = tuple(field.name for field in fields(ItemRow))
ITEM_COLUMNS_WITH_WORDS: Final = (*ITEM_COLUMNS, *_WORDS)


def assessment_row(result: FullResult, *, made_at: datetime | None = None) -> Row:
    """Return the row of a whole assessment."""
    scores = _scores(result)
    total = None if scores is None else total_of(scores.values())
    answered = (name for model in result.models.values() for name in model.answered_by)
    return AssessmentRow(
        assessment_id=result.assessment_id,
        made_at=None if made_at is None else made_at.isoformat(),
        status=result.status.value,
        mode=result.mode,
        **total_cells(total),
        unknown_items=None if scores is None else sum(one is None for one in scores.values()),
        danger=result.risk.level.value,
        danger_read_now=sum(map(is_to_be_read, result.risk.signals)),
        turns_not_examined=result.risk.examined.count_not_examined,
        models=tuple(sorted(set(answered))),
        scores=scores or {},
    ).as_row()


def item_rows(result: FullResult, *, with_words: bool = False) -> Iterator[Row]:
    """Yield the eight rows of a whole assessment."""
    items = None if result.quantitative is None else result.quantitative.items
    for item in Item:
        found = None if items is None else items.get(item.value)
        row = _item_row(result.assessment_id, item, found).as_row()
        yield {**row, **_words_of(found)} if with_words else row


def _words_of(found: ItemResult | None) -> Row:
    unread = None if found is None else found.unread_answer
    return {
        "unread_question": None if unread is None else unread.question,
        "unread_answer": None if unread is None else unread.answer,
        "reason": None if found is None else found.reason,
        "quotes": () if found is None else tuple(quote.text for quote in found.evidence),
    }


class TotalCells(TypedDict):
    """The cells of a total."""

    total: int | None
    total_min: int | None
    total_max: int | None
    severity: str | None


class BeliefCells(TypedDict):
    """The cells of the probabilities of an item."""

    p0: float | None
    p1: float | None
    p2: float | None
    p3: float | None
    p_not_determinable: float | None
    calibrated: bool | None


def total_cells(total: TotalScore | None) -> TotalCells:
    """Return the cells of a total; all are empty where scoring failed."""
    if total is None:
        return {"total": None, "total_min": None, "total_max": None, "severity": None}
    return {
        "total": total.exact,
        "total_min": total.minimum,
        "total_max": total.maximum,
        "severity": total.severity_label,
    }


def belief_cells(
    scores: Sequence[float] | None, not_determinable: float | None, *, calibrated: bool | None
) -> BeliefCells:
    """Return the cells of probabilities; all are empty where there are none."""
    shares = (None,) * 4 if scores is None else tuple(scores)
    return {
        "p0": shares[0],
        "p1": shares[1],
        "p2": shares[2],
        "p3": shares[3],
        "p_not_determinable": not_determinable,
        "calibrated": calibrated,
    }


def _scores(result: FullResult) -> dict[str, int | None] | None:
    items = None if result.quantitative is None else result.quantitative.items
    return None if items is None else {key: item.score for key, item in items.items()}


def _item_row(assessment_id: str, item: Item, found: ItemResult | None) -> ItemRow:
    belief = None if found is None else found.belief
    if found is None:
        return failed_item_row(assessment_id, item)
    return ItemRow(
        assessment_id=assessment_id,
        item=item.value,
        score=found.score,
        unknown_reason=None if found.unknown_reason is None else found.unknown_reason.value,
        not_examined_cause=(
            None if found.not_examined_cause is None else found.not_examined_cause.value
        ),
        unread_turn=None if found.unread_answer is None else found.unread_answer.question_turn,
        proposed_score=found.proposed_score,
        confidence=found.confidence,
        frequency=found.frequency.value,
        evidence=found.llm_evidence_count,
        evidence_rejected=found.llm_evidence_rejected_count,
        **_belief(belief),
        warnings=found.warnings,
    )


def failed_item_row(assessment_id: str, item: Item) -> ItemRow:
    """Return the row of an item whose scoring failed."""
    return ItemRow(
        assessment_id=assessment_id,
        item=item.value,
        score=None,
        unknown_reason=UnknownReason.SCORING_FAILED.value,
        not_examined_cause=None,
        unread_turn=None,
        proposed_score=None,
        confidence=None,
        frequency=None,
        evidence=None,
        evidence_rejected=None,
        **belief_cells(None, None, calibrated=None),
        warnings=(),
    )


def _belief(belief: BeliefResult | None) -> BeliefCells:
    if belief is None:
        return belief_cells(None, None, calibrated=None)
    return belief_cells(belief.scores, belief.not_determinable, calibrated=belief.calibrated)
