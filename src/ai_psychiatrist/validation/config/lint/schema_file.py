"""A step's JSON Schema: the file, and the fields and types that it says of an answer."""

import json
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path

from ai_psychiatrist.validation.checks.coercion.coercer import Coercer
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.references import SchemaInvalid
from ai_psychiatrist.validation.config.document import Document, with_line_feeds
from ai_psychiatrist.validation.config.given_file import FileUnusable, decoded, read_bounded
from ai_psychiatrist.validation.config.problem import KeyPath


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """A schema that compiles."""

    path: Path
    content: bytes = field(repr=False)
    compiled: CompiledSchema = field(repr=False)


def read_schema(
    document: Document, location: KeyPath, path: Path, *, checks_formats: bool
) -> SchemaFile | None:
    """Read and compile a schema; what is wrong is reported at `location`, which names it."""
    try:
        content = read_bounded(path)
        schema = parse_json(content)
    except FileUnusable as error:
        shown = f"{path.parent.name}/{path.name}"
        document.error(location, "schema_file", f"the schema {shown!r} cannot be used: {error}")
        return None
    if not isinstance(schema, dict | bool):
        message = f"the schema {path.name!r} is neither an object nor true or false"
        document.error(location, "schema_invalid", message)
        return None
    try:
        compiled = CompiledSchema(schema, name=path.name)
        Coercer(compiled)
    except SchemaInvalid as error:
        document.error(location, "schema_invalid", str(error))
        return None
    for unknown in sorted(compiled.unchecked_formats()) if checks_formats else ():
        message = f"{unknown!r} is no format of the standard: it is not checked"
        document.warn(location, "unknown_format", message)
    for warning in compiled.warnings:
        document.warn(location, "unknown_keyword", f"schema {path.name!r}: {warning}")
    return SchemaFile(
        path=path,
        content=with_line_feeds(content),
        compiled=compiled,
    )


def parse_json(content: bytes) -> object:
    """Return what a file of JSON holds; raises `FileUnusable` for anything else."""
    try:
        return json.loads(
            decoded(content), object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant
        )
    except JSONDecodeError as error:
        msg = f"it is no JSON, line {error.lineno} column {error.colno}: {error.msg}"
    except RecursionError:
        msg = "it is nested too deeply"
    except ValueError:
        msg = "it holds a number of too many digits"
    raise FileUnusable(msg)


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            msg = f"the key {key!r} stands twice in one object"
            raise FileUnusable(msg)
        found[key] = value
    return found


def _refuse_constant(name: str) -> object:
    msg = f"{name} is no JSON number"
    raise FileUnusable(msg)
