"""Every metric is one file with one declaration, and the documents say the same."""

import re
from pathlib import Path

import pytest

from ai_psychiatrist.evaluation.metrics import formulas
from ai_psychiatrist.evaluation.metrics.documentation import HEADER, table
from ai_psychiatrist.evaluation.metrics.measure import SMALLEST_N
from ai_psychiatrist.evaluation.metrics.registry import all_metrics

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
    assert lines[start:end] == list(table()), (
        "python -m ai_psychiatrist.evaluation.metrics.documentation"
    )


def test_every_source_is_listed() -> None:
    listed = DOCUMENT.read_text(encoding="utf-8").split("## Sources")[1].splitlines()
    named = {source for one in all_metrics() for source in (one.source or "").split("; ")}
    for source in named - {""}:
        author, year = source.split()[0].rstrip(","), source[-4:]
        assert any(author in line and year in line for line in listed), source
