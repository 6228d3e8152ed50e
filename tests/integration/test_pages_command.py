"""Pages by command: what is written, who can read it, and that nothing is said elsewhere."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.fakes.parsed_page import ParsedPage
from tests.integration.canary import CANARY, INTERVIEW, assert_files_silent, assert_silent
from tests.integration.command_here import run_here


@pytest.fixture
def interview(tmp_path: Path) -> Path:
    path = tmp_path / "interview.txt"
    path.write_text(INTERVIEW, encoding="utf-8")
    return path


def test_assess_writes_a_page_for_its_owner_alone(tmp_path: Path, interview: Path) -> None:
    page = tmp_path / "page.html"
    done = run_here(["assess", str(interview), "--json", "--html", str(page)], tmp_path)
    assert done.code == 0
    result = json.loads(done.out)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    shown = ParsedPage(page.read_text("utf-8"))
    assert [one.text for one in shown.of("title")] == ["PHQ-8 assessment: interview.txt"]
    quotes = [
        quote for item in result["quantitative"]["items"].values() for quote in item["evidence"]
    ]
    cards = [one.text for one in shown.of("blockquote")]
    assert all(quote["text"] in card for quote, card in zip(quotes, cards, strict=True))
    assert CANARY in page.read_text("utf-8")
    assert_silent(done.err)
    for path in (page, interview):
        path.unlink()
    assert_files_silent(tmp_path)


def test_page_of_standard_input_has_no_name(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run_here(["assess", "-", "--html", str(page)], tmp_path, stdin=INTERVIEW.encode("utf-8"))
    assert done.code == 0
    assert [one.text for one in ParsedPage(page.read_text("utf-8")).of("title")] == [
        "PHQ-8 assessment"
    ]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (".", "it is a folder; name a file"),
        ("no/such/folder.html", "its folder is not there"),
        ("-", "name a file; standard output has the result"),
        ("interview.txt", "this is the interview itself; name another file"),
        ("proof.json", "another option names this file; name another one"),
    ],
)
def test_page_that_cannot_be_written_costs_no_assessment(
    place: str, reason: str, tmp_path: Path, interview: Path
) -> None:
    done = run_here(
        ["assess", interview.name, "--html", place, "--certificate", "proof.json"], tmp_path
    )
    assert (done.code, done.out) == (2, "")
    assert f"error: --html: {reason}" in done.err
    assert interview.read_text("utf-8") == INTERVIEW
    assert sorted(path.name for path in tmp_path.iterdir()) == ["interview.txt"]


def test_folder_of_results_becomes_pages_and_a_table(tmp_path: Path, interview: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    done = run_here(["assess", str(interview), "--json"], tmp_path)
    for name in ("one", "two & <b>", "index"):
        (kept / f"{name}.json").write_text(done.out, encoding="utf-8")
        (kept / f"{name}.txt").write_text(INTERVIEW, encoding="utf-8")
    made = run_here(["pages", str(kept), "--out", "pages"], tmp_path)
    assert (made.code, made.out) == (0, "")
    assert_silent(made.err)
    pages = tmp_path / "pages"
    links = ParsedPage((pages / "index.html").read_text("utf-8")).of("a")
    assert [one.text for one in links] == ["index", "one", "two & <b>"]
    assert links[2].attributes["href"] == "sheets/two%20%26%20%3Cb%3E.html"
    written = [path for path in pages.rglob("*") if path.is_file()]
    assert len(written) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    assert stat.S_IMODE(pages.stat().st_mode) == 0o700
    assert len(ParsedPage((pages / "sheets" / "one.html").read_text("utf-8")).of("mark")) > 0
    assert CANARY not in (pages / "index.html").read_text("utf-8")


def test_what_cannot_be_shown_is_told_and_the_rest_is_written(
    tmp_path: Path, interview: Path
) -> None:
    kept, texts = tmp_path / "kept", tmp_path / "texts"
    kept.mkdir()
    texts.mkdir()
    done = run_here(["assess", str(interview), "--json"], tmp_path)
    for name in ("good", "other", "textless"):
        (kept / f"{name}.json").write_text(done.out, encoding="utf-8")
    (kept / "broken.json").write_text(f'{{"{CANARY}": 1}}', encoding="utf-8")
    (texts / "good.txt").write_text(INTERVIEW, encoding="utf-8")
    (texts / "other.txt").write_text(f"Participant: {CANARY} again", encoding="utf-8")
    made = run_here(["pages", "kept", "--texts", "texts", "--out", "pages"], tmp_path)
    assert made.code == 1
    no_result = "it holds no result; make one with `ai-psychiatrist assess FILE --json`"
    no_text = "it does not hold its transcript, and there is no textless.txt"
    assert made.err.splitlines()[:3] == [
        f"broken.json: {no_result}; it is left out",
        "other.json: other.txt is not the text that was assessed; its page has no transcript",
        f"textless.json: {no_text}; its page has no transcript",
    ]
    assert_silent(made.out, made.err)
    sheets = sorted(path.name for path in (tmp_path / "pages" / "sheets").iterdir())
    assert sheets == ["good.html", "other.html", "textless.html"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["pages", "none", "--out", "pages"], "FOLDER: the folder cannot be read"),
        (["pages", "empty", "--out", "pages"], "FOLDER: there is no NAME.json"),
        (["pages", "run", "--out", "pages"], "FOLDER: this is the folder of a run"),
        (["pages", "kept", "--out", "kept"], "--out: something is in it already"),
    ],
)
def test_folders_that_cannot_be_used_are_refused(
    arguments: list[str], error: str, tmp_path: Path
) -> None:
    for name, file in {"empty": "a.txt", "run": "predictions.jsonl", "kept": "a.json"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("{}", encoding="utf-8")
    done = run_here(arguments, tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"error: {error}" in done.err
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["a.json"]


def test_names_that_no_page_can_have_are_told_and_the_rest_is_written(
    tmp_path: Path, interview: Path
) -> None:
    done = run_here(["assess", str(interview), "--json"], tmp_path)
    kept = tmp_path / "kept"
    kept.mkdir()
    for name in ("Same", "same", "l" * 230, "..", "n\nl", os.fsdecode(b"a\xff")):
        (kept / f"{name}.json").write_text(done.out, encoding="utf-8")
        (kept / f"{name}.txt").write_text(INTERVIEW, encoding="utf-8")
    made = run_here(["pages", str(kept), "--out", "pages"], tmp_path)
    assert made.code == 1
    assert "Traceback" not in made.err
    assert "same.json: many systems take its name for that of Same.json" in made.err
    assert "its name is longer than 200 bytes; rename it; it is left out" in made.err
    assert "its name is no UTF-8; rename it; it is left out" in made.err
    sheets = tmp_path / "pages" / "sheets"
    assert sorted(path.name for path in sheets.iterdir()) == ["...html", "Same.html", "n\nl.html"]
    index = ParsedPage((tmp_path / "pages" / "index.html").read_text("utf-8"))
    links = [one.attributes.get("href") for one in index.of("a")]
    assert sorted(filter(None, links)) == [
        "sheets/...html",
        "sheets/Same.html",
        "sheets/n%0Al.html",
    ]


@pytest.mark.parametrize("turn", [-1, 10**6])
def test_a_result_whose_words_are_in_no_turn_has_a_page_without_transcript(
    turn: int, tmp_path: Path, interview: Path
) -> None:
    result = json.loads(run_here(["assess", str(interview), "--json"], tmp_path).out)
    result["transcript"]["turn_seconds"] = [1.0]
    for item in result["quantitative"]["items"].values():
        for quote in item["evidence"]:
            for part in quote["segments"]:
                part["turn"] = turn
    for sign in result["risk"]["signals"]:
        sign["turn"] = turn
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "one.json").write_text(json.dumps(result), encoding="utf-8")
    (kept / "one.txt").write_text(INTERVIEW, encoding="utf-8")
    made = run_here(["pages", str(kept), "--out", "pages"], tmp_path)
    assert made.code == 1
    assert "one.json: one.txt is not the text that was assessed" in made.err
    assert (tmp_path / "pages" / "sheets" / "one.html").is_file()
