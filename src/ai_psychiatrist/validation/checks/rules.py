"""Rules over a checked answer: expressions with a condition, a level and a message."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Strict

from ai_psychiatrist.validation.checks.verdict import PathPart, UnitError
from ai_psychiatrist.validation.expressions import (
    EvaluationFailed,
    Expression,
    ExpressionRefused,
    FieldRead,
    MessageTemplate,
    Scope,
    compile_expression,
)
from ai_psychiatrist.validation.file_model import FileModel, Text, otherwise

RULE_EVAL: Final = "rule_eval"
"""The rule under which a rule that could not be evaluated is recorded."""


class RuleLevel(StrEnum):
    """What becomes of a unit that breaks a rule."""

    ERROR = "error"
    """The unit fails."""
    WARNING = "warning"
    """The unit stays valid and carries the warning."""


class RuleSpec(FileModel):
    """A rule as a configuration gives it."""

    name: Text
    expr: Text
    error: Annotated[str, Strict()] = ""
    """The message; places such as `{score}` show values of the unit."""
    level: Annotated[
        RuleLevel, otherwise("unknown_level", f"a rule's level is {' or '.join(RuleLevel)}")
    ] = RuleLevel.ERROR
    when: Text | None = None
    """The condition under which the rule applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """What the rules say about one unit."""

    errors: tuple[UnitError, ...] = ()
    warnings: tuple[UnitError, ...] = ()
    skipped: tuple[str, ...] = ()
    """Rules whose condition did not hold or names what is not there."""
    is_over_budget: bool = False
    """Whether the rules take too much work on this unit; those after that were not evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    name: str
    level: RuleLevel
    test: Expression
    condition: Expression | None
    message: MessageTemplate
    parts: tuple[PathPart, ...]


PASSED: Final = RuleOutcome()
"""What rules say that all hold."""


class RuleSet:
    """The compiled rules of one step."""

    def __init__(self, specs: Sequence[RuleSpec]) -> None:
        """Compile rules, in the order in which they are applied.

        Raises `ExpressionRefused` with the rule's name and the column in its expression.
        """
        self._rules = tuple(map(_compiled, specs))

    def apply(self, scope: Scope) -> RuleOutcome:
        """Apply every rule to one unit."""
        errors: list[UnitError] = []
        warnings: list[UnitError] = []
        skipped: list[str] = []
        is_over_budget = False
        for rule in self._rules:
            try:
                found = _finding(rule, scope)
            except EvaluationFailed:
                is_over_budget = True
                break
            if isinstance(found, UnitError):
                (errors if rule.level is RuleLevel.ERROR else warnings).append(found)
            elif found is _SKIPPED:
                skipped.append(rule.name)
        if not (errors or warnings or skipped or is_over_budget):
            return PASSED
        return RuleOutcome(
            errors=tuple(errors),
            warnings=tuple(warnings),
            skipped=tuple(skipped),
            is_over_budget=is_over_budget,
        )


def _finding(rule: _Rule, scope: Scope) -> UnitError | object:
    """Return what one rule says against a unit, `_SKIPPED` where its condition does not hold.

    Raises `EvaluationFailed` when the unit's budget is spent.
    """
    try:
        applies = rule.condition is None or _holds(rule.condition, scope)
        if applies is not True:
            return (
                _SKIPPED
                if applies is False
                else _unusable(rule, _UNDECIDED.format("condition"), rule.parts)
            )
        result = rule.test.evaluate(scope)
    except EvaluationFailed as problem:
        if problem.kind == "budget":
            raise
        name = problem.name if problem.kind == "unknown_name" else None
        return _unusable(rule, f" {problem.reason}", rule.parts if name is None else (name,))
    if result is True:
        return None
    if result is not False:
        return _unusable(rule, _UNDECIDED.format("expression"), rule.parts)
    return UnitError(parts=rule.parts, rule=rule.name, message=rule.message.format(scope))


def _holds(condition: Expression, scope: Scope) -> object:
    try:
        return condition.evaluate(scope)
    except EvaluationFailed as problem:
        if problem.kind in {"unknown_name", "missing_key"}:
            return False
        raise


_SKIPPED: Final = object()


def _unusable(rule: _Rule, reason: str, parts: tuple[PathPart, ...]) -> UnitError:
    return UnitError(parts=parts, rule=RULE_EVAL, message=f"rule {rule.name!r}{reason}")


_UNDECIDED: Final = ": its {} gives neither true nor false"


def _compiled(spec: RuleSpec) -> _Rule:
    try:
        test = compile_expression(spec.expr)
        condition = None if spec.when is None else compile_expression(spec.when)
    except ExpressionRefused as problem:
        place = f"rule {spec.name!r}"
        raise ExpressionRefused(problem.message, problem.column, place=place) from None
    message = spec.error or f"The rule {spec.name!r} does not hold.".translate(_BRACES)
    return _Rule(
        name=spec.name,
        level=spec.level,
        test=test,
        condition=condition,
        message=MessageTemplate(message),
        parts=_parts(test.reads),
    )


_BRACES: Final = str.maketrans({"{": "{{", "}": "}}"})


def _parts(reads: Sequence[FieldRead]) -> tuple[PathPart, ...]:
    """Return the place that a rule reads; of several in one field, what they have in common."""
    places = [_in_answer(read) for read in reads if not read.is_guarded]
    shared: list[PathPart] = []
    for steps in zip(*places, strict=False):
        if len(set(steps)) > 1:
            break
        shared.append(steps[0])
    return tuple(shared)


def _in_answer(read: FieldRead) -> tuple[PathPart, ...]:
    """Return the place in the answer; nothing for what is read elsewhere."""
    if read.name in {"inp", "meta"}:
        return ()
    return read.keys if read.name == "out" else (read.name, *read.keys)
