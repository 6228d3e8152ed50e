"""What a rule block and the schema say about one field, together."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import ValidationInfo, field_validator, model_validator

from ai_psychiatrist.validation.checks.coercion.choices import Choice, Choices
from ai_psychiatrist.validation.checks.coercion.text_values import (
    MAX_WHOLE,
    number_of,
    whole_number_of,
    whole_of_float,
)
from ai_psychiatrist.validation.checks.fields.paths import FieldPath
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.messages import expected_type, json_type, outside_of
from ai_psychiatrist.validation.checks.schema.type_names import (
    ALL_TYPES,
    allowed_types,
    allowed_values,
    schemas_at,
)
from ai_psychiatrist.validation.file_model import FileModel, Number, invalid, otherwise


class EnumRule(FileModel):
    """The allowed values of a field: written as their list, or as a mapping with the matching."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRule:
    """The numbers that a field may hold; `None` is a side without a bound."""

    low: Number | None
    high: Number | None
    is_low_open: bool = False
    """Whether the low bound itself is outside."""
    is_high_open: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no number is inside."""
        if self.low is None or self.high is None:
            return False
        is_open = self.is_low_open or self.is_high_open
        return self.low > self.high or (self.low == self.high and is_open)

    def holds(self, number: float) -> bool:
        """Return whether a number is inside; NaN never is."""
        if math.isnan(number):
            return False
        low, high = self.low, self.high
        if low is not None and (number < low or (self.is_low_open and number == low)):
            return False
        return high is None or number < high or (number == high and not self.is_high_open)

    @property
    def schema(self) -> dict[str, object]:
        """The range in the keywords of JSON Schema."""
        low = "exclusiveMinimum" if self.is_low_open else "minimum"
        high = "exclusiveMaximum" if self.is_high_open else "maximum"
        bounds = {low: self.low, high: self.high}
        return {keyword: bound for keyword, bound in bounds.items() if bound is not None}

    @property
    def wanted(self) -> str:
        """What the range asks for, in words."""
        bounds = []
        if self.low is not None:
            bounds.append(f"{'more than' if self.is_low_open else 'at least'} {self.low:g}")
        if self.high is not None:
            bounds.append(f"{'less than' if self.is_high_open else 'at most'} {self.high:g}")
        return f"must be {' and '.join(bounds)}" if bounds else "must be a number"


class FieldProblem(NamedTuple):
    """What a value breaks."""

    rule: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """What a schema says about one field."""

    types: frozenset[str] = ALL_TYPES
    """The types that it lets through, those of all its alternatives."""
    lists_values: bool = False
    """Whether it lists the allowed values: then their spelling is the schema's."""

    @classmethod
    def of(cls, schema: CompiledSchema | None, path: FieldPath) -> Self:
        """Look a field up; without a schema, or when it does not name the field, all is allowed."""
        if schema is None:
            return cls()
        found = list(schemas_at(schema.references, schema.document, path.parts))
        if not found:
            return cls()
        return cls(
            types=frozenset[str]().union(*(allowed_types(schema.references, one) for one in found)),
            lists_values=any(
                isinstance(one, Mapping) and allowed_values(one) is not None for one in found
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSpec:
    """The checks of one field."""

    path: FieldPath
    schema: SchemaField = field(default_factory=SchemaField)
    types: frozenset[str] | None = None
    """The types that the rule block allows, `None` where it says nothing."""
    is_required: bool = False
    is_inherited: bool = False
    choices: Choices | None = field(default=None, repr=False)
    is_folded: bool = False
    """Whether texts match the choices whatever their case."""
    range: RangeRule | None = None
    reads_numbers: bool = False
    """Whether a text in this field can be meant as a number."""

    def reading(self, text: str) -> Choice | None:
        """Return what a text is read as: a choice in its own spelling, or a number of the range."""
        return self._spelling(text) or (self._number(text) if self.reads_numbers else None)

    def problem(self, value: object) -> FieldProblem | None:
        """Return what a value breaks; one of the wrong type is not looked at any further."""
        if self.types is not None and not _has_type(value, self.types):
            return FieldProblem("type", expected_type(list(self.types), value))
        if value is None and self.is_nullable:
            return None
        if self.choices is not None and not self._is_choice(value, self.choices):
            return FieldProblem("enum", outside_of(len(self.choices)))
        if self.range is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
            shown = "NaN" if isinstance(value, float) else json_type(value)
            return FieldProblem("range", f"expected a number, got {shown}")
        return None if self.range.holds(value) else FieldProblem("range", self.range.wanted)

    @property
    def schema_in_order(self) -> dict[str, object]:
        """A JSON Schema; in an answer that fits it, this field breaks nothing and is not read.

        Of an answer that does not fit it that is still to be seen.
        """
        wanted: list[dict[str, object]] = []
        if self.types is not None:
            wanted.append({"type": sorted(self.types)})
            if "number" not in self.types:
                wanted.append({"exclusiveMinimum": -MAX_WHOLE, "exclusiveMaximum": MAX_WHOLE})
        if self.choices is not None:
            wanted.append({"enum": list(self.choices.values)})
        if self.range is not None:
            wanted += [{"type": ["number", "null"] if self.is_nullable else "number"}]
            wanted.append(self.range.schema)
        if self.is_required:
            wanted.append({"not": {"type": "null"}})
        schema: dict[str, object] = {"allOf": wanted} if wanted else {}
        for part in reversed(self.path.parts):
            if isinstance(part, int):
                schema = {"items": schema, **({"type": "array"} if self.is_required else {})}
            else:
                lacks = {"type": "object", "required": [part]} if self.is_required else {}
                schema = {"properties": {part: schema}, **lacks}
        return schema

    @property
    def allowed(self) -> frozenset[str]:
        """The types that both the rule block and the schema allow."""
        return self.schema.types if self.types is None else self.types & self.schema.types

    @property
    def is_nullable(self) -> bool:
        """Whether null is allowed by a word, and not only because nothing is said."""
        return self._is_typed and "null" in self.allowed

    @property
    def _is_typed(self) -> bool:
        return self.types is not None or self.schema.types != ALL_TYPES

    @property
    def takes_text(self) -> bool:
        """Whether a text in this field is meant as one."""
        return self._is_typed and "string" in self.allowed

    def _spelling(self, text: str) -> Choice | None:
        """Return how a text is to be written, unless the schema wants it another way."""
        if self.choices is None or not self.is_folded or self.schema.lists_values:
            return None
        choice = None if self.choices.has(text) else self.choices.match(text)
        return choice if choice is not None and json_type(choice.value) in self.allowed else None

    def _number(self, text: str) -> Choice | None:
        if "number" in self.allowed:
            number = number_of(text)
        else:
            number = whole_number_of(text) if "integer" in self.allowed else None
        return None if number is None else Choice(value=number)

    def _is_choice(self, value: object, choices: Choices) -> bool:
        is_near = self.is_folded and isinstance(value, str)
        return choices.has(value) or (is_near and choices.match(str(value)) is not None)


def _has_type(value: object, types: frozenset[str]) -> bool:
    if isinstance(value, float):
        if not math.isfinite(value):
            return False
        return "number" in types or ("integer" in types and whole_of_float(value) is not None)
    name = json_type(value)
    return name in types or (name == "integer" and "number" in types)
