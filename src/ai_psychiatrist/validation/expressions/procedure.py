"""Run the expressions of a step over one unit: what each finds, the next ones see."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.validation.expressions.expression import (
    Expression,
    ExpressionKind,
    compile_expression,
)
from ai_psychiatrist.validation.expressions.json_values import as_json
from ai_psychiatrist.validation.expressions.refusal import (
    BudgetSpent,
    EvaluationFailed,
    ExpressionRefused,
)
from ai_psychiatrist.validation.expressions.sampling import generator_for
from ai_psychiatrist.validation.expressions.scope import UNIT_STEPS, StepScope

DEFAULT_ITERATIONS: Final = 1_000
MOST_ITERATIONS: Final = 10_000
PROCEDURE_STEPS: Final = 2_000_000
"""Steps of work for all expressions of one step and unit; one evaluation has `UNIT_STEPS`."""

_EVALUATION_STEPS: Final = 4
LOOP: Final = "loop_until"
"""The field that a failure of the condition names."""


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
        scope = StepScope({"unit_id": unit_id, **context}, generator)
        run = _Run(scope=scope)
        for name, expression in self.init.items():
            run.find(name, expression)
        for _ in range(self.max_iterations if self.loop_until is not None else 1):
            for name, expression in self.expressions.items():
                run.find(name, expression)
            if self.loop_until is None or run.holds(self.loop_until):
                return run.handed_on()
        raise EvaluationFailed("endless_loop", None, field=LOOP)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One unit under way."""

    scope: StepScope
    found: dict[str, object] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    size: int = 0
    """Steps that copying all that was found would cost."""
    steps_left: int = PROCEDURE_STEPS

    def find(self, name: str, expression: Expression) -> None:
        """Evaluate an expression and keep what it gives under its name."""
        value, size = self._value(name, expression)
        self.size += size - self.sizes.get(name, 0)
        if self.size > UNIT_STEPS:
            raise EvaluationFailed("budget", expression.first_name, field=name)
        self.sizes[name] = size
        self.scope.names[name] = self.found[name] = value

    def holds(self, condition: Expression) -> bool:
        """Return whether the loop has ended."""
        result, _ = self._value(LOOP, condition)
        if not isinstance(result, bool):
            raise EvaluationFailed("wrong_type", condition.first_name, field=LOOP)
        return result

    def handed_on(self) -> dict[str, object]:
        return {name: value for name, value in self.found.items() if not is_local(name)}

    def _value(self, name: str, expression: Expression) -> tuple[object, int]:
        """Return a value and its size."""
        scope = self.scope
        scope.steps_left = allowed = min(UNIT_STEPS, self.steps_left)
        try:
            scope.charge(expression.size + _EVALUATION_STEPS)
            evaluated = expression.evaluate(scope)
            uncopied = scope.steps_left
            value = as_json(scope, evaluated, has_text_keys=not is_local(name))
        except EvaluationFailed as problem:
            kind, missing = problem.kind, problem.name
        except BudgetSpent:
            kind, missing = "budget", expression.first_name
        else:
            self.steps_left -= allowed - scope.steps_left
            return value, uncopied - scope.steps_left
        raise EvaluationFailed(kind, missing or expression.first_name, field=name)


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
        loop_until=None if loop_until is None else _compiled(loop_until, LOOP),
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
