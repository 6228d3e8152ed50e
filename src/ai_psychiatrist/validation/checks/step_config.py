"""What a pipeline file says about a step, once it has been read and found sound."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol, TypeAlias

from pydantic import BeforeValidator, Field

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.coercion.choices import DEFAULT, WrittenProfile
from ai_psychiatrist.validation.checks.field_kinds import FieldRules
from ai_psychiatrist.validation.checks.rules import RuleSpec
from ai_psychiatrist.validation.checks.verdict import Verdict, refusal
from ai_psychiatrist.validation.expressions import EvaluationFailed, compile_procedure
from ai_psychiatrist.validation.file_model import Count, FileModel, Names, Text, invalid

StepScope: TypeAlias = Literal["llm", "expression", "run", "fan_out"]
"""Who makes a step's output: a model unit by unit, expressions, one call for the whole run, or a
model for each element of a list."""

MODEL_SCOPES: Final[frozenset[str]] = frozenset({"llm", "fan_out"})
"""Scopes whose steps need template, schema and rules."""

STEP_NAME: Final = re.compile(r"\w[\w.-]{0,99}\Z")
"""Files are named after steps."""

Schema: TypeAlias = Mapping[str, object] | bool


def _says_something(rule: object) -> object:
    if not isinstance(rule, RuleSpec) and not (rule and isinstance(rule, dict)):
        raise invalid("empty_rule", "a rule is a mapping with `name`, `expr` and `error`")
    return rule


class RuleBlock(FieldRules):
    """The checks of a step beside its schema; an empty block was written as `none` on purpose."""

    rules: tuple[Annotated[RuleSpec, BeforeValidator(_says_something)], ...] = ()
    inherited: Names = ()
    """Required fields that may come from the context instead of the answer."""
    protected: Names = ()
    """Names of the context that an answer cannot override for the rules."""
    coerce: WrittenProfile = DEFAULT


class StepExpressions(FileModel):
    """What an expression step finds, as its texts say it; name → expression."""

    init: dict[str, Text] = Field(default_factory=dict)
    """Found once, before the loop."""
    expressions: dict[str, Text] = Field(default_factory=dict)
    loop_until: Text | None = None
    max_iterations: Count | None = None


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


class Find(Protocol):
    """Finds what a step of expressions hands on for a unit."""

    def __call__(
        self, context: Mapping[str, object], unit_id: str, *, seed: int
    ) -> dict[str, object] | Verdict:
        """Return it, or why there is none; `seed`: what is drawn at random depends on it."""


def finder_of(step: StepConfig) -> Find | None:
    """Return the expressions of a step, `None` for a step that a model answers.

    Raises `ExpressionRefused` when one of them uses what is not offered.
    """
    if step.expressions is None:
        return None
    procedure = compile_procedure(**dict(step.expressions))

    def find(
        context: Mapping[str, object], unit_id: str, *, seed: int
    ) -> dict[str, object] | Verdict:
        try:
            return procedure.run(context, seed=seed, step=step.name, unit_id=unit_id)
        except EvaluationFailed as problem:
            # Another try would find no more.
            field = problem.field or ""
            message = f"the expression {field!r} {problem.reason}"
            stage = FailureStage.PIPELINE_INTERNAL
            return refusal(stage, f"expression_{problem.kind}", message, field)

    return find
