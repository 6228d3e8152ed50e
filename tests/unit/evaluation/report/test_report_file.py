"""The report as a file: self-contained, escaped, accessible, and there for every kind of run."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from tests.unit.evaluation.metrics.built import labels, metrics, random_run, unit
from tests.unit.evaluation.report.built_report import (
    RECORD,
    TIMED_OUT,
    attempt,
    provenance,
    report_text,
)

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.evaluation.metrics.compute import compare_metrics
from ai_psychiatrist.evaluation.report.figure_rows import differences_of
from ai_psychiatrist.evaluation.report.write import write_report
from ai_psychiatrist.evaluation.scores.prediction import failed_prediction


class _Outline(HTMLParser):
    """Checks that tags close in order, and keeps what the tests ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def _outline(text: str) -> _Outline:
    outline = _Outline()
    outline.feed(text)
    outline.close()
    assert outline.open == []
    return outline


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a run with labels, failures and calls."""
    predictions, known = random_run(12, seed=1)
    rejected = attempt(code=RejectionCode.NO_JSON)
    failing = unit("x", [None] * 8, attempts=(rejected, attempt()), failures=(TIMED_OUT,))
    return report_text(tmp_path_factory.mktemp("run"), [*predictions, failing], known)


def test_needs_nothing_from_anywhere(labelled: str) -> None:
    """No script, no other file, no address: links lead to places on the page only."""
    outline = _outline(labelled)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in outline.tags}
    assert all(str(link["href"]).startswith("#") for link in outline.all("a"))
    assert not re.search(r"https?://|url\(|@import|@font-face", labelled)
    assert "default-src 'none'" in labelled


def test_links_lead_to_sections(labelled: str) -> None:
    outline = _outline(labelled)
    anchors = {section.get("id") for section in outline.all("section")}
    links = [str(link["href"])[1:] for link in outline.all("a")]
    assert links
    assert set(links) <= anchors


def test_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    predictions, known = random_run(5, seed=2)
    assert report_text(tmp_path, predictions, known) == report_text(tmp_path, predictions, known)


def test_every_drawing_has_words(labelled: str) -> None:
    drawings = _outline(labelled).all("svg")
    assert len(drawings) > 40
    for drawing in drawings:
        assert drawing.get("aria-hidden") == "true" or (
            drawing.get("role") == "img" and drawing.get("aria-label")
        )


def test_headings_and_tables_are_in_order(labelled: str) -> None:
    outline = _outline(labelled)
    levels = [int(tag[1]) for tag, _ in outline.tags if tag in {"h1", "h2", "h3"}]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all("scope" in header for header in outline.all("th"))


def test_words_stand_out_from_the_paper(labelled: str) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
    blocks = re.findall(r":root \{(.*?)\}", labelled, re.DOTALL)
    palettes = [dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in blocks]
    for scheme, palette in zip(("light", "dark", "print"), palettes, strict=True):
        chosen = palettes[0] | palette
        for ink in ("ink", "soft", "accent", "warn"):
            lights = sorted((_luminance(chosen["paper"]), _luminance(chosen[ink])))
            assert (lights[1] + 0.05) / (lights[0] + 0.05) >= 4.5, (scheme, ink)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_names_from_outside_do_not_act(tmp_path: Path) -> None:
    """Unit ids, model names, stages and settings are shown and never obeyed."""
    hostile = "<script>alert(1)</script>\"' onload=x {{ 7 * 7 }}"
    failure = TIMED_OUT.__class__(category=TIMED_OUT.category, stage=hostile, code=TIMED_OUT.code)
    odd = unit(hostile, [1] * 8, attempts=(attempt(model=hostile),), failures=(failure,))
    source = {**RECORD, "dataset": {"name": hostile}, hostile: {hostile: [hostile]}}
    text = report_text(tmp_path, [odd], {}, record=source)
    outline = _outline(text)
    assert not outline.all("script")
    assert not any("onload" in attributes for _, attributes in outline.tags)
    assert "{{ 7 * 7 }}" in outline.text
    assert text.count("&lt;script&gt;") >= 4


def test_a_lone_surrogate_in_a_name_is_replaced(tmp_path: Path) -> None:
    source = {**RECORD, "mode": "zero\ud800shot"}
    assert "zero?shot" in report_text(tmp_path, [unit("a", [0] * 8)], {}, record=source)


@pytest.mark.parametrize("units", [0, 1, 3])
def test_without_labels_only_what_needs_none_is_there(tmp_path: Path, units: int) -> None:
    predictions = [unit(str(number), [1, None] * 4) for number in range(units)]
    outline = _outline(report_text(tmp_path, predictions, {}))
    anchors = {section["id"] for section in outline.all("section")}
    assert {"coverage", "evidence", "failures", "cost", "provenance"} <= anchors
    assert not {"figures", "risk-coverage", "items", "severities"} & anchors
    assert ("None of them has a label" in outline.text) == (units > 0)


def test_one_labelled_unit_is_no_ground_for_an_interval(tmp_path: Path) -> None:
    text = report_text(tmp_path, [unit("a", [1] * 8)], {"a": labels([1] * 8)})
    assert "Only 1 labelled participant, and intervals need 10" in _outline(text).text


def test_a_run_without_a_score_says_so(tmp_path: Path) -> None:
    predictions = [failed_prediction(name, TIMED_OUT) for name in "abc"]
    known = {name: labels([1] * 8) for name in "abc"}
    shown = _outline(report_text(tmp_path, predictions, known)).text
    assert "No item of any conversation was scored" in shown
    assert "not defined: no item has both a label and a score" in shown
    assert "In more than 5 % of the units: agent failed in scoring (timed out), 100 %" in shown
    assert "nan" not in shown.lower().split()


def test_cost_is_counted_by_agent_and_model_and_missing_tokens_are_not_zero(
    tmp_path: Path,
) -> None:
    calls = (attempt(), attempt(model="second:model"), attempt())
    first, second = report_text(tmp_path, [unit("a", [1] * 8, attempts=calls)], {}).split(
        '<td class="code">'
    )[1:3]
    assert first.startswith('first:model</td><td class="n">2</td>')
    assert '<td class="n">2\u202f400</td><td class="n">not reported</td>' in first
    assert second.startswith('second:model</td><td class="n">1</td>')


@pytest.mark.parametrize("concerns", [None, False])
def test_evidence_is_called_false_where_the_subject_is_another(
    tmp_path: Path, concerns: bool | None
) -> None:
    record = {"dataset": {"concerns_depression": concerns}}
    text = report_text(tmp_path, [unit("a", [1] * 8)], {}, record=record)
    assert ("<h2>False evidence</h2>" in text) is (concerns is False)
    assert ("<h2>Evidence found</h2>" in text) is (concerns is None)


def test_size_does_not_grow_with_the_number_of_units(tmp_path: Path) -> None:
    one = unit("a", [1] * 8)
    many = [replace(one, unit_id=f"{number:05}") for number in range(10_000)]
    out = tmp_path / "report.html"
    write_report(out, metrics=metrics([one], {}), provenance=provenance(many))
    text = out.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert "9\u202f940 more are in the predictions file" in text


def test_another_run_is_shown_beside_this_one(tmp_path: Path) -> None:
    first, known = random_run(12, seed=1)
    second, _ = random_run(11, seed=3)
    found = compare_metrics(first, second, known, resamples=50)
    others = [
        (differences_of(found, first="one", second=name), found.unit_changes)
        for name in ("two", "three")
    ]
    shown = _outline(report_text(tmp_path, first, known, differences=others)).text
    assert "First: one. Second: two." in shown
    assert "First: one. Second: three." in shown
    assert "over the 11 units that are in both runs" in shown
    assert "Labelled units with a smaller error in the second: " in shown
    assert "1 only in the first, 0 only in the second" in shown
    assert "Mean error at matched coverage" in shown


def test_units_with_the_largest_errors_are_named_with_score_and_label(tmp_path: Path) -> None:
    predictions = [unit("a", [1] * 8), unit("b", [0, None, *[1] * 6]), unit("c", [1] * 8)]
    known = {"a": labels([1] * 8), "b": labels([3] + [1] * 7), "c": labels([2] + [1] * 7)}
    shown = _outline(report_text(tmp_path, predictions, known)).text
    assert "b66–910Interest or pleasure 0 / 3Low mood" in shown
    assert "c189Interest or pleasure 1 / 2–" in shown


def test_no_unit_is_named_where_the_report_is_shared(tmp_path: Path) -> None:
    first, known = random_run(12, seed=1)
    danger = replace(first[0], signs_to_read=1)
    found = compare_metrics(first, random_run(12, seed=3)[0], known, resamples=50)
    others = [(differences_of(found, first="one", second="two"), found.unit_changes)]
    texts = [
        report_text(tmp_path, [danger, *first[1:]], known, differences=others, names_units=names)
        for names in (True, False)
    ]
    assert [any(one.unit_id in text for one in first) for text in texts] == [True, False]
    assert "A person has to read 1 interview with affirmed" in texts[1]


def test_says_that_it_is_no_medical_device_and_where_it_comes_from(labelled: str) -> None:
    shown = _outline(labelled).text
    assert "Not a medical device" in shown
    assert "first:model, second:model" in shown
    assert "ab" * 32 in shown
    assert "0123456789ab" in shown
    assert "c0ffee" * 6 in shown


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    out = tmp_path / "nowhere" / "report.html"
    with pytest.raises(InputError, match=r"report\.html cannot be written") as refused:
        write_report(out, metrics=metrics([], {}), provenance=provenance())
    assert refused.value.field == "--out"
