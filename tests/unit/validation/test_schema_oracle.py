"""The engine against a second, independent one: the same verdicts, places and keywords."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from tests.unit.validation.schema_strategies import answers, schemas

from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.verdict import PathPart

Finding = tuple[tuple[PathPart, ...], str]

PARENT_NAMED = {"required", "dependentRequired", "additionalProperties", "unevaluatedProperties"}
"""Our errors name the field; the oracle's name the object that lacks it or should not have it."""
COARSER = {"minContains": "contains", "maxContains": "contains"}
"""The oracle counts these as one keyword."""


def ours(schema: dict[str, Any], value: object) -> set[Finding]:
    """Return our findings in the oracle's manner."""
    found = set()
    for error in CompiledSchema(schema, name="drawn").errors(value):
        keyword = error.rule.removeprefix("schema_")
        parts = error.parts[:-1] if keyword in PARENT_NAMED else error.parts
        found.add(_comparable(parts, COARSER.get(keyword, keyword)))
    return found


def oracles(schema: dict[str, Any], value: object) -> set[Finding]:
    """Return the oracle's findings in its own manner, each once."""
    found = set()
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        keyword = "propertyNames" if "propertyNames" in error.schema_path else error.validator
        found.add(_comparable(tuple(error.absolute_path), keyword or "false_schema"))
    return found


def _comparable(parts: tuple[PathPart, ...], keyword: str) -> Finding:
    # For a list `items: false` is one error to the oracle and one for each item to us; for fields
    # that a boolean schema forbids, the oracle names the field or the keyword that forbids it.
    if keyword in {"items", "false_schema", "additionalProperties"}:
        return parts[:0], "forbidden"
    return parts, keyword


@given(schema=schemas(), value=answers())
def test_both_engines_find_the_same_faults_in_the_same_places(
    schema: dict[str, Any], value: dict[str, Any]
) -> None:
    expected = oracles(schema, value)
    assert CompiledSchema(schema, name="drawn").is_valid(value) is not bool(expected)
    assert ours(schema, value) == expected


def test_decimal_multiples_are_judged_as_decimals_and_not_as_binary_fractions() -> None:
    assert ours({"multipleOf": 0.1}, 0.3) == set()
    assert oracles({"multipleOf": 0.1}, 0.3) == {((), "multipleOf")}


def test_patterns_may_name_classes_of_characters_that_the_oracle_cannot_read() -> None:
    schema = {"pattern": r"^\p{L}+$"}
    assert ours(schema, "été") == set()
    assert ours(schema, "1") == {((), "pattern")}
    with pytest.raises(Exception, match="bad escape"):
        oracles(schema, "1")


def test_nan_is_no_number_here_and_one_for_the_oracle() -> None:
    assert ours({"type": "number"}, float("nan")) == {((), "type")}
    assert oracles({"type": "number"}, float("nan")) == set()
