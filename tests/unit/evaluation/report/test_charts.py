"""The geometry and the tables of the charts."""

import pytest
from tests.unit.evaluation.metrics.built import random_run, unit
from tests.unit.evaluation.report.built_report import TIMED_OUT, figures_of

from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.evaluation.report.confusion import confusion_of
from ai_psychiatrist.evaluation.report.coverage import coverage_of
from ai_psychiatrist.evaluation.report.curve import MOST_POINTS, Curve, Point, draw_curves
from ai_psychiatrist.evaluation.report.figures import Metrics
from ai_psychiatrist.evaluation.report.units import MOST_UNITS, units_of
from ai_psychiatrist.evaluation.scores.prediction import failed_prediction


def _line(*places: tuple[float, float], name: str = "signal") -> Curve:
    return Curve(name=name, points=[Point(coverage=x, risk=y) for x, y in places])


def test_no_points_give_no_chart() -> None:
    assert draw_curves([]) is None
    assert draw_curves([_line()]) is None


def test_a_single_point_is_drawn_as_a_dot() -> None:
    chart = draw_curves([_line((1.0, 0.0))])
    assert chart is not None
    assert chart.curves[0].is_dot
    assert (chart.curves[0].end_x, chart.curves[0].end_y) == (chart.right, chart.bottom)


def test_the_largest_error_lies_within_the_axis() -> None:
    chart = draw_curves([_line((0.1, 3.0), (1.0, 1.0))])
    assert chart is not None
    assert chart.up[-1].text == "3.00"
    assert chart.curves[0].path.split(",")[1].split(" ")[0] == f"{chart.top:g}"


def test_many_points_are_thinned_and_the_ends_stay() -> None:
    points = [(step / 5000, 3 - 2 * step / 5000) for step in range(1, 5001)]
    chart = draw_curves([_line(*points)])
    assert chart is not None
    places = chart.curves[0].path.removeprefix("M").split(" L")
    assert len(places) == MOST_POINTS
    assert chart.curves[0].end_x == chart.right


def test_the_table_says_where_a_curve_has_ended() -> None:
    chart = draw_curves([_line((0.25, 0.5), (0.5, 0.75))])
    assert chart is not None
    assert [row.risks[0] for row in chart.rows] == ["0.50", "0.50", "0.75", "0.75", "0.75"] + [
        None
    ] * 5


def test_confusion_keeps_the_undecidable_apart() -> None:
    counts = [[0] * 6 for _ in range(5)]
    counts[0] = [6, 2, 0, 0, 0, 2]
    found = confusion_of(counts)
    assert found is not None
    assert (found.undecidable, found.total) == (2, 10)
    first = found.rows[0]
    assert [cell.shade for cell in first.cells] == [60, 20, 0, 0, 0, 20]
    assert [cell.is_right for cell in first.cells] == [True] + [False] * 5
    assert first.cells[5].is_undecidable
    assert found.rows[4].total == "0"


def test_an_empty_confusion_is_not_shown() -> None:
    assert confusion_of([[0] * 6 for _ in range(5)]) is None


def test_bars_of_coverage_are_tiled_by_their_parts() -> None:
    predictions, known = random_run(9, seed=4)
    failed = failed_prediction("z", TIMED_OUT)
    chart = coverage_of(Metrics(figures_of([*predictions, failed], known)))
    assert len(chart.rows) == len(Item)
    for bar in chart.rows:
        ends = [part.start + part.width for part in bar.parts]
        starts = [part.start for part in bar.parts]
        assert starts == pytest.approx([0.0, *ends[:-1]], abs=0.01)
        assert ends[-1] == pytest.approx(100, abs=0.01)
        assert sum(map(int, bar.counts)) == 10


@pytest.mark.parametrize("reason", UnknownReason)
def test_every_reason_has_a_place_in_the_bars(reason: UnknownReason) -> None:
    """A reason that the report does not know would leave items out of the account."""
    document = figures_of([unit("a", [0] * 8)], {})
    table = document["coverage_by_reason"]
    assert isinstance(table, dict)
    table["all"] = {"scored": 0, reason.value: 8}
    chart = coverage_of(Metrics(document))
    assert chart.summary.startswith("Scored: 0 of 8")
    assert len(chart.legend) == 1


def test_a_unit_with_unknown_items_is_shown_as_a_range() -> None:
    table = units_of([unit("a", [3, 3, 3, 3, None, None, 0, 0]), failed_prediction("b", TIMED_OUT)])
    assert [row.total for row in table.rows] == ["12\u201318", "0\u201324"]
    assert [row.severity for row in table.rows] == [
        "moderate to moderately severe",
        "minimal to severe",
    ]
    assert (table.rows[0].low, table.rows[0].high) == (50.0, 75.0)
    assert table.rows[1].failures == "timed out"


def test_units_beyond_the_cap_are_counted() -> None:
    table = units_of([unit("a", [0] * 8)] * (MOST_UNITS + 5))
    assert len(table.rows) == MOST_UNITS
    assert table.left_out == 5
