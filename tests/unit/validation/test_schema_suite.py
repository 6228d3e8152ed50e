"""The public JSON Schema Test Suite for draft 2020-12."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema, SchemaInvalid

REMOTE_HOST: Final = "http://localhost:1234/"
OTHER_DIALECTS: Final = ("v1", "draft3", "draft4", "draft6", "draft7", "draft2019-09")

ASSERTED: Final = "optional/format"
"""The folder of cases in which `format` is an assertion; in all others it is a comment."""
REFUSED: Final = {
    ("optional/cross-draft.json", "refs to historic drafts are processed as historic drafts"): (
        "another draft is refused when the schema is compiled"
    ),
    (
        "optional/format-assertion.json",
        "schema that uses custom metaschema with format-assertion: false",
    ): "a metaschema of one's own is refused",
    (
        "optional/format-assertion.json",
        "schema that uses custom metaschema with format-assertion: true",
    ): "a metaschema of one's own is refused",
    ("vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary"): (
        "a metaschema of one's own is refused"
    ),
    ("vocabulary.json", "ignore unrecognized optional vocabulary"): (
        "a metaschema of one's own is refused"
    ),
}
"""Groups whose schema this project does not take, by file and description, with the reason."""


@pytest.fixture(scope="module")
def resources(public_data: Path) -> dict[str, dict[str, object] | bool]:
    """The documents that the suite expects on its own host."""
    folder = public_data / "schema" / "remotes"
    return {
        REMOTE_HOST + path.relative_to(folder).as_posix(): json.loads(path.read_bytes())
        for path in sorted(folder.rglob("*.json"))
        if path.relative_to(folder).parts[0] not in OTHER_DIALECTS
    }


def groups(public_data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    folder = public_data / "schema" / "draft2020-12"
    for path in sorted(folder.rglob("*.json")):
        for group in json.loads(path.read_bytes()):
            yield path.relative_to(folder).as_posix(), group


def test_every_case_of_the_suite_is_judged_as_the_suite_says(
    public_data: Path, resources: dict[str, dict[str, object] | bool]
) -> None:
    judged, wrong = 0, []
    for name, group in groups(public_data):
        if (name, group["description"]) in REFUSED:
            continue
        compiled = CompiledSchema(
            group["schema"],
            name=name,
            resources=resources,
            checks_formats=name.startswith(f"{ASSERTED}/"),
        )
        for case in group["tests"]:
            judged += 1
            verdicts = compiled.is_valid(case["data"]), not compiled.errors(case["data"])
            if verdicts != (case["valid"], case["valid"]):
                wrong.append((name, group["description"], case["description"]))
    assert wrong == []
    assert judged >= 1400


def test_the_groups_that_are_left_out_are_refused_and_not_misjudged(
    public_data: Path, resources: dict[str, dict[str, object] | bool]
) -> None:
    refused = set()
    for name, group in groups(public_data):
        if (name, group["description"]) in REFUSED:
            with pytest.raises(SchemaInvalid):
                CompiledSchema(group["schema"], name=name, resources=resources)
            refused.add((name, group["description"]))
    assert refused == set(REFUSED)
