"""The command `export` for results: files, folders and runs, as fhir, csv and JSON lines."""

import csv
import io
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import jsonschema_rs
import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.domain.assessment import SCHEMA_VERSION
from tests.fakes.fhir_bundles import faults_of
from tests.fakes.full_results import EXAMPLE, example_result, result_with
from tests.integration.command import Finished
from tests.integration.command_here import run_here

WORDS = "I didn't enjoy it like I used to"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a result in it, and a folder of three."""
    (tmp_path / "one.json").write_text(example_result().model_dump_json(), "utf-8")
    folder = tmp_path / "results"
    folder.mkdir()
    for number, given in enumerate(([0] * 8, [3] * 8, None)):
        result = replace(result_with(given), assessment_id=f"a{number}")
        (folder / f"{number}.json").write_text(result.model_dump_json(), "utf-8")
    return tmp_path


def export(place: Path, *arguments: str) -> Finished:
    return run_here(["export", *arguments], place)


def rows_in(content: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content, newline="")))


def test_a_result_becomes_a_bundle_that_the_official_schema_takes(
    place: Path, public_data: Path
) -> None:
    done = export(place, "one.json", "--format", "fhir", "--questionnaire")
    assert done.code == 0, done.err
    schema = json.loads((public_data / "fhir" / "fhir_r4.schema.json").read_bytes())
    jsonschema_rs.validator_for(schema).validate(json.loads(done.out))


def test_a_bundle_of_a_file_is_the_same_each_time_and_holds_no_words(place: Path) -> None:
    first = export(place, "one.json", "--format", "fhir")
    assert first.code == 0, first.err
    assert first.out == export(place, "one.json", "--format", "fhir").out
    assert not faults_of(json.loads(first.out))
    assert WORDS not in first.out
    assert "nih:sha-256;" in first.out
    assert WORDS in export(place, "one.json", "--format", "fhir", "--with-words").out


def test_a_folder_becomes_one_bundle_a_line(place: Path) -> None:
    done = export(place, "results", "--format", "fhir")
    bundles = [json.loads(line) for line in done.out.splitlines()]
    assert [bundle["identifier"]["value"] for bundle in bundles] == ["a0", "a1", "a2"]
    assert [faults_of(bundle) for bundle in bundles] == [[]] * 3


def test_a_folder_becomes_a_table_of_assessments_or_of_items(place: Path) -> None:
    totals = rows_in(export(place, "results", "--format", "csv").out)
    assert [row["total"] for row in totals] == ["0", "24", ""]
    items = rows_in(export(place, "results", "--format", "csv", "--rows", "items").out)
    assert len(items) == 24
    lines = export(place, "results", "--format", "jsonl", "--rows", "items").out.splitlines()
    assert [json.loads(line)["score"] for line in lines] == [0] * 8 + [3] * 8 + [None] * 8


@pytest.mark.parametrize(
    ("rows", "with_words"), [("results", False), ("items", False), ("items", True)]
)
def test_a_table_in_python_has_the_rows_of_the_command(
    place: Path, *, rows: Literal["results", "items"], with_words: bool
) -> None:
    words = ["--with-words"] if with_words else []
    done = export(place, "results", "--format", "jsonl", "--rows", rows, *words)
    files = sorted((place / "results").iterdir())
    results = [ap.Assessment.model_validate_json(file.read_bytes()) for file in files]
    found = ap.table(results, rows, with_words=with_words)
    assert json.loads(json.dumps(found)) == [json.loads(line) for line in done.out.splitlines()]


def test_a_table_of_other_rows_is_refused() -> None:
    with pytest.raises(ap.InputError, match="results or items"):
        ap.table([], "turns")  # type: ignore[arg-type]
    with pytest.raises(ap.InputError, match="rows='items'"):
        ap.table([], with_words=True)


def test_a_file_that_is_written_is_its_owners_alone(place: Path) -> None:
    done = export(place, "one.json", "--format", "csv", "--out", "table.csv")
    assert (done.code, done.out) == (0, "")
    assert stat.S_IMODE((place / "table.csv").stat().st_mode) == 0o600
    assert len(rows_in((place / "table.csv").read_text("utf-8"))) == 1


def test_a_run_becomes_tables(tmp_path: Path) -> None:
    folder = tmp_path / "interviews"
    folder.mkdir()
    (folder / "one.txt").write_bytes(EXAMPLE.read_bytes())
    made = run_here(["evaluate", "run", "interviews", "--out", "run"], tmp_path)
    assert made.code == 0, made.err
    (row,) = rows_in(export(tmp_path, "run", "--format", "csv").out)
    assert (row["total_min"], row["total_max"], row["models"]) == ("8", "14", '["baseline"]')
    items = rows_in(export(tmp_path, "run", "--format", "csv", "--rows", "items").out)
    of_file = run_here(["assess", "interviews/one.txt", "--json"], tmp_path)
    (tmp_path / "one.json").write_text(of_file.out, "utf-8")
    same = rows_in(export(tmp_path, "one.json", "--format", "csv", "--rows", "items").out)
    compared = ("item", "score", "unknown_reason", "confidence", "frequency", "evidence")
    assert [[one[name] for name in compared] for one in items] == [
        [one[name] for name in compared] for one in same
    ]


def earlier_version(place: Path) -> None:
    found = json.loads((place / "one.json").read_bytes())
    (place / "one.json").write_text(json.dumps(found | {"schema_version": "1"}), "utf-8")


def no_json(place: Path) -> None:
    (place / "one.json").write_text("quillaya", "utf-8")


def a_part(place: Path) -> None:
    part = {"schema_version": SCHEMA_VERSION, "items": {}}
    (place / "one.json").write_text(json.dumps(part), "utf-8")


def a_wrong_type(place: Path) -> None:
    found = json.loads((place / "one.json").read_bytes())
    found["quantitative"]["items"]["PHQ8_Sleep"]["score"] = "quillaya"
    (place / "one.json").write_text(json.dumps(found), "utf-8")


def nothing(_: Path) -> None:
    pass


Change = Callable[[Path], None]
REFUSED: dict[str, tuple[Change, list[str], list[str]]] = {
    "an earlier version": (
        earlier_version,
        ["one.json"],
        ["one.json", "schema_version", repr(SCHEMA_VERSION)],
    ),
    "no JSON": (no_json, ["one.json"], ["one.json", "no JSON", "assess FILE --json"]),
    "a part": (a_part, ["one.json"], ["one.json", "whole", "assess FILE --json"]),
    "a wrong type": (a_wrong_type, ["one.json"], ["one.json", "quantitative", "assess FILE"]),
    "no file": (nothing, ["none.json"], ["none.json", "No such file"]),
    "rows of a bundle": (nothing, ["one.json", "--rows", "items"], ["--rows"]),
    "a subject that is none": (
        nothing,
        ["one.json", "--subject", "Anna"],
        ["--subject", "Patient/"],
    ),
    "a subject of many": (nothing, ["results", "--subject", "Patient/1"], ["--subject", "folder"]),
    "steps": (nothing, ["one.json", "--step", "score"], ["--step", "leave out --format"]),
    "no folder": (nothing, ["one.json", "--out", "none/a.json"], ["--out", "make it first"]),
    "a folder": (nothing, ["one.json", "--out", "results"], ["--out", "name a file"]),
    "itself": (nothing, ["one.json", "--out", "one.json"], ["--out", "another file"]),
}


@pytest.mark.parametrize(("change", "arguments", "named"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_exported_is_refused_with_file_and_cure(
    place: Path, change: Change, arguments: list[str], named: list[str]
) -> None:
    change(place)
    done = export(place, *arguments, "--format", "fhir")
    assert (done.code, done.out) == (2, "")
    assert not [word for word in named if word not in done.err], done.err
    assert "quillaya" not in done.err


@pytest.mark.parametrize(
    "arguments",
    [["--rows", "items"], ["--with-words"], ["--questionnaire"], ["--subject", "Patient/1"]],
)
def test_options_of_results_ask_for_a_format(place: Path, arguments: list[str]) -> None:
    done = export(place, "one.json", *arguments)
    assert done.code == 2
    assert "add --format" in done.err


def test_a_result_that_cannot_be_read_leaves_no_half_of_a_table(place: Path) -> None:
    (place / "results" / "1.json").write_text("quillaya", "utf-8")
    done = export(place, "results", "--format", "csv", "--out", "table.csv")
    assert done.code == 2
    assert "1.json" in done.err
    assert [path.name for path in place.iterdir() if "table" in path.name] == []


def test_the_same_assessment_twice_is_refused(place: Path) -> None:
    copied = place / "results" / "copy.json"
    copied.write_bytes((place / "results" / "1.json").read_bytes())
    for arguments in (["csv"], ["jsonl", "--rows", "items"], ["fhir"]):
        done = export(place, "results", "--format", *arguments, "--out", "all")
        assert done.code == 2
        assert "copy.json: it is the same assessment as 1.json; take one of them away" in done.err
        assert not (place / "all").exists()


def test_an_empty_folder_is_no_table(place: Path) -> None:
    (place / "empty").mkdir()
    done = export(place, "empty", "--format", "csv")
    assert (done.code, done.out) == (2, "")
    assert "assess FILE --json" in done.err
