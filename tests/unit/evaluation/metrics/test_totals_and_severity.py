import pytest
from sklearn.metrics import cohen_kappa_score
from tests.unit.evaluation.metrics.built import at, labels, plain, unit, value

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.kinds import beside_labels
from ai_psychiatrist.evaluation.metrics.totals import severity_section, total_section
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction, failed_prediction

EXACT_9 = [3, 3, 3, 0, 0, 0, 0, 0]
EXACT_12 = [3, 3, 3, 3, 0, 0, 0, 0]
FROM_9_TO_12 = [3, 3, 3, None, 0, 0, 0, 0]
FROM_0_TO_3 = [None, 0, 0, 0, 0, 0, 0, 0]


def sections(
    predictions: list[UnitPrediction], known: dict[str, Labels]
) -> tuple[dict[str, object], dict[str, object]]:
    scores = beside_labels(predictions, known)
    totals, severity = total_section(scores), severity_section(scores)
    return plain(totals, units=len(known)), plain(severity, units=len(known))


def test_only_exact_totals_have_an_error() -> None:
    predictions = [unit("a", EXACT_9), unit("b", EXACT_12), unit("c", FROM_9_TO_12)]
    totals, _ = sections(predictions, {name: labels(total=12) for name in "abc"})
    assert value(totals, "exact/mae") == 1.5
    assert value(totals, "exact/rmse") == pytest.approx((9 / 2) ** 0.5)
    assert value(totals, "exact/coverage") == pytest.approx(2 / 3)
    assert at(totals, "exact/mae/n") == 2


def test_ranges_of_all_units_count_and_a_failed_one_spans_the_scale() -> None:
    predictions = [unit("a", FROM_9_TO_12), failed_prediction("b")]
    totals, _ = sections(predictions, {"a": labels(total=13), "b": labels(total=0)})
    assert value(totals, "range/holds_truth") == 0.5
    assert value(totals, "range/mean_width") == (3 + 24) / 2
    assert value(totals, "range/midpoint_mae") == (2.5 + 12) / 2


def test_labelled_total_is_the_sum_of_items_where_none_is_given() -> None:
    totals, _ = sections([unit("a", EXACT_9)], {"a": labels(EXACT_12)})
    assert value(totals, "exact/mae") == 3


def test_no_total_is_made_of_seven_items() -> None:
    totals, _ = sections([unit("a", EXACT_9)], {"a": labels([None, *EXACT_12[1:]])})
    assert value(totals, "exact/mae") is None
    assert at(totals, "exact/mae/reason") == "no unit has both a labelled total and an exact one"


def test_correlation_of_totals_is_one_for_a_straight_line_and_absent_for_a_constant() -> None:
    line = {"a": labels(total=0), "b": labels(total=6)}
    totals, _ = sections([unit("a", EXACT_9), unit("b", EXACT_12)], line)
    assert value(totals, "exact/pearson") == pytest.approx(1)
    totals, _ = sections([unit("a", EXACT_9), unit("b", EXACT_9)], line)
    assert value(totals, "exact/pearson") is None


def test_range_over_several_bands_is_undecidable_and_counted_apart() -> None:
    predictions = [
        unit("a", EXACT_9),
        unit("b", EXACT_12),
        unit("c", FROM_9_TO_12),
        unit("d", FROM_0_TO_3),
        failed_prediction("e"),
    ]
    known = {
        name: labels(total=total) for name, total in zip("abcde", (9, 24, 9, 4, 2), strict=True)
    }
    _, severity = sections(predictions, known)
    assert value(severity, "coverage") == pytest.approx(3 / 5)
    assert value(severity, "exact") == pytest.approx(2 / 3)
    assert value(severity, "adjacent") == pytest.approx(2 / 3)
    assert value(severity, "exact_undecidable_as_wrong") == pytest.approx(2 / 5)
    assert at(severity, "confusion/columns") == [
        "minimal",
        "mild",
        "moderate",
        "moderately severe",
        "severe",
        "undecidable",
    ]
    assert at(severity, "confusion/counts") == [
        [1, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0],
    ]


def test_neighbouring_band_is_adjacent() -> None:
    _, severity = sections([unit("a", EXACT_9)], {"a": labels(total=10)})
    assert (value(severity, "exact"), value(severity, "adjacent")) == (0, 1)


def test_kappa_of_bands_is_that_of_scikit_learn() -> None:
    totals = [0, 3, 7, 9, 11, 12, 14, 18, 21, 24]
    predictions = [
        unit(str(place), [1 if seat < place else 0 for seat in range(8)])
        for place in range(len(totals))
    ]
    _, severity = sections(
        predictions, {str(place): labels(total=total) for place, total in enumerate(totals)}
    )
    theirs = cohen_kappa_score(
        [min(place, 8) // 5 for place in range(len(totals))],
        [min(total // 5, 4) for total in totals],
        labels=range(5),
        weights="quadratic",
    )
    assert value(severity, "quadratic_kappa") == pytest.approx(theirs)
