from dataclasses import replace

import pytest
from tests.unit.evaluation.metrics.built import at, plain, unit, value

from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    CallPath,
    FailureCategory,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.metrics.outcomes import (
    cost_section,
    coverage_by_reason,
    evidence_section,
    failure_section,
    warning_counts,
)
from ai_psychiatrist.evaluation.scores.predicted_units import predicted_units
from ai_psychiatrist.evaluation.scores.prediction import (
    AttemptSummary,
    FailureSummary,
    failed_prediction,
)

TIMED_OUT = FailureSummary(
    category=FailureCategory.AGENT_FAILED, stage="judge", code=FailureCode.TIMED_OUT
)
SKIPPED = FailureSummary(category=FailureCategory.STAGE_SKIPPED, stage="meta_review", code=None)


def attempt(
    agent: str,
    outcome: AttemptOutcome = AttemptOutcome.ACCEPTED,
    *,
    code: RejectionCode | FailureCode | None = None,
    tokens: int | None = 10,
    path: CallPath = CallPath.AGENT,
) -> AttemptSummary:
    return AttemptSummary(
        agent=agent,
        model="a model",
        path=path,
        outcome=outcome,
        code=code,
        repaired=False,
        coercions=1,
        input_tokens=tokens,
        output_tokens=None,
    )


def test_symptoms_and_evidence_are_rates_of_units_whose_scoring_finished() -> None:
    nothing = unit("a", [0] * 8, quotes=[1] * 8)
    sleepless = unit("b", [None, None, 2, 1, 0, None, None, None], quotes=[0, 0, 3, 1, 1, 0, 0, 0])
    found = plain(
        evidence_section(predicted_units([nothing, sleepless, failed_prediction("c")]).rows),
        units=3,
    )
    assert value(found, "units_with_a_symptom") == 0.5
    assert value(found, "symptoms_per_unit") == 1
    assert value(found, "items_with_evidence_per_unit") == pytest.approx((8 + 3) / 2)
    assert value(found, f"by_item/{Item.SLEEP}/units_with_the_symptom") == 0.5
    assert value(found, f"by_item/{Item.DEPRESSED}/units_with_evidence") == 0.5
    assert at(found, "units_with_a_symptom/n") == 2


def test_every_item_is_scored_or_has_a_reason() -> None:
    found = coverage_by_reason(
        predicted_units([unit("a", [1] * 7 + [None]), failed_prediction("b")]).rows
    )
    everything = at(found, "all")
    assert isinstance(everything, dict)
    assert {name: count for name, count in everything.items() if count} == {
        "scored": 7,
        "no_mention": 1,
        "scoring_failed": 8,
    }
    assert at(found, f"by_item/{Item.MOVING}/no_mention") == 1
    assert at(found, f"by_item/{Item.MOVING}/label") == Item.MOVING.label


def test_failures_are_counted_by_unit_and_marked_above_one_in_twenty() -> None:
    predictions = [
        unit(str(place), [1] * 8, failures=(TIMED_OUT, TIMED_OUT, SKIPPED) if place == 0 else ())
        for place in range(19)
    ]
    found = plain(
        failure_section(predicted_units([*predictions, unit("z", [1] * 8, failures=(TIMED_OUT,))])),
        units=20,
    )
    kinds = at(found, "kinds")
    assert isinstance(kinds, list)
    assert [
        (kind["code"], kind["stage"], kind["events"], kind["units"], kind["is_frequent"])
        for kind in kinds
    ] == [("timed_out", "judge", 3, 2, True), (None, "meta_review", 1, 1, False)]
    assert kinds[0]["rate"]["value"] == 0.1
    assert value(found, "units_with_any") == 0.1
    assert value(found, "units_failed") == 0


def test_cost_is_counted_by_agent_and_model() -> None:
    attempts = (
        attempt("judge"),
        attempt("judge", AttemptOutcome.REJECTED, code=RejectionCode.NO_JSON),
        attempt("judge", AttemptOutcome.FAILED, code=FailureCode.TIMED_OUT, tokens=None),
        attempt("evidence", path=CallPath.PLAIN),
    )
    found = plain(
        cost_section(predicted_units([unit("a", [1] * 8, attempts=attempts), unit("b", [1] * 8)])),
        units=2,
    )
    assert value(found, "calls_per_unit") == 2
    rows = at(found, "by_agent_and_model")
    assert isinstance(rows, list)
    assert [(row["agent"], row["calls"], row["plain_path"]) for row in rows] == [
        ("evidence", 1, 1),
        ("judge", 3, 0),
    ]
    judge = rows[1]
    assert (judge["accepted"], judge["rejected"], judge["failed"], judge["coercions"]) == (
        1,
        1,
        1,
        3,
    )
    assert judge["input_tokens"] == {"value": 20, "reason": None, "interval": None, "n": 2}
    assert at(found, "by_code") == {"no_json": 1, "timed_out": 1}


def test_tokens_that_no_call_reports_are_not_zero() -> None:
    found = plain(
        cost_section(predicted_units([unit("a", [1] * 8, attempts=(attempt("judge"),))])), units=1
    )
    assert at(found, "all/output_tokens") == {
        "value": None,
        "reason": "no call reports its tokens",
        "interval": None,
        "n": 0,
    }


def test_warnings_are_counted_by_rule() -> None:
    one = unit("a", [1] * 8)
    warned = {
        item: replace(
            found, warnings=("past_only", "denied") if item is Item.SLEEP else ("denied",)
        )
        for item, found in one.items.items()
    }
    assert warning_counts(predicted_units([replace(one, items=warned)])) == {
        "denied": 8,
        "past_only": 1,
    }
