from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from tests.unit.evaluation.metrics.built import at, labels, plain, random_run, unit, value

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.metrics.agreement import item_section
from ai_psychiatrist.evaluation.metrics.kinds import AllItems, beside_labels
from ai_psychiatrist.evaluation.metrics.metric import shown_on
from ai_psychiatrist.evaluation.report.figure_rows import FigureRow
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction, failed_prediction
from ai_psychiatrist.statistics.figure import Figure

RIGHT = [0, 1, 2, 3, 0, 1, 2, 3]


def section(
    predictions: Sequence[UnitPrediction], *known: Sequence[int | None] | None
) -> dict[str, object]:
    ids = ["a", "b", "c"]
    given = {name: labels(items) for name, items in zip(ids, known, strict=False)}
    return plain(item_section(beside_labels(predictions, given).items), units=len(given))


def test_right_scores_have_no_error_and_full_agreement() -> None:
    found = section([unit("a", RIGHT)], RIGHT)
    assert (value(found, "mae"), value(found, "mae_charged"), value(found, "coverage")) == (0, 0, 1)
    assert (value(found, "exact_agreement"), value(found, "quadratic_kappa")) == (1, 1)


def test_errors_are_means_over_items_units_and_kinds_of_item() -> None:
    first = unit("a", [3, 1, None, None, None, None, None, None])
    second = unit("b", [0, None, None, None, None, None, None, None])
    found = section([first, second], [0] * 8, [0] * 8)
    assert value(found, "mae") == pytest.approx(4 / 3)
    assert value(found, "mae_by_participant") == pytest.approx((2 + 0) / 2)
    assert value(found, "mae_mean_of_items") == pytest.approx((1.5 + 1) / 2)
    assert value(found, "bias") == pytest.approx(4 / 3)
    assert value(found, "exact_agreement") == pytest.approx(1 / 3)
    assert value(found, "coverage") == pytest.approx(3 / 16)
    assert value(found, "mae_charged") == pytest.approx((4 + 13 * 3) / 16)
    assert at(found, "counts") == {"labelled": 16, "scored": 3, "both": 3}


def test_a_bias_has_the_sign_of_most_errors_and_a_scale_around_zero() -> None:
    found = section([unit("a", [0, 1, 0, None, 0, 1, 2, 3])], RIGHT)
    assert value(found, "bias") == pytest.approx(-2 / 7)
    (bias,) = (metric for metric, _ in shown_on(AllItems) if metric.key == "bias")
    figure = Figure(value=-1.5, n=1)
    row = FigureRow(name="", figure=figure, scale=bias.scale_on(AllItems))
    assert (row.dot, row.value, row.ends) == (25, "\u22121.50", ["\u22123", "3"])


def test_item_without_label_is_no_part_of_any_error() -> None:
    found = section([unit("a", [3, *RIGHT[1:]])], [None, *RIGHT[1:]])
    assert (value(found, "mae"), value(found, "mae_charged"), value(found, "coverage")) == (0, 0, 1)
    assert at(found, "counts") == {"labelled": 7, "scored": 8, "both": 7}


@pytest.mark.parametrize(
    "predictions",
    [
        pytest.param([failed_prediction("b")], id="failed"),
        pytest.param([], id="never predicted"),
        pytest.param([unit("b", [None] * 8)], id="all unknown"),
    ],
)
def test_unit_without_scores_is_charged_in_full(predictions: list[UnitPrediction]) -> None:
    found = section([unit("a", RIGHT), *predictions], RIGHT, RIGHT)
    assert (value(found, "mae"), value(found, "coverage")) == (0, 0.5)
    assert value(found, "mae_charged") == pytest.approx(1.5)


def test_figures_by_item_are_those_of_the_item_alone() -> None:
    found = section([unit("a", [1, *RIGHT[1:]]), unit("b", [None, *RIGHT[1:]])], RIGHT, RIGHT)
    interest, mood = Item.NO_INTEREST.value, Item.DEPRESSED.value
    assert value(found, f"by_item/{interest}/mae") == 1
    assert value(found, f"by_item/{interest}/coverage") == 0.5
    assert value(found, f"by_item/{interest}/mae_charged") == 2
    assert value(found, f"by_item/{mood}/mae") == 0


def test_nothing_scored_has_no_error_and_says_why() -> None:
    found = section([failed_prediction("a")], RIGHT)
    assert at(found, "mae") == {
        "value": None,
        "reason": "no item has both a label and a score",
        "interval": None,
        "n": 0,
    }
    assert (value(found, "coverage"), value(found, "mae_charged")) == (0, 3)


def test_one_value_alone_has_no_kappa() -> None:
    found = section([unit("a", [1] * 8)], [1] * 8)
    assert value(found, "quadratic_kappa") is None
    assert "only one value" in str(at(found, "quadratic_kappa/reason"))


@pytest.mark.parametrize("seed", range(4))
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    predictions, known = random_run(12, seed=seed)
    scores = beside_labels(predictions, known)
    found = plain(item_section(scores.items), units=12)
    theirs = cohen_kappa_score(
        scores.items.said[scores.items.is_both],
        scores.items.truth[scores.items.is_both],
        labels=np.arange(4),
        weights="quadratic",
    )
    assert value(found, "quadratic_kappa") == pytest.approx(theirs)
