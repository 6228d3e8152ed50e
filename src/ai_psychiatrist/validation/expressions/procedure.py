"""Run the expressions of a step over one unit: what each finds, the next ones see."""

import hashlib
import json
import math
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.validation.expressions.compiler import ExpressionKind, compile_expression
from ai_psychiatrist.validation.expressions.expression import (
    UNIT_STEPS,
    EvaluationFailed,
    Expression,
    ExpressionRefused,
    Scope,
    StepScope,
)
from ai_psychiatrist.validation.expressions.operations import VIEWS

DEFAULT_ITERATIONS: Final = 1_000
MOST_ITERATIONS: Final = 10_000
PROCEDURE_STEPS: Final = 2_000_000
"""Steps of work for all expressions of one step and unit; one evaluation has `UNIT_STEPS`."""
CHARACTERS_PER_STEP: Final = 16
"""Of a text that is kept."""
MAX_DEPTH: Final = 100
"""Levels of a value that is kept."""
LOOP: Final = "loop_until"
"""The field that a failure of the condition names."""

_EVALUATION_STEPS: Final = 4
_LISTED: Final = (list, tuple, range, *VIEWS)


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
        generator = _generator(seed=seed, step=step, unit_id=unit_id)
        run = _Run(scope=StepScope({"unit_id": unit_id, **context}, generator))
        run.find_all(self.init)
        for _ in range(self.max_iterations if self.loop_until is not None else 1):
            run.find_all(self.expressions)
            if self.loop_until is None or run.holds(self.loop_until):
                return {name: value for name, value in run.found.items() if not is_local(name)}
        raise EvaluationFailed("endless_loop", None, field=LOOP)


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


@dataclass(slots=True, kw_only=True)
class _Run:
    """One unit under way."""

    scope: StepScope
    found: dict[str, object] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    size: int = 0
    """Steps that copying all that was found would cost."""
    steps_left: int = PROCEDURE_STEPS

    def find_all(self, expressions: Mapping[str, Expression]) -> None:
        """Evaluate expressions in their order and keep what each gives under its name."""
        for name, expression in expressions.items():
            value, size = self._value(name, expression)
            self.size += size - self.sizes.get(name, 0)
            self.sizes[name] = size
            if self.size > UNIT_STEPS:
                raise EvaluationFailed("budget", expression.first_name, field=name)
            self.scope.names[name] = self.found[name] = value

    def holds(self, condition: Expression) -> bool:
        """Return whether the loop has ended."""
        result, _ = self._value(LOOP, condition)
        if not isinstance(result, bool):
            raise EvaluationFailed("wrong_type", condition.first_name, field=LOOP)
        return result

    def _value(self, name: str, expression: Expression) -> tuple[object, int]:
        """Return a value, and the steps that copying it cost."""
        scope = self.scope
        scope.steps_left = allowed = min(UNIT_STEPS, self.steps_left)
        try:
            scope.charge(expression.size + _EVALUATION_STEPS)
            evaluated = expression.evaluate(scope)
            uncopied = scope.steps_left
            value = _as_json(scope, evaluated, has_text_keys=not is_local(name))
        except EvaluationFailed as problem:
            missing = problem.name or expression.first_name
            raise EvaluationFailed(problem.kind, missing, field=name) from None
        self.steps_left -= allowed - scope.steps_left
        return value, uncopied - scope.steps_left


def _generator(*, seed: int, step: str, unit_id: str) -> random.Random:
    """Return the generator of a step for one unit.

    It starts from the SHA-256 of `[seed,"step","unit_id"]`, JSON in ASCII without blanks, read as
    one whole number with the first byte highest.
    """
    text = json.dumps([seed, step, unit_id], ensure_ascii=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - repeatable


def _as_json(scope: Scope, value: object, *, has_text_keys: bool, depth: int = 0) -> object:
    """Return a copy of a value, with lists for tuples, ranges and the views of objects.

    Each element and each 16 characters cost a step. Unless `has_text_keys`, keys of objects may be
    numbers. Raises `EvaluationFailed` for a set and for a number that is not finite, its kind is
    `budget` for what is too large or nested more than 100 levels deep.
    """
    if value is None or isinstance(value, int | float | str):
        if isinstance(value, float) and not math.isfinite(value):
            raise EvaluationFailed("arithmetic", None)
        scope.charge(len(value) // CHARACTERS_PER_STEP if isinstance(value, str) else 0)
        return value
    if depth > MAX_DEPTH:
        raise EvaluationFailed("budget", None)
    if type(value) not in (dict, *_LISTED) or not isinstance(value, Collection):
        raise EvaluationFailed("wrong_type", None)
    scope.charge(len(value) + 1)
    inner = depth + 1
    if not isinstance(value, dict):
        return [_as_json(scope, each, has_text_keys=has_text_keys, depth=inner) for each in value]
    if not all(isinstance(key, str if has_text_keys else str | int) for key in value):
        raise EvaluationFailed("wrong_type", None)
    return {
        _as_json(scope, key, has_text_keys=True): _as_json(
            scope, each, has_text_keys=has_text_keys, depth=inner
        )
        for key, each in value.items()
    }


def _compiled(source: str, place: str) -> Expression:
    try:
        return compile_expression(source, kind=ExpressionKind.EXPRESSION_STEP)
    except ExpressionRefused as problem:
        raise ExpressionRefused(problem.message, problem.column, place=place) from None
