"""A run's predictions as the rows that results are written in."""

from collections.abc import Iterator

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.scores.prediction import ItemPrediction, UnitPrediction
from ai_psychiatrist.results.tables import (
    ASSESSMENT_COLUMNS,
    ITEM_COLUMNS,
    NOT_SCORED,
    Row,
    as_row,
    probability_cells,
    score_cells,
)


def prediction_row(prediction: UnitPrediction) -> Row:
    """Return the row of one unit; its name stands for the assessment's."""
    scores = {item: prediction.score(item) for item in Item}
    answered = {attempt.model for attempt in prediction.attempts if attempt.code is None}
    return as_row(
        ASSESSMENT_COLUMNS,
        assessment_id=prediction.unit_id,
        status=prediction.status,
        mode=prediction.mode,
        danger=prediction.risk_level,
        danger_read_now=prediction.signs_to_read,
        turns_not_examined=prediction.turns_not_examined,
        models=tuple(sorted(answered)),
        **(score_cells(prediction.range, scores) if prediction.items else {}),
    )


def prediction_item_rows(prediction: UnitPrediction) -> Iterator[Row]:
    """Yield the eight rows of one unit."""
    for item in Item:
        found = prediction.items.get(item)
        cells = NOT_SCORED if found is None else _cells(found)
        yield as_row(ITEM_COLUMNS, assessment_id=prediction.unit_id, item=item, **cells)


def _cells(found: ItemPrediction) -> Row:
    belief = found.belief
    return {
        "score": found.score,
        "unknown_reason": found.unknown_reason,
        "not_examined_cause": found.not_examined_cause,
        "unread_turn": found.unread_turn,
        "proposed_score": found.proposed_score,
        "confidence": found.confidence,
        "frequency": found.signals.frequency,
        "evidence": found.signals.llm_evidence_count,
        "evidence_rejected": found.signals.llm_evidence_rejected_count,
        **(probability_cells(belief.probabilities, calibrated=belief.calibrated) if belief else {}),
        "warnings": found.warnings,
    }
