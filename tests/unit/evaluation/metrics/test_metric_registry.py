"""Every metric says what it is, a command tells it, and a new file adds one."""

import sys
from pathlib import Path

import pytest
from tests.integration.command import run
from tests.unit.evaluation.metrics.built import at, metrics, random_run

from ai_psychiatrist.evaluation.metrics import formulas, registry
from ai_psychiatrist.evaluation.metrics.metric_list import metric_list
from ai_psychiatrist.evaluation.metrics.registry import all_metrics
from ai_psychiatrist.evaluation.metrics.sources import SOURCES
from ai_psychiatrist.evaluation.report.groups import headline_of
from ai_psychiatrist.statistics.measure import SMALLEST_N


def test_every_metric_says_what_it_is() -> None:
    assert len(all_metrics()) > 20
    for one in all_metrics():
        assert one.definition.endswith(".")
        assert one.on
        assert one.smallest_n >= SMALLEST_N


def test_the_command_says_what_every_metric_is(tmp_path: Path) -> None:
    done = run(["evaluate", "metrics", "--list"], tmp_path)
    assert (done.code, done.err) == (0, "")
    told = " ".join(done.out.split())
    for one in all_metrics():
        kinds = ", ".join(kind.__name__ for kind in one.on)
        assert f" {one.key} {one.definition} of {kinds}; " in f" {told}"
        for source in (one.source or "").split("; "):
            assert source in told
    assert list(tmp_path.iterdir()) == []


def test_every_source_is_told_in_full() -> None:
    named = {source for one in all_metrics() for source in (one.source or "").split("; ")}
    for source in named - {""}:
        author, year = source.split()[0].rstrip(","), source[-4:]
        assert any(author in told and f"{year}. " in told for told in SOURCES), source


FAR_OFF = """
from ai_psychiatrist.evaluation.metrics.items import AllItems
from ai_psychiatrist.statistics.measure import Measure, ratio
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric


@metric(
    on={AllItems: Row(0, "Far off")},
    better=Better.NEITHER,
    smallest_n=12,
)
def far_off(items: AllItems) -> Measure:
    '''Share of scores that are one or more points off.'''
    return ratio((items.distance >= 1).sum(axis=1), items.answered, undefined=items.no_pair)
"""


def test_a_new_file_alone_adds_a_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far_off.py").write_text(FAR_OFF, encoding="utf-8")
    monkeypatch.setattr(formulas, "__path__", [*formulas.__path__, str(tmp_path)])
    monkeypatch.setattr(registry, "_METRICS", {one.key: one for one in all_metrics()})
    all_metrics.cache_clear()
    try:
        few, enough = (metrics(*random_run(people, seed=1)) for people in (11, 12))
        (first, *_), *_ = [group.rows for group in headline_of(enough)]
        listed = list(metric_list())
        place = listed.index("far_off")
        assert listed[place + 1] == "  Share of scores that are one or more points off."
    finally:
        sys.modules.pop(f"{formulas.__name__}.far_off")
        all_metrics.cache_clear()
    assert (
        at(few, "items/far_off/reason") == "no interval: it rests on 11 participants, and needs 12"
    )
    assert first.name == "Far off"
    assert first.span is not None
