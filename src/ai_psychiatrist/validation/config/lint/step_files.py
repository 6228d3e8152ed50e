"""Read the files that a step names: its JSON Schema and its template."""

import json
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path
from typing import Final

from ai_psychiatrist.validation.checks.coercion.coercer import Coercer
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema, SchemaInvalid
from ai_psychiatrist.validation.config.given_file import FileUnusable, decoded, read_bounded
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.step import Schema

MOST_TEMPLATE_BYTES: Final = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """A step's schema as it was read."""

    path: Path
    content: bytes = field(repr=False)
    document: Schema = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFile:
    """A step's template as it was read."""

    path: Path
    text: str = field(repr=False)
    node: Node = field(repr=False)
    """Where the pipeline file names it."""


def read_schema(node: Node, folder: Path, *, checks_formats: bool) -> SchemaFile | None:
    """Read and compile the schema that `node` names; what is wrong is reported there."""
    name = node.text()
    if name is None:
        return None
    path = folder / name
    try:
        content = read_bounded(path)
        document = parse_json(content)
    except FileUnusable as error:
        shown = f"{folder.name}/{name}"
        node.error("schema_file", f"the schema {shown!r} cannot be used: {error}")
        return None
    if not isinstance(document, dict | bool):
        node.error("schema_invalid", f"the schema {name!r} is neither an object nor true or false")
        return None
    try:
        compiled = CompiledSchema(document, name=name)
        Coercer(compiled)
    except SchemaInvalid as error:
        node.error("schema_invalid", str(error))
        return None
    for unknown in sorted(compiled.unchecked_formats()) if checks_formats else ():
        message = f"{unknown!r} is no format of the standard: it is not checked"
        node.warn("unknown_format", message)
    return SchemaFile(path=path, content=content, document=document)


def parse_json(content: bytes) -> object:
    """Return what a file of JSON holds; raises `FileUnusable` for anything else."""
    try:
        return json.loads(
            decoded(content), object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant
        )
    except JSONDecodeError as error:
        msg = f"it is no JSON, line {error.lineno} column {error.colno}: {error.msg}"
        raise FileUnusable(msg) from None
    except RecursionError:
        msg = "it is nested too deeply"
        raise FileUnusable(msg) from None
    except ValueError:
        msg = "it holds a number of too many digits"
        raise FileUnusable(msg) from None


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


def read_template(node: Node, folder: Path) -> TemplateFile | None:
    """Read the template that `node` names; what is wrong is reported there."""
    name = node.text()
    if name is None:
        return None
    try:
        text = decoded(read_bounded(folder / name, most_bytes=MOST_TEMPLATE_BYTES))
    except FileUnusable as error:
        shown = f"{folder.name}/{name}"
        node.error("template_file", f"the template {shown!r} cannot be used: {error}")
        return None
    return TemplateFile(path=folder / name, text=text, node=node)
