"""The geometry and the tables of the charts."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.unit.evaluation.metrics.built import labels, metrics, random_run, unit
from tests.unit.evaluation.report.built_report import TIMED_OUT, report_text

from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.evaluation.metrics.run_metrics import RunMetrics
from ai_psychiatrist.evaluation.metrics.selective import SIGNALS
from ai_psychiatrist.evaluation.report.charts import (
    BOTTOM,
    RIGHT,
    TOP,
    Chart,
    Curve,
    chart_of,
    unknown_items_of,
)
from ai_psychiatrist.evaluation.scores.predicted_units import FIRST_KEPT
from ai_psychiatrist.evaluation.scores.prediction import failed_prediction


def _drawn(*places: tuple[float, float]) -> Chart:
    (chart,) = chart_of({"signal": places}, title="", note="")
    return chart


@pytest.mark.parametrize("curves", [{}, {"signal": ()}], ids=["no curve", "no point"])
def test_no_points_give_no_chart(curves: Mapping[str, Curve]) -> None:
    assert list(chart_of(curves, title="", note="")) == []


def test_the_largest_error_lies_within_the_axis() -> None:
    chart = _drawn((0.1, 3.0), (1.0, 1.0))
    assert chart.up[-1].text == "3.00"
    assert chart.curves[0].points[0][1] == TOP
    assert _drawn((1.0, 0.0)).curves[0].points == [(RIGHT, BOTTOM)]


def test_the_table_says_where_a_curve_has_ended() -> None:
    (curve,) = _drawn((0.25, 0.5), (0.5, 0.75)).curves
    assert curve.risks == ["0.50", "0.50", "0.75", "0.75", "0.75"] + [None] * 5


def test_confusion_keeps_the_undecidable_apart(tmp_path: Path) -> None:
    open_ended = unit("z", [0] * 6 + [None] * 2)
    predictions = [*(unit(str(number), [0] * 8) for number in range(3)), open_ended]
    text = report_text(tmp_path, predictions, {one.unit_id: labels([0] * 8) for one in predictions})
    first = text.split('<table class="confusion">')[1].split("</tr>")[1]
    assert "1 of 4 here" in text
    assert ' right strong" style="--w: 75%">3</td>' not in first
    assert 'class=" right" style="--w: 75%">3</td>' in first
    assert 'class="open" style="--w: 25%">1</td>' in first


def test_severities_are_not_shown_where_no_total_is_labelled(tmp_path: Path) -> None:
    text = report_text(tmp_path, [unit("a", [0] * 8)], {"a": labels([0] * 7 + [None])})
    assert 'id="figures"' in text
    assert 'id="severities"' not in text


def test_bars_of_coverage_are_tiled_by_their_parts() -> None:
    predictions, known = random_run(9, seed=4)
    failed = failed_prediction("z", TIMED_OUT)
    bars = unknown_items_of(metrics([*predictions, failed], known)).bars
    assert len(bars) == len(Item)
    for bar in bars:
        ends = [part.start + part.width for part in bar.parts]
        starts = [part.start for part in bar.parts]
        assert starts == pytest.approx([0.0, *ends[:-1]], abs=0.01)
        assert ends[-1] == pytest.approx(100, abs=0.01)
        assert sum(part.count for part in bar.parts) == 10


@pytest.mark.parametrize("reason", UnknownReason)
def test_every_reason_has_a_place_in_the_bars(reason: UnknownReason) -> None:
    """A reason that the report does not know would leave items out of the account."""
    found = metrics([unit("a", [0] * 8)], {})
    by_item = found.part("coverage_by_reason", "by_item").tree
    reasons = {"all": {"scored": 0, reason.value: 8}, "by_item": by_item}
    shown = unknown_items_of(RunMetrics({**found.tree, "coverage_by_reason": reasons}))
    assert shown.summary.startswith("Scored: 0 of 8")
    assert len(shown.bars[0].parts) == 1


def test_every_part_and_every_curve_has_a_look_of_its_own(tmp_path: Path) -> None:
    text = report_text(tmp_path, [unit("a", [0] * 8)], {})
    looks = [f".c{place} {{" for place, _ in enumerate(UnknownReason, start=1)]
    looks += [f".k{place} {{" for place, _ in enumerate(SIGNALS)]
    assert [look for look in looks if look not in text] == []


def test_a_unit_with_unknown_items_is_shown_as_a_range(tmp_path: Path) -> None:
    units = [unit("a", [3, 3, 3, 3, None, None, 0, 0]), failed_prediction("b", TIMED_OUT)]
    first, second = report_text(tmp_path, units, {}).split('<tr><th scope="row" class="code">')[1:]
    assert '<td class="n">6 of 8</td><td class="n">12\u201318</td>' in first
    assert 'x1="50.0%" x2="75.0%"' in first
    assert "<td>moderate to moderately severe</td><td>none</td>" in first
    assert '<td class="n">0 of 8</td><td class="n">0\u201324</td>' in second
    assert "<td>minimal to severe</td><td>timed out</td>" in second


def test_units_beyond_the_cap_are_counted(tmp_path: Path) -> None:
    units = [unit(str(number), [0] * 8) for number in range(FIRST_KEPT + 5)]
    text = report_text(tmp_path, units, {})
    assert text.count('<tr><th scope="row" class="code">') == FIRST_KEPT
    assert "5 more are in the predictions file" in text
