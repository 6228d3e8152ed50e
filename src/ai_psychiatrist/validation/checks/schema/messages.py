"""Say in plain words what breaks a JSON Schema: stable words, without a value of the answer."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from jsonschema_rs import ValidationError, ValidationErrorKind

from ai_psychiatrist.validation.checks.verdict import PathPart, UnitError, json_path

MAX_ALTERNATIVES: Final = 5

_JSON_TYPES: Final = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
_TYPE_ORDER: Final = ("integer", "number", "string", "boolean", "array", "object", "null")


def json_type(value: object) -> str:
    """Return JSON Schema's name of a value's type."""
    return _JSON_TYPES.get(type(value), "unknown")


def expected_type(types: Sequence[str], value: object) -> str:
    """Return the message for a value of the wrong type, such as `expected integer, got string`."""
    wanted = sorted(types, key=_TYPE_ORDER.index)
    return f"expected {' or '.join(wanted)}, got {json_type(value)}"


def missing_field(name: str) -> str:
    """Return the message for a required field that is not there."""
    return f"the field {name!r} is missing"


def outside_of(count: int) -> str:
    """Return the message for a value that is not among so many allowed ones."""
    return f"is none of the {count} allowed values"


def unit_errors(error: ValidationError, value: object) -> Iterator[UnitError]:
    """Yield the errors of a value that one error of the engine stands for: one for each field."""
    parts = tuple(error.instance_path)
    keyword = _keyword(error)
    rule = f"schema_{keyword}"
    match error.kind:
        case ValidationErrorKind.Required(property=name):
            yield UnitError(parts=(*parts, name), rule=rule, message=missing_field(name))
        case _ if (unexpected := _unexpected_fields(error, keyword, value)) is not None:
            for name in unexpected:
                yield UnitError(parts=(*parts, name), rule=rule, message="this field is not known")
        case _:
            yield UnitError(parts=parts, rule=rule, message=_message(error, keyword, value))


_FORBIDDING: Final = {"additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems"}
_REFINED: Final = {"dependentRequired", "minContains", "maxContains"}


def _keyword(error: ValidationError) -> str:
    last = str(error.schema_path[-1]) if error.schema_path else ""
    if error.kind.name == "falseSchema":
        return last if last in _FORBIDDING else "false_schema"
    return last if last in _REFINED else error.kind.name


def _unexpected_fields(error: ValidationError, keyword: str, value: object) -> Sequence[str] | None:
    match error.kind:
        case (
            ValidationErrorKind.AdditionalProperties(unexpected=names)
            | ValidationErrorKind.UnevaluatedProperties(unexpected=names)
        ):
            return names
    if keyword not in {"additionalProperties", "unevaluatedProperties"}:
        return None
    # The engine names one value alone where the schema knows no field at all.
    for part in error.instance_path:
        value = value[part] if isinstance(value, (dict, list)) else None  # type: ignore[index]
    return list(value) if isinstance(value, dict) else None


def _message(error: ValidationError, keyword: str, value: object) -> str:
    kind = error.kind
    match kind:
        case ValidationErrorKind.Type(types=types):
            return expected_type(types, error.instance)
        case ValidationErrorKind.Format(format=name):
            return f"does not have the format {name!r}"
        case ValidationErrorKind.Enum(options=options):
            return outside_of(len(options))
        case ValidationErrorKind.AnyOf(context=branches):
            return _alternatives(error, branches, value)
        case ValidationErrorKind.OneOfNotValid(context=branches):
            return _alternatives(error, branches, value)
    return _limit_message(kind, keyword) or _FIXED.get(keyword, f"breaks the keyword {keyword!r}")


def _limit_message(kind: ValidationErrorKind, keyword: str) -> str | None:
    if keyword not in _LIMITED:
        return None
    limit = getattr(kind, _LIMIT_NAMES.get(keyword, "limit"))
    return _LIMITED[keyword].format(json.dumps(limit, default=str))


_LIMIT_NAMES: Final = {"multipleOf": "multiple_of"}
_LIMITED: Final = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "additionalItems": "must have at most {} items",
    "minProperties": "must have at least {} fields",
    "maxProperties": "must have at most {} fields",
}
_FIXED: Final = {
    "const": "is not the one allowed value",
    "contains": "has no item of the required form",
    "minContains": "has too few items of the required form",
    "maxContains": "has too many items of the counted form",
    "pattern": "does not have the required pattern",
    "uniqueItems": "must not have the same item twice",
    "not": "has a form that is not allowed",
    "oneOf": "fits more than one of the alternatives",
    "items": "this item is not allowed",
    "unevaluatedItems": "has more items than allowed",
    "false_schema": "is not allowed here",
    "propertyNames": "has a field whose name is not allowed",
    "$ref": "the schema's reference cannot be followed",
}


def _alternatives(
    error: ValidationError, branches: Sequence[Sequence[ValidationError]], value: object
) -> str:
    """Say what each branch wants, or join the types where no branch wants the value's type."""
    wrong_types = [_wrong_types(error, branch) for branch in branches]
    if all(wrong_types):
        return expected_type(list(dict.fromkeys(chain.from_iterable(wrong_types))), error.instance)
    wants = [
        _first(error, branch, value)
        for branch, wrong in zip(branches, wrong_types, strict=True)
        if branch and not wrong
    ]
    wants = list(dict.fromkeys(wants))[:MAX_ALTERNATIVES]
    return f"fits none of the {len(branches)} alternatives: {', or '.join(wants)}"


def _wrong_types(error: ValidationError, branch: Sequence[ValidationError]) -> list[str]:
    for found in branch:
        match found.kind:
            case ValidationErrorKind.Type(types=types) if (
                found.instance_path == error.instance_path
            ):
                return types
    return []


def _first(error: ValidationError, branch: Sequence[ValidationError], value: object) -> str:
    depth = len(error.instance_path)
    found = min(
        (unit for engine_error in branch for unit in unit_errors(engine_error, value)), key=sort_key
    )
    place = json_path(found.parts[depth:]).removeprefix("$").removeprefix(".")
    return f"{place} {found.message}" if place else found.message


def sort_key(error: UnitError) -> tuple[list[tuple[bool, int, str]], str, str]:
    """Return the order of errors: by place, positions as numbers, then by rule and message."""
    return [_part_key(part) for part in error.parts], error.rule, error.message


def _part_key(part: PathPart) -> tuple[bool, int, str]:
    return (False, part, "") if isinstance(part, int) else (True, 0, part)
