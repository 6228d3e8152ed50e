"""The OpenAPI document says everything: fields, examples, names, groups and problems."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.doors import is_open
from ai_psychiatrist.api.error_answers import _ANSWERS
from ai_psychiatrist.api.problem_kinds import PROBLEM_TYPE, problem_kinds
from ai_psychiatrist.api.reference.page import reference_page
from ai_psychiatrist.config import load_settings

ROOT = Path(__file__).parents[2]
API = ROOT / "src" / "ai_psychiatrist" / "api"
PAGES = ("docs/http.md", "docs/interview.md")
DOCUMENT = create_app(load_settings({}, None)).openapi()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
OPERATIONS = [
    (path, method, operation)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]


def fields() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in SCHEMAS.items():
        for field, said in schema.get("properties", {}).items():
            yield f"{name}.{field}", said


def test_every_field_has_words_and_an_example() -> None:
    found = list(fields())
    assert len(found) > 400
    assert [name for name, said in found if not said.get("description")] == []
    assert [name for name, said in found if not said.get("examples")] == []


def test_every_example_is_as_its_field_says() -> None:
    for name, said in fields():
        # Only what refers to others needs them; they take long to read.
        others = {"components": DOCUMENT["components"]} if "$ref" in str(said) else {}
        validator = jsonschema_rs.validator_for({**said, **others})
        assert all(map(validator.is_valid, said["examples"])), name


def test_every_schema_and_parameter_has_words() -> None:
    assert [name for name, schema in SCHEMAS.items() if not schema.get("description")] == []
    parameters = [one for *_, said in OPERATIONS for one in said.get("parameters", ())]
    assert [one["name"] for one in parameters if not one.get("description")] == []


def test_operations_have_names_that_read_as_words_and_are_their_own() -> None:
    names = [said["operationId"] for *_, said in OPERATIONS]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)+", name) for name in names), names
    assert {"assess_transcript", "read_interview", "check_liveness"} <= set(names)


def test_every_operation_is_in_a_group_that_is_described() -> None:
    told = {tag["name"]: tag["description"] for tag in DOCUMENT["tags"]}
    assert {tag for *_, said in OPERATIONS for tag in said["tags"]} == told.keys()
    assert all(told.values())


@pytest.mark.parametrize(
    ("path", "method", "said"), OPERATIONS, ids=[f"{one[1]} {one[0]}" for one in OPERATIONS]
)
def test_every_refusal_names_its_problems(path: str, method: str, said: dict[str, Any]) -> None:
    for status, answer in said["responses"].items():
        assert answer["description"] not in ("", "Successful Response"), (path, method, status)
        if status >= "400":
            assert answer["x-problem-codes"], (path, method, status)


def sent_problems() -> Iterator[tuple[int, str]]:
    """Yield status and code of every problem that the code of the interface makes."""
    yield from _ANSWERS.values()
    yield from ((404, "not_found"), (405, "method_not_allowed"))
    for path in API.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "problem":
                match node.args:
                    case [ast.Constant(int(status)), ast.Constant(str(code)), *_]:
                        yield status, code


def test_every_problem_that_is_sent_is_told() -> None:
    listed = [(kind.status, kind.code) for kind in problem_kinds()]
    assert len(listed) == len(set(listed))
    assert set(sent_problems()) == set(listed)
    assert [one["type"] for one in DOCUMENT["x-problems"]] == [
        PROBLEM_TYPE + kind.code for kind in problem_kinds()
    ]


def test_every_problem_is_in_the_documentation_with_its_status() -> None:
    rows = [
        row for page in PAGES for row in (ROOT / page).read_text("utf-8").splitlines() if "|" in row
    ]
    for kind in problem_kinds():
        told = [row for row in rows if f"`{kind.code}`" in row]
        assert any(str(kind.status) in row.split("|")[1] for row in told), kind.code


def test_the_page_escapes_whatever_the_document_says() -> None:
    evil = "<script>alert(1)</script>\"'&"
    operation = {
        "operationId": "x_y",
        "tags": [evil],
        "description": evil,
        "parameters": [
            {"name": evil, "in": "query", "description": evil, "schema": {"default": evil}}
        ],
        "responses": {"200": {"description": evil}},
    }
    schema = {"description": evil, "properties": {evil: {"type": "string", "examples": [evil]}}}
    document = {
        "info": {"title": evil, "version": evil, "description": evil},
        "paths": {f"/{evil}": {"get": operation}},
        "components": {"schemas": {"X": schema}},
    }
    page = reference_page(document).decode()
    assert "<script" not in page
    assert "alert(1)" in page


def test_the_page_shows_every_operation_field_and_problem() -> None:
    page = reference_page(DOCUMENT).decode()
    for path, _, said in OPERATIONS:
        assert f'<h3 id="{said["operationId"]}">' in page
        assert path in page
    for name, _ in fields():
        schema, _, field = name.partition(".")
        assert f'id="schema-{schema}"' in page
        assert f"<code>{field}</code>" in page
    for kind in problem_kinds():
        assert f'id="problem-{kind.status}-{kind.code}"' in page
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=", page)


def test_every_operation_that_is_not_open_says_which_credential_it_needs() -> None:
    closed = [(path, said) for path, _, said in OPERATIONS if not is_open(path)]
    assert [path for path, said in closed if not said.get("security")] == []


def test_a_form_of_a_session_may_have_fields_beside_ours() -> None:
    content = DOCUMENT["paths"]["/v1/session"]["post"]["requestBody"]["content"]
    forbids = {name: said["schema"]["additionalProperties"] for name, said in content.items()}
    assert forbids == {"application/json": False, "application/x-www-form-urlencoded": True}
