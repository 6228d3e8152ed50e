"""Predictions read into columns: quickly where a line is as we write it, thoroughly elsewhere.

The quick way makes no object for what it reads, and refuses all that is not as `to_line` writes it.
Lines that it refuses go the thorough way of `from_line`, whose errors name the line and the field.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import fields
from itertools import islice, pairwise
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import orjson

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.failures import FailureCategory, FailureCode
from ai_psychiatrist.evaluation.scores.column_block import ColumnBlock
from ai_psychiatrist.evaluation.scores.prediction import FailureSummary, UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_columns import (
    FIRST_KEPT,
    AttemptKind,
    AttemptSums,
    PredictionColumns,
    UnitRows,
)
from ai_psychiatrist.evaluation.scores.prediction_lines import from_line, to_line
from ai_psychiatrist.evaluation.scores.record_lines import numbered_lines

_FIELD: Final = "predictions"
_LINES_AT_ONCE: Final = 1000
_UNLIKE_OURS: Final = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)
_Lines: TypeAlias = Sequence[tuple[int, bytes]]


def read_columns(path: Path, wanted: Container[str] | None = None) -> PredictionColumns:
    """Read the predictions of a file, or those of the `wanted` units.

    Raises `InputError` as `read_predictions` does; of what no figure needs the quick way sees only
    that it is there.
    """
    lines = numbered_lines(path, field=_FIELD)
    first: list[UnitPrediction] = []
    blocks = []
    while block := list(islice(lines, _LINES_AT_ONCE)):
        blocks.append(_block_of(block, wanted))
        if len(first) < FIRST_KEPT:
            _add_first(first, block, wanted)
    return _joined(blocks, first)


def columns_of(predictions: Sequence[UnitPrediction] | PredictionColumns) -> PredictionColumns:
    """Return predictions as columns. Raises `InputError` when a unit is predicted twice."""
    if isinstance(predictions, PredictionColumns):
        return predictions
    blocks = [
        _filled(map(_record, predictions[start : start + _LINES_AT_ONCE]), None)
        for start in range(0, len(predictions), _LINES_AT_ONCE)
    ]
    return _joined(blocks, predictions[:FIRST_KEPT])


def _block_of(lines: _Lines, wanted: Container[str] | None) -> ColumnBlock:
    try:
        return _filled((orjson.loads(line) for _, line in lines), wanted)
    except _UNLIKE_OURS:
        whole = (from_line(line, line_number=number) for number, line in lines)
        return _filled(map(_record, whole), wanted)


def _record(prediction: UnitPrediction) -> object:
    return orjson.loads(to_line(prediction))


def _filled(records: Iterable[object], wanted: Container[str] | None) -> ColumnBlock:
    block = ColumnBlock()
    for record in records:
        block.add(record, wanted)
    block.close()
    return block


def _add_first(first: list[UnitPrediction], lines: _Lines, wanted: Container[str] | None) -> None:
    for number, line in lines:
        if len(first) == FIRST_KEPT:
            return
        prediction = from_line(line, line_number=number)
        if wanted is None or prediction.unit_id in wanted:
            first.append(prediction)


def _joined(blocks: list[ColumnBlock], first: Sequence[UnitPrediction]) -> PredictionColumns:
    blocks = blocks or [_filled((), None)]
    unit_ids = [unit_id for block in blocks for unit_id in block.unit_ids]
    # The sort is of what mostly is in order, and takes next to nothing then.
    order = np.array(sorted(range(len(unit_ids)), key=unit_ids.__getitem__), dtype=np.intp)
    ordered = [unit_ids[place] for place in order.tolist()]
    _refuse_repeated(ordered)
    rows = {
        one.name: np.concatenate([getattr(block.rows, one.name) for block in blocks])[order]
        for one in fields(UnitRows)
    }
    changes: Counter[int] = Counter()
    warnings: Counter[str] = Counter()
    for block in blocks:
        changes.update(block.changes)
        warnings.update(block.warnings)
    return PredictionColumns(
        unit_ids=ordered,
        rows=UnitRows(**rows),
        warnings=warnings,
        attempts=_attempts(blocks),
        failures=_failures(blocks, order),
        changes=changes,
        first=tuple(first),
    )


def _refuse_repeated(ordered: Sequence[str]) -> None:
    repeated = {one for one, other in pairwise(ordered) if one == other}
    if repeated:
        msg = f"predictions hold {len(repeated)} units more than once; keep one line of each"
        raise InputError(msg, field=_FIELD)


def _attempts(blocks: Iterable[ColumnBlock]) -> dict[AttemptKind, AttemptSums]:
    every: dict[AttemptKind, AttemptSums] = defaultdict(AttemptSums)
    for block in blocks:
        for kind, sums in block.attempts.items():
            every[AttemptKind(*kind)].add(sums)
    return dict(every)


def _failures(blocks: Iterable[ColumnBlock], order: np.ndarray) -> dict[FailureSummary, np.ndarray]:
    place_of = np.empty_like(order)
    place_of[order] = np.arange(len(order))
    found: dict[FailureSummary, list[np.ndarray]] = defaultdict(list)
    start = 0
    for block in blocks:
        for (category, stage, code), units in block.failures.items():
            failure = FailureSummary(
                category=FailureCategory(category),
                stage=stage,
                code=None if code is None else FailureCode(code),
            )
            found[failure].append(place_of[np.array(units, dtype=np.intp) + start])
        start += len(block.unit_ids)
    return {failure: np.concatenate(parts) for failure, parts in found.items()}
