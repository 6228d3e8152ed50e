"""How figures are written and placed."""

import pytest

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.report.figure_row import grouped, percent, show, show_difference
from ai_psychiatrist.evaluation.report.figures import Figure, Metrics, Scale, figure_of


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
    assert scale.amount(value) == written


def test_a_difference_of_shares_is_in_percentage_points() -> None:
    figure = Figure(value=-0.1, low=-0.2, high=0.05, count=9)
    shown = show_difference(figure, Scale.SHARE, reach=0.2)
    assert shown.value == "\u221210\u00a0pp"
    assert shown.span == "\u221220 to +5\u00a0pp"
    assert (shown.low, shown.dot, shown.high) == (0.0, 25.0, 62.5)


def test_differences_that_are_all_zero_lie_in_the_middle() -> None:
    assert show_difference(Figure(value=0.0), Scale.SHARE, reach=0.0).dot == 50.0


def test_a_mark_lies_on_its_scale_even_when_the_value_does_not() -> None:
    shown = show(Figure(value=1.5, low=-3.0, high=3.0, count=1200), Scale.AGREEMENT)
    assert (shown.low, shown.dot, shown.high) == (0.0, 100.0, 100.0)
    assert shown.count == "1\u202f200"


def test_an_undefined_figure_says_why_and_has_no_mark() -> None:
    shown = show(Figure(value=None, reason="no labels", count=0), Scale.SHARE)
    assert shown.spoken == "not defined: no labels"
    assert (shown.value, shown.dot, shown.span) == (None, None, None)


@pytest.mark.parametrize(
    ("low", "high", "is_wide"),
    [(0.5, 0.6, False), (0.5, 0.62, True), (None, None, False)],
    ids=["a tenth", "more", "no interval"],
)
def test_an_interval_is_wide_beyond_a_tenth_of_the_scale(
    low: float | None, high: float | None, is_wide: bool
) -> None:
    assert Scale.SHARE.is_wide(Figure(value=0.55, low=low, high=high)) is is_wide


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


def test_a_missing_figure_is_undefined_with_a_reason() -> None:
    missing = Metrics({}).figure("items.mae")
    assert missing.value is None
    assert missing.reason == "not among the metrics of this run"


@pytest.mark.parametrize(
    "found",
    [3, [], {"value": "1"}, {"value": float("nan")}, {"value": 1.0, "interval": ["a", "b"]}],
    ids=["number", "list", "text", "not finite", "interval of text"],
)
def test_what_is_no_figure_is_refused_with_its_path(found: object) -> None:
    with pytest.raises(InputError, match=r"totals\.exact") as refused:
        figure_of(found, path="totals.exact")
    assert refused.value.field == "metrics.totals.exact"
