import json

import pytest
from tests.unit.evaluation.metrics.built import at, labels, metrics, number, random_run, unit, value
from tests.unit.evaluation.report.built_report import attempt

from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.evaluation.metrics.compute import compare_metrics
from ai_psychiatrist.evaluation.metrics.selective import DEFAULT_SIGNAL
from ai_psychiatrist.evaluation.scores.prediction import failed_prediction


def test_run_compared_with_itself_differs_nowhere() -> None:
    predictions, known = random_run(10, seed=1)
    found = compare_metrics(predictions, predictions, known, resamples=30)
    mae = at(found, "differences/items/mae")
    assert isinstance(mae, dict)
    assert mae["first"] == mae["second"]
    assert (mae["value"], mae["interval"]) == (0, None)
    assert mae["reason"] == "no interval: identical in every unit"
    matched = at(found, f"matched_coverage/{DEFAULT_SIGNAL}/mae_difference/reason")
    assert matched == "no interval: identical in every unit"


def test_difference_is_second_minus_first_and_each_side_is_that_of_its_own_report() -> None:
    first, known = random_run(8, seed=1)
    second, _ = random_run(8, seed=2, unknown=0.1)
    found = compare_metrics(first, second, known, resamples=30)
    sides = [metrics(run, known) for run in (first, second)]
    for path in (
        "items/mae",
        "items/coverage",
        "binary/from_total/coverage",
        "cost/calls_per_unit",
    ):
        difference = at(found, f"differences/{path}")
        assert isinstance(difference, dict)
        assert [difference["first"], difference["second"]] == [value(side, path) for side in sides]
        assert difference["value"] == pytest.approx(difference["second"] - difference["first"])


def test_paired_interval_is_narrower_than_those_of_the_runs() -> None:
    first, known = random_run(30, seed=1, unknown=0)
    second = [
        unit(one.unit_id, [1 if score == 0 else score for score in map(one.score, one.items)])
        for one in first
    ]
    found = compare_metrics(first, second, known, resamples=400)
    paired = at(found, "differences/items/mae/interval")
    alone = at(metrics(first, known, resamples=400), "items/mae/interval")
    assert isinstance(paired, list)
    assert isinstance(alone, list)
    assert paired[1] - paired[0] < alone[1] - alone[0]


def test_units_of_one_run_only_are_counted_and_left_out() -> None:
    first = [unit("a", [0] * 8), unit("b", [3] * 8)]
    second = [unit("a", [1] * 8), unit("c", [3] * 8), unit("d", [3] * 8)]
    found = compare_metrics(first, second, {name: labels([0] * 8) for name in "abcd"}, resamples=5)
    assert at(found, "units") == {
        "shared": 1,
        "shared_labelled": 1,
        "only_first": 1,
        "only_second": 2,
        "failed_first": 0,
        "failed_second": 0,
    }
    assert value(found, "differences/items/mae") == 1


def test_units_and_calls_of_both_runs_are_told() -> None:
    """The unit that changed most comes first; a failed one counts as all unknown."""
    rejected = attempt(code=RejectionCode.NO_JSON)
    first = [
        unit("a", [0] * 8),
        unit("b", [2] * 8, attempts=(attempt(), rejected)),
        unit("c", [1] * 8),
        unit("flag", [1] * 8),
        unit("total", [1] * 8),
    ]
    second = [failed_prediction("a"), unit("b", [1] * 8), unit("c", [0, 2, *[1] * 6]), *first[3:]]
    known = {name: labels([1] * 8) for name in "abc"}
    known |= {"flag": labels(binary=True), "total": labels(total=9)}
    found = compare_metrics(first, second, known, resamples=5)
    changes = found.unit_changes
    assert (changes.better, changes.worse, changes.equal) == (1, 2, 1)
    told = [
        (one.first.unit_id, one.first.points_off, one.second.points_off)
        for one in changes.most_changed
    ]
    assert told == [("a", 8, 24), ("b", 8, 0), ("c", 0, 2)]
    assert at(found, "units/failed_second") == 1
    assert at(found, "calls/first") == {"calls": 2, "accepted": 1, "rejected": 1, "failed": 0}


def test_difference_says_which_run_lacks_the_figure() -> None:
    found = compare_metrics(
        [unit("a", [0] * 8)], [failed_prediction("a")], {"a": labels([0] * 8)}, resamples=5
    )
    mae = at(found, "differences/items/mae")
    assert isinstance(mae, dict)
    assert (mae["first"], mae["second"], mae["value"]) == (0, None, None)
    assert mae["reason"] == "second run: no item has both a label and a score"
    assert value(found, f"matched_coverage/{DEFAULT_SIGNAL}/mae_difference") is None


def test_run_that_scores_only_what_is_easy_gains_nothing_at_matched_coverage() -> None:
    quotes = [4, 4, 4, 4, 1, 1, 1, 1]
    thorough = unit("a", [0, 0, 0, 0, 3, 3, 3, 3], quotes=quotes)
    cautious = unit("a", [0, 0, 0, 0, None, None, None, None], quotes=quotes)
    found = compare_metrics([thorough], [cautious], {"a": labels([0] * 8)}, resamples=5)
    assert number(found, "differences/items/mae") == -1.5
    path = f"matched_coverage/{DEFAULT_SIGNAL}"
    assert value(found, f"{path}/coverage") == 0.5
    assert value(found, f"{path}/mae_difference") == 0
    assert value(found, f"{path}/aurc_difference") == 0


def test_comparison_without_labels_or_units_is_strict_json() -> None:
    predictions, _ = random_run(4, seed=1)
    for run in (predictions, []):
        found = compare_metrics(run, run, {}, resamples=5)
        json.dumps(found.as_json(), allow_nan=False)
