import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.pipeline_folder import changed, found, only, written

from ai_psychiatrist.validation.config.document import document_of
from ai_psychiatrist.validation.config.pipeline import lint_pipeline
from ai_psychiatrist.validation.config.problem import FilePosition, dotted
from ai_psychiatrist.validation.nearest import nearest


def test_a_file_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    assert only(tmp_path / "gone.yaml").code == "unreadable"
    assert only(tmp_path).code == "unreadable"


def test_anchors_and_merged_keys_are_read_as_if_written_out(tmp_path: Path) -> None:
    pipeline = changed("  retry:\n    max_attempts: 2\n", "  retry: &limits {max_attempts: 2}\n")
    merged = "  validation_retry: {<<: *limits, max_attempts: 5}\n"
    path = written(tmp_path, pipeline.replace("processing:\n", f"processing:\n{merged}"))
    assert found(path) == []


def test_values_keep_their_places() -> None:
    document = document_of(b"a:\n  - b: 'text'\n    c: \"x\\ty\"\n")
    assert document.problems == []
    assert document.value == {"a": [{"b": "text", "c": "x\ty"}]}
    mark = document.mark_at(("a", 0, "b"))
    assert (mark.key, mark.text) == (FilePosition(line=2, column=5), FilePosition(line=2, column=9))
    assert document.mark_at(("a", 0, "c")).text is None


@pytest.mark.parametrize(
    "value",
    ["!!bool perhaps", "!!int ''", "!!timestamp x", "2024-99-99", "!!binary x", "!!float x"],
)
def test_a_value_that_does_not_fit_its_tag_is_an_error_and_left_out(value: str) -> None:
    document = document_of(f"a: {value}\nb: 1\n".encode())
    assert document.value == {"b": 1}
    assert [problem.code for problem in document.problems] == ["value_type"]


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#\n \t<", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    document = document_of(text.encode())
    assert document.is_readable or document.problems


def test_keys_that_are_no_words_are_quoted_in_places() -> None:
    assert dotted(("validation", "a b", "rules", 0, "x\x1b")) == (
        'validation["a b"].rules[0]["x\\u001b"]'
    )


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        pytest.param("requird", {"required", "rules"}, "required", id="letter_left_out"),
        pytest.param("Required", {"required"}, "required", id="case"),
        pytest.param("card_3", {"card_1", "card_2"}, None, id="number_of_a_series"),
        pytest.param("weather", {"required"}, None, id="another_word"),
        pytest.param("required", {"required"}, None, id="the_name_itself"),
    ],
)
def test_the_nearest_name_is_the_one_that_was_meant(
    name: str, known: set[str], meant: str | None
) -> None:
    assert nearest(name, known) == meant


NUMBERS = {
    "sexagesimal": "1" + ":1" * 100_000,
    "sexagesimal fraction": "1" + ":1" * 100_000 + ".5",
    "underscores": "1" + "_0" * 100_000,
    "digits": "9" * 200_000,
    "hexadecimal": "0x" + "f" * 200_000,
    "tagged": "!!int '" + "1:" * 100_000 + "1'",
    "an hour of no day": "!!timestamp '" + "9" * 200_000 + "'",
}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS.keys())
def test_a_number_that_is_slow_to_read_is_refused_at_its_place(number: str, tmp_path: Path) -> None:
    path = written(tmp_path, changed("max_attempts: 2", f"max_attempts: {number}"))
    problems = [(found.code, found.line) for found in lint_pipeline(path)]
    assert ("value_type", 13) in problems


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 34)


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("pipeline.yaml", "unreadable"),
        ("schemas/rate.json", "schema_file"),
        ("templates/rate.jinja2", "template_file"),
    ],
)
@pytest.mark.parametrize(
    ("put", "said"),
    [
        (os.mkfifo, "it is no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "it is no regular file"),
        (_huge, "it is larger than"),
    ],
    ids=["pipe", "device", "huge"],
)
def test_what_is_no_file_of_a_pipeline_is_refused_at_once(
    tmp_path: Path, place: str, code: str, put: Callable[[Path], None], said: str
) -> None:
    path = written(tmp_path)
    (tmp_path / place).unlink()
    put(tmp_path / place)
    (problem,) = [found for found in lint_pipeline(path) if found.is_error]
    assert problem.code == code
    assert said in problem.message
