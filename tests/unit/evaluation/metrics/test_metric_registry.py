"""Every metric is one file with one declaration, and the documents say the same."""

import re
import sys
from pathlib import Path

import pytest
from tests.unit.evaluation.metrics.built import at, metrics, random_run

from ai_psychiatrist.evaluation.metrics import formulas, registry
from ai_psychiatrist.evaluation.metrics.documentation import HEADER, metrics_table
from ai_psychiatrist.evaluation.metrics.registry import all_metrics
from ai_psychiatrist.evaluation.report.groups import headline_of
from ai_psychiatrist.statistics.measure import SMALLEST_N

FILES = sorted(Path(formulas.__path__[0]).glob("[!_]*.py"))
DOCUMENT = Path(__file__).parents[4] / "docs" / "metrics.md"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_declares_the_one_metric_of_its_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("@metric(") == 1
    assert re.search(rf"^def {path.stem}\(", text, re.MULTILINE)


def test_every_file_is_found_and_every_metric_says_what_it_is() -> None:
    assert [one.key for one in all_metrics()] == [path.stem for path in FILES]
    for one in all_metrics():
        assert one.definition.endswith(".")
        assert one.on
        assert one.smallest_n >= SMALLEST_N


def test_table_of_the_documents_is_that_of_the_registry() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    start = lines.index(HEADER[0])
    end = lines.index("", start)
    assert lines[start:end] == list(metrics_table()), (
        "python -m ai_psychiatrist.evaluation.metrics.documentation"
    )


def test_every_source_is_listed() -> None:
    listed = DOCUMENT.read_text(encoding="utf-8").split("## Sources")[1].splitlines()
    named = {source for one in all_metrics() for source in (one.source or "").split("; ")}
    for source in named - {""}:
        author, year = source.split()[0].rstrip(","), source[-4:]
        assert any(author in line and year in line for line in listed), source


BIAS = """
from ai_psychiatrist.evaluation.metrics.items import AllItems
from ai_psychiatrist.statistics.measure import Measure, ratio
from ai_psychiatrist.evaluation.metrics.registry import Better, Row, metric


@metric(
    on={AllItems: Row(0, "Bias")},
    better=Better.NEITHER,
    smallest_n=12,
)
def bias(items: AllItems) -> Measure:
    '''Mean of score less label.'''
    apart = (items.said - items.truth) * items.is_both
    return ratio(apart.sum(axis=1), items.answered, undefined=items.no_pair)
"""


def test_a_new_file_alone_adds_a_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bias.py").write_text(BIAS, encoding="utf-8")
    monkeypatch.setattr(formulas, "__path__", [*formulas.__path__, str(tmp_path)])
    monkeypatch.setattr(registry, "_METRICS", {one.key: one for one in all_metrics()})
    all_metrics.cache_clear()
    try:
        few, enough = (metrics(*random_run(people, seed=1)) for people in (11, 12))
        (first, *_), *_ = [group.rows for group in headline_of(enough)]
        assert any(
            line.startswith("| `bias` | `AllItems` | Mean of score less label. |")
            for line in metrics_table()
        )
    finally:
        sys.modules.pop(f"{formulas.__name__}.bias")
        all_metrics.cache_clear()
    assert at(few, "items/bias/reason") == "no interval: it rests on 11 participants, and needs 12"
    assert first.name == "Bias"
    assert first.span is not None
