"""The OpenAPI document says everything: fields, examples, names, groups and problems."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.paths import is_open
from ai_psychiatrist.api.problems import PROBLEM_TYPE
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.problems import problem_kinds

ROOT = Path(__file__).parents[2]
PAGES = ("docs/http.md", "docs/interview.md")


@cache
def document() -> dict[str, Any]:
    return create_app(load_settings({}, None)).openapi()


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def fields() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in document()["components"]["schemas"].items():
        for field, said in schema.get("properties", {}).items():
            yield f"{name}.{field}", said


def test_every_field_has_words() -> None:
    found = list(fields())
    assert len(found) > 400
    # A field that is an object of ours is described where the object is.
    bare = [name for name, said in found if not said.get("description") and "$ref" not in str(said)]
    assert bare == []


def test_every_example_is_as_its_field_says() -> None:
    for name, said in fields():
        # Only what refers to others needs them; they take long to read.
        others = {"components": document()["components"]} if "$ref" in str(said) else {}
        validator = jsonschema_rs.validator_for({**said, **others})
        assert all(map(validator.is_valid, said.get("examples", ()))), name


def test_every_schema_and_parameter_has_words() -> None:
    schemas = document()["components"]["schemas"]
    assert [name for name, one in schemas.items() if not one.get("description")] == []
    parameters = [one for *_, said in operations() for one in said.get("parameters", ())]
    assert [one["name"] for one in parameters if not one.get("description")] == []


def test_operations_have_names_that_read_as_words_and_are_their_own() -> None:
    names = [said["operationId"] for *_, said in operations()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)+", name) for name in names), names
    assert {"assess_transcript", "read_interview", "check_liveness"} <= set(names)


def test_every_operation_is_in_a_group_that_is_described() -> None:
    told = {tag["name"]: tag["description"] for tag in document()["tags"]}
    assert {tag for *_, said in operations() for tag in said["tags"]} == told.keys()
    assert all(told.values())


def test_every_refusal_names_its_problems() -> None:
    for path, method, said in operations():
        for status, answer in said["responses"].items():
            assert answer["description"] not in ("", "Successful Response"), (path, method, status)
            if status >= "400":
                assert answer["x-problem-codes"], (path, method, status)


def test_every_problem_is_sent_somewhere_and_told() -> None:
    texts = {
        node.value
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert problem_kinds().keys() <= texts
    assert [one["type"] for one in document()["x-problems"]] == [
        PROBLEM_TYPE + code for code in problem_kinds()
    ]


def test_every_problem_is_in_the_documentation_with_its_status() -> None:
    rows = [
        row for page in PAGES for row in (ROOT / page).read_text("utf-8").splitlines() if "|" in row
    ]
    for code, kind in problem_kinds().items():
        told = [row for row in rows if f"`{code}`" in row]
        assert any(str(kind.status) in row.split("|")[1] for row in told), code


def test_every_operation_that_is_not_open_says_which_credential_it_needs() -> None:
    closed = [(path, said) for path, _, said in operations() if not is_open(path)]
    assert [path for path, said in closed if not said.get("security")] == []


def test_an_operation_says_which_scopes_it_needs() -> None:
    paths = document()["paths"]

    def scopes(path: str, method: str) -> set[tuple[str, ...]]:
        return {
            tuple(sorted(names))
            for one in paths[path][method]["security"]
            for names in one.values()
        }

    assert scopes("/v1/assessments", "post") == {("assess",)}
    assert scopes("/v1/assessments/{assessment_id}", "get") == {("read",), ("review",)}
    assert scopes("/v1/interviews/{interview_id}/reopen", "post") == {("assess", "read")}


def test_headers_that_are_read_and_sent_are_described() -> None:
    paths = document()["paths"]
    making, job = paths["/v1/assessments"]["post"], paths["/v1/jobs/{job_id}"]["get"]

    def sent(operation: dict[str, Any], status: str) -> set[str]:
        return set(operation["responses"][status].get("headers", ()))

    assert {"Prefer", "Idempotency-Key"} <= {one["name"] for one in making["parameters"]}
    assert "if-none-match" in {one["name"].lower() for one in job["parameters"]}
    assert sent(making, "201") == {"Location"}
    assert sent(making, "202") == {"Location", "Retry-After"}
    assert {"ETag", "Retry-After"} == sent(job, "200")
    assert sent(job, "303") == {"Location"}
    assert sent(job, "503") == {"Retry-After"}
    assert job["responses"]["303"]["content"] == job["responses"]["200"]["content"]
    assert {"405", "408", "415"} <= making["responses"].keys()
    assert "408" not in job["responses"]
