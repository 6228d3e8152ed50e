"""Run the expressions of a step over one unit: what each finds, the next ones see."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.validation.expressions.expression import (
    Expression,
    ExpressionKind,
    compile_expression,
)
from ai_psychiatrist.validation.expressions.json_values import (
    MAX_SIZE,
    JsonValue,
    json_value,
)
from ai_psychiatrist.validation.expressions.refusal import (
    BudgetSpent,
    EvaluationFailed,
    ExpressionRefused,
)
from ai_psychiatrist.validation.expressions.sampling import generator_for
from ai_psychiatrist.validation.expressions.scope import UNIT_STEPS, Scope

DEFAULT_ITERATIONS: Final = 1_000
MOST_ITERATIONS: Final = 10_000
PROCEDURE_STEPS: Final = 2_000_000
"""Steps of work for all expressions of one step and unit; one evaluation has `UNIT_STEPS`."""

_PARTS_PER_STEP: Final = 4
_CHARACTERS_PER_STEP: Final = 16
_LOOP: Final = "loop_until"


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """The compiled expressions of a step."""

    init: Mapping[str, Expression]
    """What is found once, before the loop."""
    expressions: Mapping[str, Expression]
    """What is found in every round, in this order."""
    loop_until: Expression | None
    """Asked after each round; without it there is one."""
    max_iterations: int

    def run(
        self, context: Mapping[str, object], *, seed: int, step: str, unit_id: str
    ) -> dict[str, object]:
        """Return what the step hands on: values of JSON by name, without those with a `_` first.

        Equal arguments give equal values, on any machine and in any order of units. Raises
        `EvaluationFailed`, which names a field and never a value; its kind is `endless_loop` when
        the loop has not ended after `max_iterations` rounds.
        """
        generator = generator_for(seed=seed, step=step, unit_id=unit_id)
        scope = Scope.of_step({"unit_id": unit_id, **context}, generator)
        run = _Run(scope=scope)
        for name, expression in self.init.items():
            run.find(name, expression)
        for _ in range(self.max_iterations if self.loop_until is not None else 1):
            for name, expression in self.expressions.items():
                run.find(name, expression)
            if self.loop_until is None or run.holds(self.loop_until):
                return run.handed_on()
        raise EvaluationFailed("endless_loop", None, field=_LOOP)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One unit under way."""

    scope: Scope
    found: dict[str, JsonValue] = field(default_factory=dict)
    steps_left: int = PROCEDURE_STEPS

    def find(self, name: str, expression: Expression) -> None:
        """Evaluate an expression and keep what it gives under its name."""
        value = self._value(name, expression)
        if not is_local(name) and not value.has_text_keys:
            raise EvaluationFailed("wrong_type", expression.first_name, field=name)
        self.found[name] = value
        self.scope.names[name] = value.value
        if sum(kept.size for kept in self.found.values()) > MAX_SIZE:
            raise EvaluationFailed("budget", expression.first_name, field=name)

    def holds(self, condition: Expression) -> bool:
        """Return whether the loop has ended."""
        result = self._value(_LOOP, condition).value
        if not isinstance(result, bool):
            raise EvaluationFailed("wrong_type", condition.first_name, field=_LOOP)
        return result

    def handed_on(self) -> dict[str, object]:
        return {name: kept.value for name, kept in self.found.items() if not is_local(name)}

    def _value(self, name: str, expression: Expression) -> JsonValue:
        scope = self.scope
        scope.steps_left = allowed = min(UNIT_STEPS, self.steps_left)
        try:
            scope.charge(expression.size // _PARTS_PER_STEP + 1)
            value = json_value(expression.evaluate(scope))
            scope.charge(value.size // _CHARACTERS_PER_STEP)
        except EvaluationFailed as problem:
            kind, missing = problem.kind, problem.name
        except BudgetSpent:
            kind, missing = "budget", None
        else:
            self.steps_left -= allowed - scope.steps_left
            return value
        raise EvaluationFailed(kind, missing, field=name)


def compile_procedure(
    *,
    init: Mapping[str, str],
    expressions: Mapping[str, str],
    loop_until: str | None,
    max_iterations: int | None,
) -> Procedure:
    """Compile the expressions of a step.

    `max_iterations`: rounds after which a loop that has not ended fails the unit, 1 to 10,000;
    1,000 without it. Raises `ExpressionRefused`, which names the expression.
    """
    most = DEFAULT_ITERATIONS if max_iterations is None else max_iterations
    if not 1 <= most <= MOST_ITERATIONS:
        message = f"a loop has 1 to {MOST_ITERATIONS} rounds"
        raise ExpressionRefused(message, 1, place="max_iterations")
    return Procedure(
        init={name: _compiled(source, f"init.{name}") for name, source in init.items()},
        expressions={
            name: _compiled(source, f"expressions.{name}") for name, source in expressions.items()
        },
        loop_until=None if loop_until is None else _compiled(loop_until, _LOOP),
        max_iterations=most,
    )


def is_local(name: str) -> bool:
    """Return whether a name is seen by its own step alone."""
    return name.startswith("_")


def _compiled(source: str, place: str) -> Expression:
    try:
        return compile_expression(source, kind=ExpressionKind.EXPRESSION_STEP)
    except ExpressionRefused as problem:
        raise ExpressionRefused(problem.message, problem.column, place=place) from None
