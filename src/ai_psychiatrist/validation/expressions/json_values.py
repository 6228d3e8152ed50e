"""Make a value of JSON of what an expression gives."""

import math
from collections.abc import Collection
from typing import Final

from ai_psychiatrist.validation.expressions.refusal import BudgetSpent, EvaluationFailed
from ai_psychiatrist.validation.expressions.scope import Scope

CHARACTERS_PER_STEP: Final = 16
MAX_DEPTH: Final = 100

_EMPTY: Final[dict[str, object]] = {}
_VIEWS: Final = (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items())
_LISTED: Final = (list, tuple, range, *map(type, _VIEWS))


def as_json(scope: Scope, value: object, *, has_text_keys: bool, depth: int = 0) -> object:
    """Return a copy of a value, with lists for tuples, ranges and the views of objects.

    Each element and each 16 characters cost a step. Unless `has_text_keys`, keys of objects may be
    numbers. Raises `EvaluationFailed` for a set and for a number that is not finite, `BudgetSpent`
    for what is too large or nested more than 100 levels deep.
    """
    match value:
        case int() | None:
            return value
        case str():
            scope.charge(len(value) // CHARACTERS_PER_STEP)
            return value
        case float():
            if not math.isfinite(value):
                raise EvaluationFailed("arithmetic", None)
            return value
    if depth > MAX_DEPTH:
        raise BudgetSpent
    if type(value) not in (dict, *_LISTED) or not isinstance(value, Collection):
        raise EvaluationFailed("wrong_type", None)
    scope.charge(len(value) + 1)
    inner = depth + 1
    if not isinstance(value, dict):
        return [as_json(scope, each, has_text_keys=has_text_keys, depth=inner) for each in value]
    if not all(isinstance(key, str if has_text_keys else str | int) for key in value):
        raise EvaluationFailed("wrong_type", None)
    return {
        as_json(scope, key, has_text_keys=True): as_json(
            scope, each, has_text_keys=has_text_keys, depth=inner
        )
        for key, each in value.items()
    }
