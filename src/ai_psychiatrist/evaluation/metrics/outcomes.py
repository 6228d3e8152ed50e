"""What a run left unknown, where it failed, and what it cost; no label is needed."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.failures import AttemptOutcome, CallPath
from ai_psychiatrist.domain.phq8 import UnknownReason
from ai_psychiatrist.evaluation.metrics.items import ITEMS
from ai_psychiatrist.evaluation.metrics.registry import measured
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    FailureSummary,
    UnitPrediction,
)
from ai_psychiatrist.statistics.figure import Figure
from ai_psychiatrist.statistics.measure import BoolArray, Measure, ratio

FREQUENT_FAILURES: Final = 0.05
"""A failure in more units than this share deserves a look before the scores do."""
NO_UNITS: Final = "there are no units"
NO_TOKENS: Final = "no call reports its tokens"
SCORED: Final = "scored"

Predictions = Sequence[UnitPrediction]


def status_counts(predictions: Predictions) -> dict[str, Tree]:
    """Return how many units ended in each way."""
    counts = Counter(unit.status for unit in predictions)
    return {status.value: counts[status] for status in AssessmentStatus}


def coverage_by_reason(predictions: Predictions) -> dict[str, Tree]:
    """Return, by item and over all, how many are scored and why the others are not."""
    by_item = {item: Counter(unit.unknown_reason(item) for unit in predictions) for item in ITEMS}
    return {
        "all": _reasons(sum(by_item.values(), Counter())),
        "by_item": {
            item: {"label": item.label, **_reasons(counts)} for item, counts in by_item.items()
        },
    }


def _reasons(counts: Counter[UnknownReason | None]) -> dict[str, Tree]:
    return {SCORED: counts[None], **{reason.value: counts[reason] for reason in UnknownReason}}


def warning_counts(predictions: Predictions) -> dict[str, Tree]:
    """Return how many items each clinical rule speaks against, by the rule's name."""
    counts = Counter(
        rule for unit in predictions for item in unit.items.values() for rule in item.warnings
    )
    return {rule: counts[rule] for rule in sorted(counts)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """How units ended, (units,)."""

    carries_failure: BoolArray
    is_failed: BoolArray


def failure_section(predictions: Predictions) -> dict[str, Tree]:
    """Return each kind of failure with the share of units that it befell, most frequent first."""
    events = Counter(failure for unit in predictions for failure in unit.failures)
    units = Counter(failure for unit in predictions for failure in set(unit.failures))
    outcomes = Outcomes(
        carries_failure=np.array([bool(unit.failures) for unit in predictions], dtype=np.bool_),
        is_failed=np.array(
            [unit.status is AssessmentStatus.FAILED for unit in predictions], dtype=np.bool_
        ),
    )
    return {
        "frequent_above": FREQUENT_FAILURES,
        **measured(outcomes),
        "kinds": [
            {
                "category": failure.category.value,
                "stage": failure.stage,
                "code": None if failure.code is None else failure.code.value,
                "events": events[failure],
                "units": units[failure],
                "rate": per_unit([failure in unit.failures for unit in predictions]),
                "is_frequent": units[failure] > FREQUENT_FAILURES * len(predictions),
            }
            for failure in sorted(events, key=lambda one: (-units[one], _name(one)))
        ],
    }


def _name(failure: FailureSummary) -> tuple[str, str, str]:
    return (failure.category.value, failure.stage, failure.code.value if failure.code else "")


def per_unit(values: ArrayLike) -> Measure:
    """Return the mean of a value of each unit."""
    return ratio(values, np.ones(len(np.asarray(values))), undefined=NO_UNITS)


def cost_section(predictions: Predictions) -> dict[str, Tree]:
    """Return calls and tokens: by unit, by agent and model, and why replies were not taken."""
    attempts = [attempt for unit in predictions for attempt in unit.attempts]
    by_caller: dict[tuple[str, str], list[AttemptSummary]] = defaultdict(list)
    for attempt in attempts:
        by_caller[attempt.agent, attempt.model].append(attempt)
    codes = Counter(attempt.code.value for attempt in attempts if attempt.code is not None)
    calls = [len(unit.attempts) for unit in predictions]
    return {
        "calls_per_unit": per_unit(calls),
        "all": _account(attempts),
        "by_agent_and_model": [
            {"agent": agent, "model": model, **_account(by_caller[agent, model])}
            for agent, model in sorted(by_caller)
        ],
        "by_code": {code: codes[code] for code in sorted(codes)},
    }


def _account(attempts: Sequence[AttemptSummary]) -> dict[str, Tree]:
    outcomes = Counter(attempt.outcome for attempt in attempts)
    return {
        "calls": len(attempts),
        **{outcome.value: outcomes[outcome] for outcome in AttemptOutcome},
        "plain_path": sum(attempt.path is CallPath.PLAIN for attempt in attempts),
        "repaired": sum(attempt.repaired for attempt in attempts),
        "coercions": sum(attempt.coercions for attempt in attempts),
        "input_tokens": _tokens([attempt.input_tokens for attempt in attempts]),
        "output_tokens": _tokens([attempt.output_tokens for attempt in attempts]),
    }


def _tokens(reported: Sequence[int | None]) -> Figure:
    """Add up the tokens that calls report; n is how many calls do."""
    known = [tokens for tokens in reported if tokens is not None]
    if not known:
        return Figure(value=None, reason=NO_TOKENS, n=0)
    return Figure(value=sum(known), n=len(known))
