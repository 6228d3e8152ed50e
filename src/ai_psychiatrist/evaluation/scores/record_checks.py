"""What holds of records that are as we write them; what does not raises one of Python's own errors.

Most is checked a column at a time, as a call for each value would take longer than reading it.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    CallPath,
    FailureCategory,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.evaluation.scores.prediction_columns import UNKNOWN, AttemptKind, Counts
from ai_psychiatrist.statistics.arrays import Array

Numbers = NDArray[np.int64]

UNLIKE_OURS: Final = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)
"""What reading a record raises that is not as we write it."""

_CODES: Final = frozenset(
    {*(one.value for one in RejectionCode), *(one.value for one in FailureCode)}
)


def require(holds: bool) -> None:  # noqa: FBT001  an assertion that is never left out
    """Raise `ValueError` unless it holds."""
    if not holds:
        raise ValueError


def require_types(values: Iterable[object], *types: type) -> None:
    """Require values of just these types: what is true is no 1."""
    require(set(map(type, values)) <= {*types})


def whole_numbers(values: Sequence[object], *, least: int = 0, most: int | None = None) -> Numbers:
    """Return whole numbers, `UNKNOWN` for none."""
    require_types(values, int, type(None))
    known = np.array([UNKNOWN if value is None else value for value in values], dtype=np.int64)
    require(np.count_nonzero(known < least) == values.count(None))
    require(most is None or known.max(initial=0) <= most)
    return known


def narrow(counts: Numbers) -> Counts:
    """Return the same numbers in half of the memory, which all have to fit."""
    found = counts.astype(np.int32)
    require(bool((found == counts).all()))
    return found


def shares(values: Sequence[object]) -> Array:
    """Return probabilities, (rows, 5), each row of which adds up to 1."""
    require_types(values, int, float)
    found = np.array(values, dtype=np.float64).reshape(-1, 5)
    require(bool(((found >= 0) & (found <= 1)).all()))
    require(bool((abs(found.sum(axis=1) - 1) < 9e-6).all()))
    return found


def require_totals(written: Numbers, scores: Numbers) -> None:
    """Require (units, 6) to follow from the items; `UNKNOWN` where it stays open."""
    low = np.where(scores == UNKNOWN, 0, scores).sum(axis=1)
    high = low + 3 * (scores == UNKNOWN).sum(axis=1)
    is_open = low != high
    bands = [np.minimum(end // 5, max(Severity)) for end in (low, high)]
    follows = [np.where(is_open, UNKNOWN, low), low, high]
    follows += [np.where(is_open, UNKNOWN, bands[0]), *bands]
    require(bool((written == np.stack(follows, axis=1)).all()))


def require_attempt(kind: AttemptKind) -> None:
    """Require the words of our own enumerations, and names."""
    AttemptOutcome(kind.outcome), CallPath(kind.path)
    require(type(kind.agent) is type(kind.model) is str)
    require(kind.code is None or kind.code in _CODES)
    require(type(kind.repaired) is bool and type(kind.coercions) is int)
    require(kind.coercions >= 0)


def require_failure(category: str, stage: object, code: str | None) -> None:
    """Require the words of our own enumerations."""
    FailureCategory(category)
    require(type(stage) is str and (code is None or FailureCode(code) is not None))
