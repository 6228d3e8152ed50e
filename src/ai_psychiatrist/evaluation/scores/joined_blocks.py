"""Blocks of predictions put together, in the order of the units' ids."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import pairwise

import numpy as np

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.failures import FailureCategory, FailureCode
from ai_psychiatrist.evaluation.scores.column_block import ColumnBlock
from ai_psychiatrist.evaluation.scores.prediction import FailureSummary, UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_columns import (
    AttemptKind,
    AttemptSums,
    PredictionColumns,
    UnitRows,
)


def joined(blocks: Sequence[ColumnBlock], first: Sequence[UnitPrediction]) -> PredictionColumns:
    """Join blocks. Raises `InputError` when a unit is predicted twice."""
    blocks = blocks or [_empty()]
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


def _empty() -> ColumnBlock:
    block = ColumnBlock()
    block.close()
    return block


def _refuse_repeated(ordered: Sequence[str]) -> None:
    repeated = {one for one, other in pairwise(ordered) if one == other}
    if repeated:
        msg = f"predictions hold {len(repeated)} units more than once; keep one line of each"
        raise InputError(msg, field="predictions")


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
