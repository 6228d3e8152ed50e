"""What a pipeline file says about a step, once it has been read and found sound."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ai_psychiatrist.validation.checks.coercion.coercer import DEFAULT, CoercionProfile
from ai_psychiatrist.validation.checks.fields.specs import EnumRule, RangeRule
from ai_psychiatrist.validation.checks.rules import RuleSpec
from ai_psychiatrist.validation.expressions import Procedure, compile_procedure

StepScope: TypeAlias = Literal["llm", "expression", "run", "fan_out"]
"""Who makes a step's output: a model unit by unit, expressions, one call for the whole run, or a
model for each element of a list."""

MODEL_SCOPES: Final[frozenset[str]] = frozenset({"llm", "fan_out"})
"""Scopes whose steps need template, schema and rules."""

STEP_NAME: Final = re.compile(r"\w[\w.-]{0,99}\Z")
"""Files are named after steps."""

Schema: TypeAlias = Mapping[str, object] | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBlock:
    """The checks of a step beside its schema; an empty block was written as `none` on purpose."""

    required: tuple[str, ...] = ()
    """Fields that have to be there and not null."""
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Field → JSON type names, any of which will do; `null` among them allows null."""
    enums: Mapping[str, EnumRule] = field(default_factory=dict)
    ranges: Mapping[str, RangeRule] = field(default_factory=dict)
    rules: tuple[RuleSpec, ...] = ()
    inherited: tuple[str, ...] = ()
    """Required fields that may come from the context instead of the answer."""
    protected: tuple[str, ...] = ()
    """Names of the context that an answer cannot override for the rules."""
    coerce: CoercionProfile = DEFAULT

    @property
    def is_empty(self) -> bool:
        """Whether nothing is checked beyond the schema."""
        return not (self.required or self.types or self.enums or self.ranges or self.rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExpressions:
    """What an expression step finds, as its texts say it; name → expression."""

    expressions: Mapping[str, str]
    init: Mapping[str, str] = field(default_factory=dict)
    """Found once, before the loop."""
    loop_until: str | None = None
    max_iterations: int | None = None

    def compile(self) -> Procedure:
        """Return what can be run; raises `ExpressionRefused`, which names the expression."""
        return compile_procedure(
            init=self.init,
            expressions=self.expressions,
            loop_until=self.loop_until,
            max_iterations=self.max_iterations,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepConfig:
    """One step of a pipeline."""

    name: str
    scope: StepScope
    template: Path | None = None
    schema: Schema | None = None
    """The parsed JSON Schema."""
    schema_name: str | None = None
    """The schema's file name, for messages."""
    checks_formats: bool = True
    """Whether `format` in the schema is asserted, and not a comment."""
    rules: RuleBlock | None = None
    """`None` when the file has no block for this step: an answer cannot be validated."""
    expressions: StepExpressions | None = None
    """Of a step of scope `expression`."""
