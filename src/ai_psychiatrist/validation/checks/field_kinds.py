"""The kinds of checks of single fields: how a file writes each, what passes it, and its schema.

A further kind is a class here and a line in `FieldRules`.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import (
    Field,
    RootModel,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ai_psychiatrist.validation.checks.coercion.choices import Choice, Choices, CoercionProfile
from ai_psychiatrist.validation.checks.coercion.text_values import (
    MAX_WHOLE,
    number_of,
    whole_number_of,
    whole_of_float,
)
from ai_psychiatrist.validation.checks.schema.messages import expected_type, json_type, outside_of
from ai_psychiatrist.validation.file_model import FileModel, Names, Number, invalid, otherwise
from ai_psychiatrist.validation.nearest import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTerms:
    """What is known of a field beside a check of it."""

    types: frozenset[str]
    """The types that both the rule block and the schema allow."""
    named_types: frozenset[str]
    """The same where one of them says something, none where nothing is said."""
    lists_values: bool
    """Whether the schema lists the allowed values: then their spelling is the schema's."""
    profile: CoercionProfile


class FieldCheck(NamedTuple):
    """A check of one field's values, ready to run."""

    rule: str
    """Under which its errors are recorded."""
    problem: Callable[[object], str | None]
    """Says what a value breaks."""
    schema: dict[str, object]
    """JSON Schema; a value that fits it breaks nothing and is not read, any other may."""
    reading: Callable[[str], Choice | None] | None = None
    """Returns as what a text is read: a spelling or a number."""


class TypeRule(RootModel[tuple[str, ...]]):
    """JSON types, any of which will do: one, several with `|` between them, or a list."""

    conflict: ClassVar = ("type_conflict", "no answer is both")

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: object) -> object:
        listed = [name.strip() for name in given.split("|")] if isinstance(given, str) else given
        if not isinstance(listed, list | tuple) or not listed:
            raise invalid(
                "unknown_type", f"a type is one of {', '.join(_TYPES)}, or a list of them"
            )
        # An unquoted null in a list is YAML's null, and plainly means the type.
        names = ["null" if name is None else name for name in listed]
        unknown = [_about_type(name) for name in names if name not in _TYPES]
        if unknown:
            raise invalid("unknown_type", "; ".join(unknown))
        return tuple(dict.fromkeys(names))

    @property
    def types(self) -> frozenset[str]:
        """The types that a value may have."""
        return frozenset(self.root)

    def check(self, _: FieldTerms) -> FieldCheck:
        """Return the check of a field."""
        types, schema = self.types, dict[str, object](type=sorted(self.root))
        if "number" not in types:
            schema |= {"exclusiveMinimum": -MAX_WHOLE, "exclusiveMaximum": MAX_WHOLE}

        def problem(value: object) -> str | None:
            return None if _has_type(value, types) else expected_type(self.root, value)

        return FieldCheck("type", problem, schema)


def _about_type(name: object) -> str:
    known = f"types are {', '.join(_TYPES)}"
    if not isinstance(name, str):
        return f"a type is written as its name; {known}"
    usual = _OTHER_TYPE_NAMES.get(name.casefold())
    meant = f"; did you mean {usual!r}?" if usual else did_you_mean(name, _TYPES)
    return f"{name!r} is no type{meant or '; ' + known}"


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


def _has_type(value: object, types: frozenset[str]) -> bool:
    if isinstance(value, float):
        if not math.isfinite(value):
            return False
        return "number" in types or ("integer" in types and whole_of_float(value) is not None)
    name = json_type(value)
    return name in types or (name == "integer" and "number" in types)


class EnumRule(FileModel):
    """The allowed values of a field: written as their list, or as a mapping with the matching."""

    conflict: ClassVar = (
        "enum_type",
        "yes, no, on, off, null and numbers are text only in quotes",
    )

    match: Annotated[
        Literal["casefold", "none"], otherwise("unknown_match", "`match` is 'casefold' or 'none'")
    ] = "casefold"
    """With `casefold` a text of other case is taken, and written as the value is."""
    values: tuple[object, ...]

    @model_validator(mode="before")
    @classmethod
    def _of_list(cls, given: object) -> object:
        return {"values": given} if isinstance(given, list) else given

    @field_validator("values")
    @classmethod
    def _can_be_told_apart(
        cls, values: tuple[object, ...], known: ValidationInfo
    ) -> tuple[object, ...]:
        if not values:
            raise invalid("empty_enum", "an enum without values allows nothing")
        is_folded = known.data.get("match", "casefold") == "casefold"
        seen: set[object] = set()
        for position, value in enumerate(values, start=1):
            if not isinstance(value, str | int | float | None):
                problem = "is no plain value; write it in quotes"
                raise invalid("enum_value", f"value {position} {problem}")
            folded = value.strip().casefold() if is_folded and isinstance(value, str) else value
            if (type(value), folded) in seen:
                cure = " but for its case; give `match: none`" if folded != value else ""
                raise invalid("enum_value", f"value {position} is there already{cure}")
            seen.add((type(value), folded))
        return values

    @property
    def types(self) -> frozenset[str]:
        """The types of the allowed values."""
        return frozenset(map(json_type, self.values))

    def check(self, terms: FieldTerms) -> FieldCheck:
        """Return the check of a field; a text is read as the value that it spells."""
        choices, is_folded = Choices(self.values, terms.profile), self.match == "casefold"

        def problem(value: object) -> str | None:
            is_near = is_folded and isinstance(value, str) and choices.match(value) is not None
            return None if is_near or choices.has(value) else outside_of(len(self.values))

        def reading(text: str) -> Choice | None:
            choice = None if choices.has(text) else choices.match(text)
            is_allowed = choice is not None and json_type(choice.value) in terms.types
            return choice if is_allowed else None

        reads = is_folded and not terms.lists_values
        schema: dict[str, object] = {"enum": list(self.values)}
        return FieldCheck("enum", problem, schema, reading if reads else None)


class _Bounds(FileModel):
    min: Number | None = None
    max: Number | None = None
    exclusive_min: Number | None = None
    exclusive_max: Number | None = None


_PAIR: Final = TypeAdapter(tuple[Number | None, Number | None])


class RangeRule(FileModel):
    """The numbers that a field may hold: `[low, high]` with null for an open end, or a mapping."""

    conflict: ClassVar = ("range_type", "a range needs a number")
    types: ClassVar = frozenset({"number", "integer"})

    low: Number | None
    high: Number | None
    is_low_open: bool = False
    """Whether the low bound itself is outside."""
    is_high_open: bool = False

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: object) -> object:
        match given:
            case [_, _]:
                low, high = _PAIR.validate_python(given)
                return {"low": low, "high": high}
            case dict():
                bounds = _Bounds.model_validate(given)
            case _:
                raise invalid(
                    "range_shape", "a range is `[low, high]`, null for an open end, or a mapping"
                )
        for plain in ("min", "max"):
            if {plain, f"exclusive_{plain}"} <= bounds.model_fields_set:
                raise invalid("range_shape", f"give {plain!r} or 'exclusive_{plain}', not both")
        is_low_open, is_high_open = (
            bounds.exclusive_min is not None,
            bounds.exclusive_max is not None,
        )
        return {
            "low": bounds.exclusive_min if is_low_open else bounds.min,
            "high": bounds.exclusive_max if is_high_open else bounds.max,
            "is_low_open": is_low_open,
            "is_high_open": is_high_open,
        }

    @model_validator(mode="after")
    def _holds_some(self) -> Self:
        low, high = self.low, self.high
        if low is None and high is None:
            raise invalid("empty_range", "a range open at both ends checks nothing")
        is_open = self.is_low_open or self.is_high_open
        if low is not None and high is not None and (low > high or (low == high and is_open)):
            raise invalid("empty_range", f"no number lies between {low} and {high}")
        return self

    def check(self, terms: FieldTerms) -> FieldCheck:
        """Return the check of a field; a text is read as a number where none is meant as text."""

        def problem(value: object) -> str | None:
            if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
                shown = "NaN" if isinstance(value, float) else json_type(value)
                return f"expected a number, got {shown}"
            return None if self._holds(value) else self._wanted

        def reading(text: str) -> Choice | None:
            if "number" in terms.types:
                number = number_of(text)
            else:
                number = whole_number_of(text) if "integer" in terms.types else None
            return None if number is None else Choice(value=number)

        low = "exclusiveMinimum" if self.is_low_open else "minimum"
        high = "exclusiveMaximum" if self.is_high_open else "maximum"
        bounds = {low: self.low, high: self.high}
        schema: dict[str, object] = {key: one for key, one in bounds.items() if one is not None}
        schema["type"] = ["number", "null"] if "null" in terms.named_types else "number"
        reads = terms.profile.is_enabled and "string" not in terms.named_types
        return FieldCheck("range", problem, schema, reading if reads else None)

    def _holds(self, number: float) -> bool:
        low, high = self.low, self.high
        if low is not None and (number < low or (self.is_low_open and number == low)):
            return False
        return high is None or number < high or (number == high and not self.is_high_open)

    @property
    def _wanted(self) -> str:
        bounds = []
        if self.low is not None:
            bounds.append(f"{'more than' if self.is_low_open else 'at least'} {self.low:g}")
        if self.high is not None:
            bounds.append(f"{'less than' if self.is_high_open else 'at most'} {self.high:g}")
        return f"must be {' and '.join(bounds)}"


FieldRule = TypeRule | EnumRule | RangeRule


class FieldRules(FileModel):
    """What a rule block says of single fields; of one field an earlier kind is checked first."""

    required: Names = ()
    """Fields that have to be there and not null."""
    types: dict[str, TypeRule] = Field(default_factory=dict)
    enums: dict[str, EnumRule] = Field(default_factory=dict)
    ranges: dict[str, RangeRule] = Field(default_factory=dict)

    def kinds(self) -> Iterator[tuple[str, Mapping[str, FieldRule]]]:
        """Yield the checks of values by field, kind by kind as a file names it."""
        for kind in FieldRules.model_fields:
            if kind != "required":
                yield kind, getattr(self, kind)

    def field_names(self) -> list[str]:
        """Return every field that is checked, once, in the order of the kinds."""
        checked = (name for _, fields in self.kinds() for name in fields)
        return list(dict.fromkeys((*self.required, *checked)))
