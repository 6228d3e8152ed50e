"""A run's predictions as the rows that results are written in."""

from collections.abc import Iterator

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.scores.prediction import ItemPrediction, UnitPrediction
from ai_psychiatrist.results.tables.rows import (
    AssessmentRow,
    BeliefCells,
    ItemRow,
    belief_cells,
    failed_item_row,
    total_cells,
)
from ai_psychiatrist.results.tables.writing import Row


def prediction_row(prediction: UnitPrediction) -> Row:
    """Return the row of one unit; its name stands for the assessment's."""
    has_items = bool(prediction.items)
    answered = {attempt.model for attempt in prediction.attempts if attempt.code is None}
    danger = prediction.risk_level
    return AssessmentRow(
        assessment_id=prediction.unit_id,
        made_at=None,
        status=prediction.status.value,
        mode=prediction.mode.value,
        **total_cells(prediction.range if has_items else None),
        unknown_items=sum(prediction.score(item) is None for item in Item) if has_items else None,
        danger=None if danger is None else danger.value,
        danger_read_now=prediction.signs_to_read,
        turns_not_examined=prediction.turns_not_examined,
        models=tuple(sorted(answered)),
        scores={item.value: prediction.score(item) for item in Item},
    ).as_row()


def prediction_item_rows(prediction: UnitPrediction) -> Iterator[Row]:
    """Yield the eight rows of one unit."""
    for item in Item:
        found = prediction.items.get(item)
        row = (
            failed_item_row(prediction.unit_id, item)
            if found is None
            else _item_row(prediction.unit_id, item, found)
        )
        yield row.as_row()


def _item_row(unit_id: str, item: Item, found: ItemPrediction) -> ItemRow:
    reason = found.unknown_reason
    return ItemRow(
        assessment_id=unit_id,
        item=item.value,
        score=found.score,
        unknown_reason=None if reason is None else reason.value,
        not_examined_cause=(
            None if found.not_examined_cause is None else found.not_examined_cause.value
        ),
        unread_turn=found.unread_turn,
        proposed_score=found.proposed_score,
        confidence=found.confidence,
        frequency=found.signals.frequency.value,
        evidence=found.signals.llm_evidence_count,
        evidence_rejected=found.signals.llm_evidence_rejected_count,
        **_belief(found),
        warnings=found.warnings,
    )


def _belief(found: ItemPrediction) -> BeliefCells:
    if found.belief is None:
        return belief_cells(None, None, calibrated=None)
    *scores, rest = found.belief.probabilities
    return belief_cells(scores, rest, calibrated=found.belief.calibrated)
