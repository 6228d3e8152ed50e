"""How figures are written and placed."""

from dataclasses import replace

import pytest

from ai_psychiatrist.evaluation.metrics.run_metrics import Better, Scale
from ai_psychiatrist.evaluation.report.figure_rows import DifferenceRow, FigureRow
from ai_psychiatrist.evaluation.report.wording import amount, grouped, percent
from ai_psychiatrist.statistics.figure import Figure


@pytest.mark.parametrize(
    ("scale", "value", "written"),
    [
        pytest.param(Scale.ITEM_POINTS, 0.614, "0.61", id="points"),
        pytest.param(Scale.TOTAL_POINTS, 3.0, "3.0", id="total"),
        pytest.param(Scale.SHARE, 0.5, "50\u00a0%", id="share"),
        pytest.param(Scale.AGREEMENT, -0.25, "\u22120.25", id="minus"),
        pytest.param(Scale.AGREEMENT, -0.001, "0.00", id="no minus before zero"),
        pytest.param(Scale.UNIT, 0.1234, "0.123", id="area"),
    ],
)
def test_a_value_is_written_to_the_decimals_of_its_scale(
    scale: Scale, value: float, written: str
) -> None:
    assert amount(value, scale) == written


def test_a_difference_of_shares_is_in_percentage_points() -> None:
    shown = DifferenceRow(
        name="",
        figure=Figure(value=-0.1, interval=(-0.2, 0.05), n=9),
        scale=Scale.SHARE,
        sides=(0.5, 0.4),
        better=Better.HIGHER,
        reach=0.2,
    )
    assert shown.value == "\u221210.0\u00a0pp"
    assert shown.span == "\u221220.0 to +5.0\u00a0pp"
    assert (shown.dot, shown.whisker) == (25.0, (0.0, 62.5))
    assert shown.both == ["50.0\u00a0%", "40.0\u00a0%"]
    assert replace(shown, sides=(0.5, None)).both == ["50.0\u00a0%", "–"]
    assert replace(shown, figure=Figure(value=0.0, n=9), reach=0.0).dot == 50.0


def test_a_mark_lies_on_its_scale_even_when_the_value_does_not() -> None:
    figure = Figure(value=1.5, interval=(-3.0, 3.0), n=1200)
    shown = FigureRow(name="", figure=figure, scale=Scale.AGREEMENT)
    assert (shown.dot, shown.whisker) == (100.0, (0.0, 100.0))
    assert shown.count == "1\u202f200"


def test_an_undefined_figure_says_why_and_has_no_mark() -> None:
    shown = FigureRow(
        name="", figure=Figure(value=None, reason="no labels", n=0), scale=Scale.SHARE
    )
    assert shown.spoken == "not defined: no labels"
    assert (shown.value, shown.dot, shown.span) == (None, None, None)


@pytest.mark.parametrize(
    ("interval", "is_wide"),
    [((0.5, 0.6), False), ((0.5, 0.62), True), (None, False)],
    ids=["a tenth", "more", "no interval"],
)
def test_an_interval_is_wide_beyond_a_tenth_of_the_scale(
    interval: tuple[float, float] | None, is_wide: bool
) -> None:
    figure = Figure(value=0.55, interval=interval, n=9)
    assert FigureRow(name="", figure=figure, scale=Scale.SHARE).is_wide is is_wide


@pytest.mark.parametrize(
    ("part", "whole", "written"),
    [
        (0, 10, "0\u00a0%"),
        (1, 1000, "<\u202f1\u00a0%"),
        (999, 1000, ">\u202f99\u00a0%"),
        (10, 10, "100\u00a0%"),
        (0, 0, "none asked"),
    ],
)
def test_few_are_never_written_as_none_nor_most_as_all(part: int, whole: int, written: str) -> None:
    assert percent(part, whole) == written


def test_thousands_are_grouped() -> None:
    assert grouped(1234567) == "1\u202f234\u202f567"
