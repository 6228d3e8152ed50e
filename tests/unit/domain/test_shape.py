"""No part of a result shows words, whatever text stands in it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pprint import pformat
from typing import Any, get_args, get_type_hints

import pytest
from pydantic import ValidationError
from rich.pretty import pretty_repr
from tests.fakes.shown_results import EXAMPLE, eventful_fields

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.shape import Shape, adapter_of
from ai_psychiatrist.results.one_part import qualitative_result, quantitative_result

WORDS = "marigold"
OF_THIS_PROGRAM = {"assessment_id", "sha256", "signed_by"}
"""Texts that are shown: ids, digests and keys."""


def shapes(of: type[Shape] = Shape) -> set[type[Shape]]:
    """Return all classes of parts."""
    below = of.__subclasses__()
    return set(below).union(*map(shapes, below))


OF_RESULTS = ("ai_psychiatrist.domain.", "ai_psychiatrist.results.")
NAMES = sorted({one.__name__ for one in shapes() if one.__module__.startswith(OF_RESULTS)})
NAMES.remove("Account")  # part of other classes, and nothing is one alone


def full_result() -> Assessment:
    """Return a result with every kind of part."""
    made = eventful_fields(EXAMPLE.read_text("utf-8"))
    made["quantitative"]["items"]["PHQ8_Sleep"]["belief"] = {
        "scores": [0.25, 0.25, 0.25, 0.25],
        "not_determinable": 0.0,
        "sources": ["rules"],
    }
    made["risk"]["reader"]["read_first"] = [{"turn": 1, "start": 2, "end": 3, "text": WORDS}]
    made["certificate"] = {"sha256": "5f", "signed_by": "6a", "text": WORDS}
    return Assessment.model_validate(made)


def with_words(value: Any) -> Any:
    """Return a value with words in place of each text, and where a text could be."""
    match value:
        case Enum():
            return value
        case str():
            return WORDS
        case Mapping():
            return {with_words(key): with_words(one) for key, one in value.items()}
        case tuple():
            return tuple(map(with_words, value))
        case _ if is_dataclass(value) and not isinstance(value, type):
            hints = get_type_hints(type(value))
            held = {
                one.name: getattr(value, one.name)
                for one in fields(value)
                if one.name not in OF_THIS_PROGRAM
            }
            texts = {
                name for name, one in held.items() if one is None and str in get_args(hints[name])
            }
            return replace(
                value, **{name: WORDS if name in texts else with_words(held[name]) for name in held}
            )
        case _:
            return value


def parts_of(value: object) -> Iterator[Shape]:
    """Yield all parts that a value has, itself first."""
    if isinstance(value, Shape):
        yield value
    if is_dataclass(value):
        for one in fields(value):
            yield from parts_of(getattr(value, one.name))
    elif isinstance(value, Mapping | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from parts_of(inner)


@pytest.fixture(scope="module")
def parts() -> Mapping[str, list[Shape]]:
    """Class → its parts of a full result, with words wherever they could be."""
    whole: Assessment = with_words(full_result())
    found = defaultdict(list)
    for result in (whole, quantitative_result(whole), qualitative_result(whole)):
        for part in parts_of(result):
            found[type(part).__name__].append(part)
    return found


def test_all_parts_of_answers_show_themselves_in_the_one_way_without_words() -> None:
    assert {one.__repr__ for one in shapes()} == {Shape.__repr__}


@pytest.mark.parametrize("name", NAMES)
def test_no_part_of_a_result_shows_words(name: str, parts: Mapping[str, list[Shape]]) -> None:
    assert parts[name]
    for part in parts[name]:
        for shown in (repr(part), str(part), f"{part}", pformat(part), pretty_repr(part)):
            assert shown.startswith(f"{name}(")
            assert WORDS not in shown


def test_what_is_left_out_of_json_makes_no_results_differ() -> None:
    result = full_result()
    assert Assessment.model_validate_json(result.model_dump_json()) == result
    assert result.quantitative is not None
    counted = replace(result.quantitative, grounding=result.grounding)
    assert replace(result, quantitative=counted) == result


@pytest.mark.parametrize(
    "level",
    [
        pytest.param("none", id="lower"),
        pytest.param("extreme", id="unknown"),
        pytest.param(None, id="null"),
    ],
)
def test_json_of_another_danger_than_its_signs_is_refused(level: str | None) -> None:
    made = full_result().model_dump()
    assert made["risk"]["level"] == "high"
    made["risk"]["level"] = level
    with pytest.raises(ValidationError, match="risk"):
        Assessment.model_validate(made)


def test_every_field_of_a_result_is_described() -> None:
    """By its own words, or by those of its type where they would be the same."""
    whole = adapter_of(Assessment).json_schema(mode="serialization")
    for schema in (whole, *(one for name, one in whole["$defs"].items() if name in NAMES)):
        for described in schema["properties"].values():
            assert {"description", "$ref"} & described.keys()
