"""Every metric says what it is, a command tells it, and one function adds one."""

import subprocess
import sys
from pathlib import Path

from tests.integration.command_here import run_here

from ai_psychiatrist.evaluation.metrics.metric import SOURCES, all_metrics
from ai_psychiatrist.statistics.measure import SMALLEST_N


def test_every_metric_says_what_it_is() -> None:
    assert len(all_metrics()) > 20
    for one in all_metrics():
        assert one.definition.endswith(".")
        assert one.on
        assert one.smallest_n >= SMALLEST_N


def test_the_command_says_what_every_metric_is(tmp_path: Path) -> None:
    done = run_here(["evaluate", "metrics", "--list"], tmp_path)
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
from tests.unit.evaluation.metrics.built import metrics, random_run

from ai_psychiatrist.evaluation.metrics.kinds import AllItems
from ai_psychiatrist.evaluation.metrics.metric import Row, metric
from ai_psychiatrist.evaluation.metrics.run_metrics import Better
from ai_psychiatrist.evaluation.metrics.metric import metric_list
from ai_psychiatrist.evaluation.report.groups import headline_of
from ai_psychiatrist.statistics.measure import Measure, ratio


@metric(on={AllItems: Row(0, "Far off")}, better=Better.NEITHER, smallest_n=12)
def far_off(items: AllItems) -> Measure:
    '''Share of scores that are one or more points off.'''
    return ratio((items.distance >= 1).sum(axis=1), items.answered, undefined=items.no_pair)


few, enough = (metrics(*random_run(people, seed=1)) for people in (11, 12))
print(few.figure("items", "far_off").reason)
first = headline_of(enough)[0].rows[0]
print(first.name, first.span is not None)
listed = list(metric_list())
print(listed[listed.index("far_off") + 1])
"""


def test_one_function_adds_a_metric() -> None:
    # In a process of its own, as it would stay among the metrics of this one.
    done = subprocess.run(
        [sys.executable, "-c", FAR_OFF], capture_output=True, check=True, text=True
    )
    assert done.stdout.splitlines() == [
        "no interval: it rests on 11 participants, and needs 12",
        "Far off True",
        "  Share of scores that are one or more points off.",
    ]
