"""What a rule block and the schema say about one field, together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.checks.coercion.choices import Choices
from ai_psychiatrist.validation.checks.coercion.coercer import CoercionProfile
from ai_psychiatrist.validation.checks.fields.paths import FieldPath
from ai_psychiatrist.validation.checks.fields.rules import EnumRule, RangeRule
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.type_names import (
    ALL_TYPES,
    allowed_types,
    allowed_values,
    schemas_at,
)


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

    @property
    def allowed(self) -> frozenset[str]:
        """The types that both the rule block and the schema allow."""
        return self.schema.types if self.types is None else self.types & self.schema.types

    @property
    def is_nullable(self) -> bool:
        """Whether null is allowed by a word, and not only because nothing is said."""
        return self._is_typed and "null" in self.allowed

    @property
    def takes_text(self) -> bool:
        """Whether a text in this field is meant as one."""
        return self._is_typed and "string" in self.allowed

    @property
    def _is_typed(self) -> bool:
        return self.types is not None or self.schema.types != ALL_TYPES


def declared_types(name: str, listed: Sequence[str]) -> frozenset[str]:
    """Return the types of a field; raises `ConfigurationError` where one is no JSON type."""
    unknown = sorted(set(listed) - ALL_TYPES)
    if unknown or not listed:
        wrong = f"{unknown[0]!r} is no type" if unknown else "no type is listed"
        message = f"types.{name}: {wrong}; the types are {', '.join(sorted(ALL_TYPES))}"
        raise ConfigurationError(message)
    return frozenset(listed)


def declared_choices(rule: EnumRule, profile: CoercionProfile) -> Choices:
    """Return the choices of a field."""
    if not profile.is_enabled:
        return Choices(rule.values)
    return Choices(rule.values, prefixes=profile.enum_prefixes, separator=profile.enum_split)


def declared_range(name: str, rule: RangeRule) -> RangeRule:
    """Return the range of a field; raises `ConfigurationError` where it holds no number."""
    if rule.is_empty:
        message = f"ranges.{name}: holds no number; the low bound goes first"
        raise ConfigurationError(message)
    return rule
