"""The predictions of a run as columns: what its figures need, in some 200 bytes a unit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.phq8 import UnknownReason
from ai_psychiatrist.evaluation.scores.prediction import FailureSummary, UnitPrediction

Bytes = NDArray[np.int8]
Counts = NDArray[np.int32]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

UNKNOWN: Final = -1
"""Stands in columns for what is unknown or was not said; no number of a prediction is below 0."""
STATUSES: Final = tuple(AssessmentStatus)
REASONS: Final = tuple(UnknownReason)
FIRST_KEPT: Final = 60
"""So many predictions are kept whole, to be shown one by one."""


class AttemptKind(NamedTuple):
    """What model calls may have alike, with the values as they are written."""

    agent: str
    model: str
    path: str
    outcome: str
    code: str | None
    repaired: bool
    coercions: int


@dataclass(slots=True)
class AttemptSums:
    """How many calls of a kind there were, and the tokens of those that tell them."""

    calls: int = 0
    input_told: int = 0
    input_tokens: int = 0
    output_told: int = 0
    output_tokens: int = 0

    def add(self, other: "AttemptSums") -> None:
        """Add those of other calls."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRows:
    """What was predicted, a row for each unit; (units,) or (units, 8) in the order of the items."""

    status: Bytes
    """Places in `STATUSES`."""
    has_items: Flags
    """(units,): whether scoring finished."""
    scores: Bytes
    """(units, 8): 0-3 or `UNKNOWN`."""
    reasons: Bytes
    """(units, 8): places in `REASONS`, `UNKNOWN` for a score."""
    confidence: Bytes
    """(units, 8): 1-5 or `UNKNOWN`."""
    quotes: Counts
    """(units, 8): grounded quotes; 0 where scoring failed, and the next as well."""
    affirmed: Counts
    belief: NDArray[np.float64]
    """(units, 8): the probability of what was said, 0-1; `UNKNOWN` without one."""
    drive: Bytes
    """(units, 8): places in `DriveVerdict`, or `UNKNOWN`."""
    review: Bytes
    """(units,): the severity that the meta-review says, or `UNKNOWN`."""
    signs_to_read: Counts
    """(units,): signs that a person has to read; `UNKNOWN` where the transcript was not read."""
    has_unread: Flags
    """(units,): whether turns are in a language that is not read."""
    calls: Counts
    """(units,)"""
    carries_failure: Flags
    """(units,)"""

    def at(self, places: Places) -> "UnitRows":
        """Return some rows, those of a unit that gave nothing at all where a place is below 0."""
        rows = {}
        for one in fields(self):
            column = getattr(self, one.name)
            nothing = np.array(_NOTHING.get(one.name, 0), dtype=column.dtype)
            missing = np.broadcast_to(nothing, (1, *column.shape[1:]))
            rows[one.name] = np.concatenate([column, missing])[places]
        return UnitRows(**rows)


_NOTHING: Final[Mapping[str, int]] = {
    "status": STATUSES.index(AssessmentStatus.FAILED),
    "reasons": REASONS.index(UnknownReason.SCORING_FAILED),
    **dict.fromkeys(
        ("scores", "confidence", "belief", "drive", "review", "signs_to_read"), UNKNOWN
    ),
}
"""What a unit has that gave nothing at all; 0 and false in all other columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionColumns:
    """Predictions in the order of the units' ids, so that the order of files changes nothing."""

    unit_ids: Sequence[str]
    rows: UnitRows
    warnings: Counter[str] = field(default_factory=Counter)
    """Items that a clinical rule speaks against, by its name."""
    attempts: Mapping[AttemptKind, AttemptSums] = field(default_factory=dict)
    failures: Mapping[FailureSummary, Places] = field(default_factory=dict)
    """The places of the units that each befell, as often as it did."""
    changes: Counter[int] = field(default_factory=Counter)
    """Units by how many accepted changes came before."""
    first: Sequence[UnitPrediction] = ()
    """Those of the first lines of the file, at most `FIRST_KEPT`."""
    missing: int = 0
    """How many of the units have no prediction."""

    def __len__(self) -> int:
        """Return how many units there are."""
        return len(self.unit_ids)

    def at(self, unit_ids: Sequence[str]) -> "PredictionColumns":
        """Return the rows of some units, without what is counted over all of them.

        A unit without a prediction has a row as one whose assessment failed.
        """
        if unit_ids == self.unit_ids:
            return PredictionColumns(unit_ids=self.unit_ids, rows=self.rows)
        place_of = {unit: place for place, unit in enumerate(self.unit_ids)}
        places = np.array([place_of.get(unit, -1) for unit in unit_ids], dtype=np.intp)
        missing = int(np.count_nonzero(places < 0))
        return PredictionColumns(unit_ids=unit_ids, rows=self.rows.at(places), missing=missing)
