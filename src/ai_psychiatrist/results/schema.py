"""The JSON Schema of results, kept in a file for each of its versions."""

import json
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from ai_psychiatrist.domain.assessment import SCHEMA_VERSION, Assessment
from ai_psychiatrist.results.one_part import QualitativeResult, QuantitativeResult

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_WORDS: Final = frozenset({"title", "description", "examples", "readOnly"})
"""What a schema says of values without changing which there are."""


class ShapeChanged(Exception):
    """Results have another shape than the version that they name had."""


def kept_schema() -> str:
    """Return the schema of the version that results name now, as it is in its file."""
    folder = files("ai_psychiatrist.results") / "schemas"
    return (folder / _file_name()).read_text("utf-8")


def generated_schema() -> dict[str, object]:
    """Make the schema from the models: of a whole assessment, of its scores, of its narrative."""
    adapter: TypeAdapter[object] = TypeAdapter(Assessment | QuantitativeResult | QualitativeResult)
    return {"$schema": _DIALECT, **adapter.json_schema(mode="serialization")}


def shape_of(schema: object) -> object:
    """Return a schema without the words in it."""
    match schema:
        case Mapping():
            return {
                key: shape_of(value)
                for key, value in schema.items()
                if key not in _WORDS or not isinstance(value, str | list)
            }
        case list():
            return [shape_of(one) for one in schema]
        case _:
            return schema


def write_schema(schema: Mapping[str, object], folder: Path) -> None:
    """Write the schema of the version that results name now.

    Raises `ShapeChanged` when its file is there with another shape: that needs a new version.
    """
    path = folder / _file_name()
    if path.exists() and shape_of(json.loads(path.read_bytes())) != shape_of(schema):
        msg = f"results have another shape than {path.name}: count SCHEMA_VERSION up"
        raise ShapeChanged(msg)
    path.write_text(f"{json.dumps(schema, indent=2, ensure_ascii=False)}\n", encoding="utf-8")


def _file_name() -> str:
    return f"assessment-{SCHEMA_VERSION}.json"


if __name__ == "__main__":
    try:
        write_schema(generated_schema(), Path(__file__).parent / "schemas")
    except ShapeChanged as changed:
        sys.exit(str(changed))
