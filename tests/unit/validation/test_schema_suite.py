"""The public JSON Schema Test Suite for draft 2020-12."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.references import SchemaInvalid

ASSERTED: Final = "optional/format"
"""The folder of cases in which `format` is an assertion; in all others it is a comment."""
REFUSED: Final = {
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


def groups(public_data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    folder = public_data / "schema" / "draft2020-12"
    for path in sorted(folder.rglob("*.json")):
        for group in json.loads(path.read_bytes()):
            yield path.relative_to(folder).as_posix(), group


def test_every_case_of_the_suite_is_judged_as_the_suite_says(public_data: Path) -> None:
    judged, wrong, refused = 0, [], set()
    for name, group in groups(public_data):
        checks_formats = name.startswith(f"{ASSERTED}/")
        try:
            compiled = CompiledSchema(group["schema"], name=name, checks_formats=checks_formats)
        except SchemaInvalid as error:
            if "nothing is fetched" not in str(error):
                refused.add((name, group["description"]))
            continue
        for case in group["tests"]:
            judged += 1
            verdicts = compiled.is_valid(case["data"]), not compiled.errors(case["data"])
            if verdicts != (case["valid"], case["valid"]):
                wrong.append((name, group["description"], case["description"]))
    assert wrong == []
    assert judged >= 2100
    assert refused == REFUSED.keys()
