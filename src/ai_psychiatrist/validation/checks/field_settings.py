"""What a block says of single fields, as a pipeline file writes it."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, TypeAdapter

from ai_psychiatrist.validation.checks.coercion.coercer import STRICT, CoercionProfile
from ai_psychiatrist.validation.checks.fields.specs import RangeRule
from ai_psychiatrist.validation.file_model import FileModel, Names, Number, Text, invalid, otherwise
from ai_psychiatrist.validation.nearest import did_you_mean

_TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")
_OTHER_TYPE_NAMES: Final = {
    "int": "integer",
    "float": "number",
    "double": "number",
    "str": "string",
    "text": "string",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
    "none": "null",
}


def _types(given: object) -> tuple[str, ...]:
    """Read one type, several with `|` between them, or a list."""
    listed = [name.strip() for name in given.split("|")] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not listed:
        raise invalid("unknown_type", f"a type is one of {', '.join(_TYPES)}, or a list of them")
    # An unquoted null in a list is YAML's null, and plainly means the type.
    names = ["null" if name is None else name for name in listed]
    unknown = [_about_type(name) for name in names if name not in _TYPES]
    if unknown:
        raise invalid("unknown_type", "; ".join(unknown))
    return tuple(dict.fromkeys(str(name) for name in names))


def _about_type(name: object) -> str:
    known = f"types are {', '.join(_TYPES)}"
    if not isinstance(name, str):
        return f"a type is written as its name; {known}"
    usual = _OTHER_TYPE_NAMES.get(name.casefold())
    meant = f"; did you mean {usual!r}?" if usual else did_you_mean(name, _TYPES)
    return f"{name!r} is no type{meant or '; ' + known}"


class _Bounds(FileModel):
    min: Number | None = None
    max: Number | None = None
    exclusive_min: Number | None = None
    exclusive_max: Number | None = None


_PAIR: Final = TypeAdapter(tuple[Number | None, Number | None])


def _range(given: object) -> RangeRule:
    """Read `[low, high]` with null for an open end, or a mapping."""
    match given:
        case RangeRule():
            rule = given
        case [_, _]:
            low, high = _PAIR.validate_python(given)
            rule = RangeRule(low=low, high=high)
        case dict():
            rule = _range_of(_Bounds.model_validate(given))
        case _:
            raise invalid(
                "range_shape", "a range is `[low, high]`, null for an open end, or a mapping"
            )
    if rule.low is None and rule.high is None:
        raise invalid("empty_range", "a range open at both ends checks nothing")
    if rule.is_empty:
        raise invalid("empty_range", f"no number lies between {rule.low} and {rule.high}")
    return rule


def _range_of(bounds: _Bounds) -> RangeRule:
    for plain in ("min", "max"):
        if {plain, f"exclusive_{plain}"} <= bounds.model_fields_set:
            raise invalid("range_shape", f"give {plain!r} or 'exclusive_{plain}', not both")
    return RangeRule(
        low=bounds.min if bounds.exclusive_min is None else bounds.exclusive_min,
        high=bounds.max if bounds.exclusive_max is None else bounds.exclusive_max,
        is_low_open=bounds.exclusive_min is not None,
        is_high_open=bounds.exclusive_max is not None,
    )


class _Coercion(FileModel):
    profile: Annotated[
        Literal["strict", "default"],
        otherwise("coerce_profile", "`profile` is 'strict' or 'default'"),
    ] = "default"
    enum_prefixes: Names = ()
    enum_split: Text | None = None


def _profile(given: object) -> CoercionProfile:
    if isinstance(given, CoercionProfile):
        return given
    read = _Coercion.model_validate(given)
    if read.profile == "default":
        return CoercionProfile(enum_prefixes=read.enum_prefixes, enum_split=read.enum_split)
    if read.enum_prefixes or read.enum_split is not None:
        raise invalid("coerce_profile", "the strict profile coerces nothing: it has no settings")
    return STRICT


FieldTypes: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_types)]
FieldRange: TypeAlias = Annotated[RangeRule, BeforeValidator(_range)]
Coercion: TypeAlias = Annotated[CoercionProfile, BeforeValidator(_profile)]
