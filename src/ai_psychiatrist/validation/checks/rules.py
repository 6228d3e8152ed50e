"""Rules over a checked answer: expressions with a condition, a level and a message."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

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

__all__ = [
    "PASSED",
    "RULE_EVAL",
    "Level",
    "MessageTemplate",
    "RuleOutcome",
    "RuleSet",
    "RuleSpec",
]

RULE_EVAL: Final = "rule_eval"
"""The rule under which a rule that could not be evaluated is recorded."""


class Level(StrEnum):
    """What becomes of a unit that breaks a rule."""

    ERROR = "error"
    """The unit fails."""
    WARNING = "warning"
    """The unit stays valid and carries the warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSpec:
    """A rule as a configuration gives it."""

    name: str
    expr: str
    error: str = ""
    """The message; places such as `{score}` show values of the unit."""
    level: Level = Level.ERROR
    when: str | None = None
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
    level: Level
    test: Expression
    condition: Expression | None
    message: MessageTemplate
    parts: tuple[PathPart, ...]


PASSED: Final = RuleOutcome()
"""What rules say that all hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """The compiled rules of one step."""

    rules: tuple[_Rule, ...] = field(repr=False)

    @classmethod
    def compile(cls, specs: Sequence[RuleSpec]) -> "RuleSet":
        """Compile rules, in the order in which they are applied.

        Raises `ExpressionRefused` with the rule's name and the column in its expression.
        """
        return cls(rules=tuple(map(_compiled, specs)))

    def apply(self, scope: Scope) -> RuleOutcome:
        """Apply every rule to one unit."""
        findings = _Findings()
        for rule in self.rules:
            try:
                _apply(rule, scope, findings)
            except EvaluationFailed:
                findings.is_over_budget = True
                break
        return findings.outcome()


class _Findings:
    """What is gathered while the rules are applied."""

    __slots__ = ("errors", "is_over_budget", "skipped", "warnings")

    def __init__(self) -> None:
        self.errors: list[UnitError] = []
        self.warnings: list[UnitError] = []
        self.skipped: list[str] = []
        self.is_over_budget = False

    def add(self, rule: _Rule, error: UnitError) -> None:
        found = self.errors if rule.level is Level.ERROR else self.warnings
        found.append(error)

    def outcome(self) -> RuleOutcome:
        if not (self.errors or self.warnings or self.skipped or self.is_over_budget):
            return PASSED
        return RuleOutcome(
            errors=tuple(self.errors),
            warnings=tuple(self.warnings),
            skipped=tuple(self.skipped),
            is_over_budget=self.is_over_budget,
        )


def _apply(rule: _Rule, scope: Scope, findings: _Findings) -> None:
    """Take note of what one rule says; raise `EvaluationFailed` when the unit's budget is spent."""
    try:
        if rule.condition is not None and not _holds(rule, rule.condition, scope, findings):
            return
        result = rule.test.evaluate(scope)
    except EvaluationFailed as problem:
        if problem.kind == "budget":
            raise
        findings.add(rule, _not_evaluated(rule, problem))
        return
    if result is True:
        return
    if result is False:
        message = rule.message.format(scope)
        findings.add(rule, UnitError(parts=rule.parts, rule=rule.name, message=message))
    else:
        findings.add(rule, _undecided(rule, "expression"))


def _holds(rule: _Rule, condition: Expression, scope: Scope, findings: _Findings) -> bool:
    try:
        result = condition.evaluate(scope)
    except EvaluationFailed as problem:
        if problem.kind not in {"unknown_name", "missing_key"}:
            raise
        result = False
    if result is False:
        findings.skipped.append(rule.name)
    elif result is not True:
        findings.add(rule, _undecided(rule, "condition"))
    return result is True


def _undecided(rule: _Rule, part: str) -> UnitError:
    message = f"rule {rule.name!r}: its {part} gives neither true nor false"
    return UnitError(parts=rule.parts, rule=RULE_EVAL, message=message)


def _not_evaluated(rule: _Rule, problem: EvaluationFailed) -> UnitError:
    parts = rule.parts
    if problem.kind == "unknown_name" and problem.name is not None:
        parts = (problem.name,)
    return UnitError(parts=parts, rule=RULE_EVAL, message=f"rule {rule.name!r} {problem.reason}")


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
