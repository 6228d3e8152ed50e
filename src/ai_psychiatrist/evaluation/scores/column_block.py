"""Some hundred lines of predictions on their way into columns."""

from collections import Counter, defaultdict
from collections.abc import Container
from dataclasses import fields
from operator import itemgetter
from typing import Any, Final

import numpy as np

from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.domain.phq8 import Item, Severity
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    FailureSummary,
    ItemPrediction,
    ItemSignals,
    UnitPrediction,
    signs_to_read,
)
from ai_psychiatrist.evaluation.scores.prediction_columns import (
    REASONS,
    STATUSES,
    UNKNOWN,
    AttemptKind,
    AttemptSums,
    UnitRows,
)
from ai_psychiatrist.evaluation.scores.prediction_lines import DERIVED
from ai_psychiatrist.evaluation.scores.record_checks import (
    Numbers,
    narrow,
    require,
    require_attempt,
    require_failure,
    require_totals,
    require_types,
    shares,
    whole_numbers,
)
from ai_psychiatrist.statistics.arrays import Array

_ITEMS: Final = len(Item)
_ITEM_WIDTH: Final = len(fields(ItemPrediction))
_SIGNALS_WIDTH: Final = len(fields(ItemSignals))
_ATTEMPT_WIDTH: Final = len(fields(AttemptSummary))
_FAILURE_WIDTH: Final = len(fields(FailureSummary))
_UNIT_WIDTH: Final = len(fields(UnitPrediction)) + len(DERIVED)

_of_unit = itemgetter(
    *("unit_id", "status", "mode", "items", "meta_review_severity", "risk_level"),
    *("signs_to_read", "turns_not_examined", "attempts", "failures", "changes"),
)
_of_totals = itemgetter(
    *("total", "total_min", "total_max"),
    *("severity", "severity_lower_bound", "severity_upper_bound"),
)
_of_items = itemgetter(*(item.value for item in Item))
_of_item = itemgetter(
    *("score", "unknown_reason", "confidence", "signals", "belief", "drive", "warnings")
)
_of_signals = itemgetter("llm_evidence_count", "affirmed")
_of_attempt = itemgetter(*AttemptKind._fields)
_of_tokens = itemgetter("input_tokens", "output_tokens")
_of_failure = itemgetter("category", "stage", "code")

_STATUS_PLACES: Final = {status.value: place for place, status in enumerate(STATUSES)}
_REASON_PLACES: Final[dict[str | None, int]] = {
    None: UNKNOWN,
    **{reason.value: place for place, reason in enumerate(REASONS)},
}
_DRIVE_PLACES: Final[dict[str | None, int]] = {
    None: UNKNOWN,
    **{verdict.value: place for place, verdict in enumerate(DriveVerdict)},
}
_MODES: Final = frozenset(mode.value for mode in AssessmentMode)
_RISKS: Final = frozenset({None, *(level.value for level in RiskLevel)})
_NO_ITEMS: Final = (None,) * _ITEMS


class ColumnBlock:
    """Records in, rows out; any that is not as we write it raises one of Python's own errors."""

    def __init__(self) -> None:
        self.unit_ids: list[str] = []
        self.warnings: Counter[str] = Counter()
        self.changes: Counter[int] = Counter()
        self.attempts: dict[tuple[Any, ...], AttemptSums] = defaultdict(AttemptSums)
        self.failures: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        """(category, stage, code) → places in this block."""
        self._units: list[tuple[Any, ...]] = []
        self._totals: list[Any] = []
        self._scores: list[Any] = []
        self._reasons: list[Any] = []
        self._confidence: list[Any] = []
        self._signals: list[Any] = []
        self._probabilities: list[Any] = []
        self._believed: list[bool] = []
        self._drive: list[Any] = []
        self._tokens: list[Any] = []

    def add(self, record: Any, wanted: Container[str] | None) -> None:  # noqa: ANN401
        """Take in a record as JSON has it, if its unit is wanted."""
        unit_id, status, mode, items, review, risk, *others = _of_unit(record)
        counted, unread, attempts, failures, changes = others
        require(len(record) == _UNIT_WIDTH and type(unit_id) is str and unit_id != "")
        require(mode in _MODES and risk in _RISKS)
        if wanted is not None and unit_id not in wanted:
            return
        place = len(self.unit_ids)
        self.unit_ids.append(unit_id)
        self._units.append(
            (
                _STATUS_PLACES[status],
                bool(items),
                review,
                signs_to_read(counted, risk),
                unread,
                len(attempts),
                bool(failures),
            )
        )
        self._totals.extend(_of_totals(record))
        self._add_items(items)
        for attempt in attempts:
            self._add_attempt(attempt)
        for failure in failures:
            require(len(failure) == _FAILURE_WIDTH)
            self.failures[_of_failure(failure)].append(place)
        self.changes[changes] += 1

    def _add_items(self, items: Any) -> None:  # noqa: ANN401
        if not items:
            self._scores.extend(_NO_ITEMS)
            self._reasons.extend(("scoring_failed",) * _ITEMS)
            self._confidence.extend(_NO_ITEMS)
            self._signals.extend((0,) * (2 * _ITEMS))
            self._believed.extend((False,) * _ITEMS)
            self._drive.extend(_NO_ITEMS)
            return
        require(len(items) == _ITEMS)
        for item in _of_items(items):
            score, reason, confidence, signals, belief, drive, warnings = _of_item(item)
            require(len(item) == _ITEM_WIDTH and len(signals) == _SIGNALS_WIDTH)
            self._scores.append(score)
            self._reasons.append(reason)
            self._confidence.append(confidence)
            self._signals.extend(_of_signals(signals))
            self._believed.append(belief is not None)
            if belief is not None:
                probabilities = belief["probabilities"]
                require(len(probabilities) == 5)
                self._probabilities.extend(probabilities)
            self._drive.append(None if drive is None else drive["verdict"])
            if warnings:
                require(type(warnings) is list)
                self.warnings.update(warnings)

    def _add_attempt(self, attempt: Any) -> None:  # noqa: ANN401
        require(len(attempt) == _ATTEMPT_WIDTH)
        sums = self.attempts[_of_attempt(attempt)]
        sent, written = _of_tokens(attempt)
        sums.calls += 1
        if sent is not None:
            self._tokens.append(sent)
            sums.input_told += 1
            sums.input_tokens += sent
        if written is not None:
            self._tokens.append(written)
            sums.output_told += 1
            sums.output_tokens += written

    def close(self) -> None:
        """Make the rows, and check what was taken in."""
        shape = (len(self.unit_ids), _ITEMS)
        columns = zip(*self._units, strict=True) if self._units else [()] * 7
        status, has_items, review, to_read, unread, calls, failed = columns
        signals = whole_numbers(self._signals).reshape(*shape, 2)
        scores = whole_numbers(self._scores, most=3).reshape(shape)
        reasons = np.array([_REASON_PLACES[one] for one in self._reasons], np.int8).reshape(shape)
        require(bool(((scores == UNKNOWN) == (reasons != UNKNOWN)).all()))
        self.rows = UnitRows(
            status=np.array(status, dtype=np.int8),
            has_items=np.array(has_items, dtype=np.bool_),
            scores=scores.astype(np.int8),
            reasons=reasons,
            confidence=whole_numbers(self._confidence, least=1, most=5)
            .reshape(shape)
            .astype(np.int8),
            quotes=narrow(signals[:, :, 0]),
            affirmed=narrow(signals[:, :, 1]),
            belief=self._belief(scores),
            drive=np.array([_DRIVE_PLACES[one] for one in self._drive], np.int8).reshape(shape),
            review=whole_numbers(review, most=max(Severity)).astype(np.int8),
            signs_to_read=narrow(whole_numbers(to_read)),
            has_unread=whole_numbers(unread) > 0,
            calls=np.array(calls, dtype=np.int32),
            carries_failure=np.array(failed, dtype=np.bool_),
        )
        require_totals(whole_numbers(self._totals).reshape(-1, len(DERIVED)), scores)
        require_types(self.warnings, str)
        for kind in map(AttemptKind._make, self.attempts):
            require_attempt(kind)
        for failure in self.failures:
            require_failure(*failure)
        whole_numbers(self._tokens)
        whole_numbers(list(self.changes))
        del self._units, self._totals, self._scores, self._reasons, self._confidence
        del self._signals, self._probabilities, self._believed, self._drive, self._tokens

    def _belief(self, scores: Numbers) -> Array:
        believed = np.array(self._believed, dtype=np.bool_).reshape(scores.shape)
        probabilities = shares(self._probabilities)
        said = np.where(scores == UNKNOWN, 4, scores)[believed]
        found = np.full(scores.shape, float(UNKNOWN))
        found[believed] = probabilities[np.arange(len(said)), said]
        return found
