"""The predictions of a run as its figures need them: a row of numbers a unit, and counts.

A line is read, checked and forgotten: a run of any length takes some 250 bytes a unit.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.domain.failures import AttemptOutcome, CallPath, FailureCode, RejectionCode
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    FailureSummary,
    ItemPrediction,
    UnitPrediction,
    failed_prediction,
    signs_to_read,
)
from ai_psychiatrist.evaluation.scores.prediction_lines import iterate_predictions, refuse_repeated

UNKNOWN: Final = -1
"""Stands in rows for what is unknown or was not said; no number of a prediction is below 0."""
STATUSES: Final = tuple(AssessmentStatus)
REASONS: Final = tuple(UnknownReason)
FIRST_KEPT: Final = 60
"""So many predictions are kept whole, to be shown one by one."""
_ITEMS: Final = tuple(Item)
_STATUS: Final = {status: place for place, status in enumerate(STATUSES)}
_REASON: Final = {reason: place for place, reason in enumerate(REASONS)}
_VERDICT: Final = {verdict: place for place, verdict in enumerate(DriveVerdict)}

UnitRows = NDArray[np.void]
"""(units,) of `ROW`."""
ROW: Final = np.dtype(
    [
        ("status", np.int8),  # place in `STATUSES`
        ("has_items", np.bool_),  # whether scoring finished
        ("scores", np.int8, 8),  # 0-3 or `UNKNOWN`
        ("reasons", np.int8, 8),  # place in `REASONS`, `UNKNOWN` for a score
        ("confidence", np.int8, 8),  # 1-5 or `UNKNOWN`
        ("quotes", np.int64, 8),  # grounded ones; 0 where scoring failed, and the next as well
        ("affirmed", np.int64, 8),
        ("belief", np.float64, 8),  # probability of what was said; `UNKNOWN` without one
        ("drive", np.int8, 8),  # place in `DriveVerdict`, or `UNKNOWN`
        ("review", np.int8),  # severity that the meta-review says, or `UNKNOWN`
        ("signs_to_read", np.int64),  # for a person; `UNKNOWN` where nothing was read
        ("has_unread", np.bool_),  # whether turns are in a language that is not read
        ("calls", np.int32),
        ("carries_failure", np.bool_),
    ]
)


class AttemptKind(NamedTuple):
    """What model calls may have alike."""

    agent: str
    model: str
    path: CallPath
    outcome: AttemptOutcome
    code: RejectionCode | FailureCode | None
    repaired: bool
    coercions: int


_KIND: Final = attrgetter(*AttemptKind._fields)


@dataclass(slots=True)
class AttemptSums:
    """How many calls there were, and the tokens of those that tell them."""

    calls: int = 0
    input_told: int = 0
    input_tokens: int = 0
    output_told: int = 0
    output_tokens: int = 0

    def add(self, attempt: AttemptSummary) -> None:
        """Add one call."""
        self.calls += 1
        self.input_told += attempt.input_tokens is not None
        self.input_tokens += attempt.input_tokens or 0
        self.output_told += attempt.output_tokens is not None
        self.output_tokens += attempt.output_tokens or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedUnits:
    """Predictions in the order of the units' ids, so that the order of files changes nothing."""

    unit_ids: Sequence[str]
    rows: UnitRows
    warnings: Counter[str] = field(default_factory=Counter)
    """Items that a clinical rule speaks against, by its name."""
    attempts: Mapping[AttemptKind, AttemptSums] = field(
        default_factory=lambda: defaultdict(AttemptSums)
    )
    failures: Mapping[FailureSummary, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The ids of the units that each befell, as often as it did."""
    changes: Counter[int] = field(default_factory=Counter)
    """Units by how many accepted changes came before."""
    first: Sequence[UnitPrediction] = ()
    """Those of the first lines of the file, at most `FIRST_KEPT`."""
    missing: int = 0
    """How many of the units have no prediction."""

    def __len__(self) -> int:
        """Return how many units there are."""
        return len(self.unit_ids)

    def among(self, unit_ids: Sequence[str]) -> "PredictedUnits":
        """Return the rows of some units, without what is counted over all of them.

        A unit without a prediction has a row as one whose assessment failed.
        """
        place_of = {unit: place for place, unit in enumerate(self.unit_ids)}
        places = np.array([place_of.get(unit, -1) for unit in unit_ids], dtype=np.intp)
        nothing = np.array([_row(failed_prediction("none"))], dtype=ROW)
        return PredictedUnits(
            unit_ids=unit_ids,
            rows=np.concatenate([self.rows, nothing])[places],
            missing=int(np.count_nonzero(places < 0)),
        )


def read_predicted_units(path: Path, wanted: Container[str] | None = None) -> PredictedUnits:
    """Read the predictions of a file, or those of the `wanted` units.

    Raises `InputError` as `read_predictions` does.
    """
    predictions = iterate_predictions(path)
    if wanted is None:
        return predicted_units(predictions)
    return predicted_units(one for one in predictions if one.unit_id in wanted)


def predicted_units(predictions: Iterable[UnitPrediction] | PredictedUnits) -> PredictedUnits:
    """Return the rows of predictions. Raises `InputError` when a unit is predicted twice."""
    if isinstance(predictions, PredictedUnits):
        return predictions
    found = PredictedUnits(unit_ids=[], rows=np.empty(0, dtype=ROW))
    unit_ids: list[str] = []
    first: list[UnitPrediction] = []

    def rows() -> Iterator[tuple[Any, ...]]:
        # One after the other: thousands of whole predictions at a time take twice as long.
        for one in predictions:
            unit_ids.append(one.unit_id)
            if len(first) < FIRST_KEPT:
                first.append(one)
            _count(one, found)
            yield _row(one)

    table = np.fromiter(rows(), dtype=ROW)
    refuse_repeated(unit_ids)
    order = sorted(range(len(unit_ids)), key=unit_ids.__getitem__)
    ordered = [unit_ids[place] for place in order]
    return replace(found, unit_ids=ordered, rows=table[order], first=tuple(first))


def _row(unit: UnitPrediction) -> tuple[Any, ...]:
    review, signs = unit.meta_review_severity, signs_to_read(unit.signs_to_read, unit.risk_level)
    return (
        _STATUS[unit.status],
        bool(unit.items),
        *_item_columns([unit.items[item] for item in _ITEMS] if unit.items else None),
        UNKNOWN if review is None else review,
        UNKNOWN if signs is None else signs,
        bool(unit.turns_not_examined),
        len(unit.attempts),
        bool(unit.failures),
    )


def _item_columns(items: Sequence[ItemPrediction] | None) -> tuple[Any, ...]:
    """Return scores, reasons, confidence, quotes, affirmed, belief and drive, eight of each."""
    if items is None:
        unknown, none = (UNKNOWN,) * 8, (0,) * 8
        failed = (_REASON[UnknownReason.SCORING_FAILED],) * 8
        return unknown, failed, unknown, none, none, unknown, unknown
    reasons = [one.unknown_reason for one in items]
    return (
        [UNKNOWN if one.score is None else one.score for one in items],
        [UNKNOWN if reason is None else _REASON[reason] for reason in reasons],
        [UNKNOWN if one.confidence is None else one.confidence for one in items],
        [one.signals.llm_evidence_count for one in items],
        [one.signals.affirmed for one in items],
        [UNKNOWN if one.belief is None else one.belief.of(one.score) for one in items],
        [UNKNOWN if one.drive is None else _VERDICT[one.drive.verdict] for one in items],
    )


def _count(unit: UnitPrediction, found: PredictedUnits) -> None:
    """Add to what is counted over all units."""
    found.changes[unit.changes] += 1
    for item in unit.items.values():
        for rule in item.warnings:
            found.warnings[rule] += 1
    for made in unit.attempts:
        found.attempts[AttemptKind(*_KIND(made))].add(made)
    for failure in unit.failures:
        found.failures[failure].append(unit.unit_id)
