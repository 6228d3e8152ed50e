"""Areas under the risk–coverage curve against every order that ties allow, and abstention."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.evaluation.metrics.built import at, labels, number, plain, unit, value

from ai_psychiatrist.evaluation.metrics.kinds import beside_labels
from ai_psychiatrist.evaluation.metrics.selective import DEFAULT_SIGNAL, SIGNALS, selective_section
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.statistics.ranking import augrc, aurc, ranking, risk_at

Groups = Sequence[Sequence[int]]


def mean_over_orders(groups: Groups) -> tuple[float, float, list[float]]:
    """Return AURC, AUGRC and the risks, as means over all orders within groups."""
    orders = [sum(order, ()) for order in product(*(tuple(permutations(one)) for one in groups))]
    sums = np.cumsum(np.array(orders, dtype=float), axis=1)
    steps = np.arange(1, sums.shape[1] + 1)
    risks = (sums / steps).mean(axis=0)
    return float(risks.mean()), float(sums.mean() / len(steps)), [float(risk) for risk in risks]


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([[2]], id="one item"),
        pytest.param([[0], [1], [3]], id="rising, no ties"),
        pytest.param([[3], [1], [0], [0]], id="falling, no ties"),
        pytest.param([[0, 3, 1]], id="one tie of all"),
        pytest.param([[0, 3], [1], [2, 2, 0]], id="ties and none"),
        pytest.param([[3, 3], [0, 1], [2, 0, 0]], id="ties after a high risk"),
    ],
)
def test_areas_are_means_over_all_orders_of_equal_confidence(groups: Groups) -> None:
    ranked = ranking(
        np.array([[float(len(group))] for group in groups]),
        np.array([[float(sum(group))] for group in groups]),
    )
    area, generalised, risks = mean_over_orders(groups)
    assert aurc(ranked)[0] == pytest.approx(area)
    assert augrc(ranked)[0] == pytest.approx(generalised)
    for count, risk in enumerate(risks, start=1):
        accepted = np.array([float(count)])
        assert risk_at(ranked, accepted)[0] == pytest.approx(risk)
        assert aurc(ranked, accepted)[0] == pytest.approx(np.mean(risks[:count]))


def test_risk_beyond_the_last_item_and_of_none_is_not_defined() -> None:
    ranked = ranking(np.array([[2.0]]), np.array([[1.0]]))
    assert np.isnan(risk_at(ranked, np.array([3.0]))[0])
    with np.errstate(invalid="ignore"):
        assert np.isnan(risk_at(ranked, np.array([0.0]))[0])


def test_empty_groups_change_nothing() -> None:
    with_empty = ranking(np.array([[0.0], [2.0], [0.0]]), np.array([[0.0], [3.0], [0.0]]))
    without = ranking(np.array([[2.0]]), np.array([[3.0]]))
    assert aurc(with_empty) == aurc(without)
    assert augrc(with_empty) == augrc(without)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One labelled item, and whether it is made unknown in the second run."""

    label: int
    score: int | None
    quotes: int
    confidence: int | None
    is_withheld: bool


cells = st.builds(
    Cell,
    label=st.integers(0, 3),
    score=st.none() | st.integers(0, 3),
    quotes=st.integers(0, 2),
    confidence=st.sampled_from([None, 1, 5]),
    is_withheld=st.booleans(),
)
runs = st.lists(st.lists(cells, min_size=8, max_size=8), min_size=1, max_size=3)


def predicted(run: list[list[Cell]], *, is_withholding: bool) -> list[UnitPrediction]:
    return [
        unit(
            str(name),
            [None if is_withholding and cell.is_withheld else cell.score for cell in row],
            quotes=[cell.quotes for cell in row],
            confidences=[cell.confidence for cell in row],
        )
        for name, row in enumerate(run)
    ]


@given(runs)
def test_withholding_scores_never_lowers_a_charged_area(run: list[list[Cell]]) -> None:
    known = {str(name): labels([cell.label for cell in row]) for name, row in enumerate(run)}
    before, after = (
        plain(
            selective_section(beside_labels(predicted(run, is_withholding=is_withholding), known)),
            units=len(run),
        )
        for is_withholding in (False, True)
    )
    for signal in SIGNALS:
        for area in ("charged_aurc", "charged_augrc"):
            path = f"by_signal/{signal}/{area}"
            assert number(after, path) >= number(before, path) - 1e-9
            assert 0 <= number(before, path) <= 3


def test_withholding_scores_can_lower_the_areas_that_are_not_charged() -> None:
    known = {"a": labels([0] * 8)}
    everything = unit("a", [3, *[0] * 7])
    easy = unit("a", [None, *[0] * 7])
    areas = [
        number(
            plain(selective_section(beside_labels([one], known)), units=1),
            f"by_signal/{DEFAULT_SIGNAL}/aurc",
        )
        for one in (everything, easy)
    ]
    assert areas[1] < areas[0]


def selective(predictions: list[UnitPrediction], *known: Sequence[int | None]) -> dict[str, object]:
    given = {str(name): labels(items) for name, items in enumerate(known)}
    scores = beside_labels(predictions, given)
    return plain(selective_section(scores), units=len(given))


def test_surest_items_come_first_and_those_without_the_signal_last() -> None:
    sure_and_right = [5, 5, 1, 1, None, None, None, None]
    wrong = unit("0", [0, 0, 1, 1, 3, 3, 3, 3], confidences=sure_and_right)
    found = selective([wrong], [0] * 8)
    errors = [value(found, f"by_signal/verbalised/mae_at_coverage/{at}") for at in (0.2, 0.5, 1.0)]
    assert errors == [0, pytest.approx(2 / 4), pytest.approx(14 / 8)]


def test_coverage_that_is_not_reached_has_no_error() -> None:
    found = selective([unit("0", [0] * 4 + [None] * 4)], [0] * 8)
    path = f"by_signal/{DEFAULT_SIGNAL}/mae_at_coverage"
    assert (value(found, f"{path}/0.5"), value(found, f"{path}/0.6")) == (0, None)
    assert value(found, "largest_coverage") == 0.5


def test_charged_area_of_nothing_but_unknown_items_is_the_largest_error() -> None:
    found = selective([unit("0", [None] * 8)], [1] * 8)
    path = f"by_signal/{DEFAULT_SIGNAL}"
    assert value(found, f"{path}/charged_aurc") == 3
    assert value(found, f"{path}/charged_augrc") == pytest.approx(3 * (8 + 1) / (2 * 8))
    assert value(found, f"{path}/aurc") is None
    assert at(found, f"{path}/curve") == {"coverage": [], "risk": []}


def test_curve_ends_at_the_error_of_all_scored_items() -> None:
    found = selective([unit("0", [0, 1, 2, 3, None, None, None, None])], [0] * 8)
    curve = at(found, f"by_signal/{DEFAULT_SIGNAL}/curve")
    charged = at(found, f"by_signal/{DEFAULT_SIGNAL}/charged_curve")
    assert curve == {"coverage": [0.125, 0.25, 0.375, 0.5], "risk": [1.5] * 4}
    assert isinstance(charged, dict)
    assert charged["coverage"][-1] == 1
    assert charged["risk"][-1] == pytest.approx((6 + 4 * 3) / 8)
