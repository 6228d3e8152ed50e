"""What the page about the interface shows, read from the OpenAPI document."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ai_psychiatrist.api.reference.kinds_of_values import KindPart, kind_of, limits_of

Json: TypeAlias = Mapping[str, Any]

_JSON_TYPE: Final = "application/json"
_EXAMPLE_HOST: Final = "http://127.0.0.1:8000"
_METHODS: Final = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a schema, or a parameter."""

    name: str
    place: str = ""
    """Where a parameter stands: path, query or header."""
    kind: tuple[KindPart, ...]
    limits: str
    is_required: bool
    description: str
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """An object with its fields, or a choice of words."""

    name: str
    description: str
    fields: tuple[Field, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What comes with a status."""

    status: str
    description: str
    media_types: tuple[str, ...]
    kind: tuple[KindPart, ...]
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method of a path."""

    id: str
    method: str
    path: str
    tag: str
    summary: str
    parameters: tuple[Field, ...]
    body: Schema | None
    media_types: tuple[str, ...]
    """Of the body."""
    example: str
    """Of the body, in JSON."""
    curl: str
    answers: tuple[Answer, ...]


def operations_of(document: Json) -> Iterator[Operation]:
    """Yield the operations in the order of the document."""
    (server, *_) = document.get("servers") or [{"url": ""}]
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield _operation(document, (method, path, server["url"]), methods[method])


def schemas_of(document: Json) -> Iterator[Schema]:
    """Yield all schemas by their names."""
    schemas: Json = document["components"]["schemas"]
    for name in sorted(schemas):
        yield _schema(name, schemas[name])


def _operation(document: Json, where: tuple[str, str, str], said: Json) -> Operation:
    method, path, server = where
    content: Json = said.get("requestBody", {}).get("content", {})
    name = content.get(_JSON_TYPE, {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
    schema = document["components"]["schemas"][name] if name else {}
    example = next(iter(schema.get("examples", ())), None)
    return Operation(
        id=said["operationId"],
        method=method.upper(),
        path=path,
        tag=next(iter(said.get("tags", ())), "other"),
        summary=said.get("description") or said.get("summary", ""),
        parameters=tuple(map(_parameter, said.get("parameters", ()))),
        body=_schema(name, schema) if name else None,
        media_types=tuple(sorted(content)),
        example="" if example is None else _json(example, indent=2),
        curl=_curl(method, server + path, example),
        answers=tuple(_answer(status, one) for status, one in sorted(said["responses"].items())),
    )


def _curl(method: str, path: str, example: object) -> str:
    address = shlex.quote(_EXAMPLE_HOST + path)
    if example is not None:
        body = shlex.quote(_json(example))
        return f"curl -s {address} \\\n  -H 'Content-Type: {_JSON_TYPE}' \\\n  -d {body}"
    return f"curl -s {'' if method == 'get' else f'-X {method.upper()} '}{address}"


def _answer(status: str, said: Json) -> Answer:
    content: Json = said.get("content", {})
    bodies: list[Json] = [*content.values(), {}]
    schema: Json = bodies[0].get("schema", {})
    return Answer(
        status=status,
        description=said.get("description", ""),
        media_types=tuple(content),
        kind=kind_of(schema) if schema else (),
        codes=tuple(said.get("x-problem-codes", ())),
    )


def _parameter(said: Json) -> Field:
    schema = said["schema"]
    return Field(
        name=said["name"],
        place=said["in"],
        kind=kind_of(schema),
        limits=limits_of(schema),
        is_required=said.get("required", False),
        description=said.get("description", ""),
        example=_example(said) or _example(schema),
    )


def _schema(name: str, said: Json) -> Schema:
    required = said.get("required", ())
    return Schema(
        name=name,
        description=said.get("description", ""),
        fields=tuple(
            Field(
                name=field,
                kind=kind_of(schema),
                limits=limits_of(schema),
                is_required=field in required,
                description=schema.get("description", ""),
                example=_example(schema),
            )
            for field, schema in said.get("properties", {}).items()
        ),
        words=tuple(map(str, said.get("enum", ()))),
    )


def _example(said: Json) -> str:
    examples = said.get("examples") or ()
    return _json(examples[0]) if examples else ""


def _json(value: object, *, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
