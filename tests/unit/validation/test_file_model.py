"""Models of configuration files, and the places at which their errors are told."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, Strict

from ai_psychiatrist.validation.config.document import (
    MOST_PROBLEMS,
    Document,
    TooManyProblems,
    document_of,
    validate_model,
)
from ai_psychiatrist.validation.file_model import FileModel, Names, Number, Text, otherwise


class Rule(FileModel):
    name: Text
    level: Literal["error", "warning"] = "error"
    count: Annotated[int, Strict(), Field(ge=1)] = 1
    limit: Annotated[Number, otherwise("limit", "a limit is a number")] = 0


class Shared(FileModel):
    is_shared = True

    speed: Number = 1


class File(FileModel):
    rules: tuple[Rule, ...] = ()
    names: Names = ()
    blocks: dict[str, Rule] = Field(default_factory=dict)
    shared: Shared = Shared()


def read(text: str) -> tuple[Document, File | None]:
    document = document_of(text.encode())
    return document, validate_model(document, File)


@pytest.mark.parametrize(
    ("text", "place", "code", "says"),
    [
        pytest.param("rules: 5", "1:1 rules", "wrong_shape", "a list; found int", id="no_list"),
        pytest.param("rules: [5]", "1:9 rules[0]", "wrong_shape", "a mapping", id="no_mapping"),
        pytest.param("rules: [{}]", "1:9 rules[0]", "missing_key", "has no 'name'", id="missing"),
        pytest.param(
            "blocks:\n  a: {name: 5}", "2:7 blocks.a.name", "wrong_shape", "a text", id="no_text"
        ),
        pytest.param(
            "blocks: {a: {name: ' '}}", "1:14 blocks.a.name", "wrong_shape", "a text", id="blank"
        ),
        pytest.param(
            "rules: [{name: a, count: 0}]",
            "1:19 rules[0].count",
            "out_of_range",
            "1 or more",
            id="bound",
        ),
        pytest.param(
            "rules: [{name: a, count: true}]",
            "1:19 rules[0].count",
            "wrong_shape",
            "a whole number; found bool",
            id="true_is_no_number",
        ),
        pytest.param(
            "rules: [{name: a, level: eror}]",
            "1:19 rules[0].level",
            "unknown_choice",
            "error, warning; did you mean 'error'?",
            id="choice",
        ),
        pytest.param(
            "rules: [{name: a, limit: .inf}]",
            "1:19 rules[0].limit",
            "limit",
            "a limit is a number",
            id="own_words",
        ),
        pytest.param("names: [a, b, a]", "1:15 names[2]", "duplicate_name", "'a'", id="twice"),
        pytest.param("nams: [a]", "1:1 nams", "unknown_key", "did you mean 'names'", id="misspelt"),
        pytest.param("x: 1", "1:1 x", "unknown_key", "known are blocks, names", id="unknown"),
        pytest.param(
            "shared: {sped: 2}", "1:10 shared.sped", "unknown_key", "'speed'", id="misspelt_shared"
        ),
        pytest.param("rules: !!bool perhaps", "1:8 rules", "value_type", "type", id="unread"),
    ],
)
def test_an_error_of_a_model_has_its_place_and_our_words(
    text: str, place: str, code: str, says: str
) -> None:
    document, _ = read(text)
    (problem,) = document.problems
    assert f"{problem.line}:{problem.column} {problem.where}" == place
    assert (problem.level, problem.code) == ("error", code)
    assert says in problem.message


def test_a_key_of_another_program_is_a_warning_and_no_reason_to_refuse() -> None:
    document, file = read("shared: {colour: blue, speed: 3}")
    (problem,) = document.problems
    assert (problem.level, problem.code) == ("warning", "unknown_key")
    assert file is not None
    assert file.shared.speed == 3


def test_what_is_wrong_is_left_out_and_the_rest_is_there_at_its_own_places() -> None:
    document, file = read("rules:\n- {name: 5}\n- {name: a, level: x}\n- {nam: b}\n- {name: c}\n")
    assert file is not None
    assert [(rule.name, rule.level) for rule in file.rules] == [
        ("a", "error"),
        ("b", "error"),
        ("c", "error"),
    ]
    document.warn(("rules", 2, "name"), "seen", "a later check")
    assert [(one.line, one.where) for one in document.problems if one.code == "seen"] == [
        (5, "rules[3].name")
    ]
    document.warn(("rules", 1, "name"), "seen", "a later check")
    assert "rules[2].nam" in [one.where for one in document.problems if one.code == "seen"]


def test_a_column_inside_a_text_is_a_column_of_the_file() -> None:
    document, _ = read("names: ['a b c']\n")
    document.error(("names", 0), "here", "x", column=3)
    assert [(one.line, one.column) for one in document.problems] == [(1, 12)]


def test_a_file_of_another_shape_gives_no_model() -> None:
    document, file = read("[1, 2]")
    assert file is None
    assert [problem.code for problem in document.problems] == ["wrong_shape"]


def test_messages_never_repeat_a_value() -> None:
    text = "rules: [{name: [hush], level: hush, count: hush, limit: hush}]\nnames: {hush: 1}\n"
    document, _ = read(text)
    assert len(document.problems) == 5
    assert not [problem for problem in document.problems if "hush" in problem.message]


def test_the_problems_of_one_file_are_bounded() -> None:
    document = document_of(b"rules: [" + b"{}, " * (MOST_PROBLEMS + 1) + b"]")
    with pytest.raises(TooManyProblems):
        validate_model(document, File)
    assert document.problems[0].code == "too_many_problems"
    assert len(document.problems) == MOST_PROBLEMS + 1
