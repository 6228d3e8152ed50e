"""What expressions do at run time: operators that could grow without bound, and their cost.

Functions take the scope first and return what the plain operator would, or raise what it would;
`EvaluationFailed` of the kind `budget` when the unit has no steps left. Values are JSON's types,
and the tuples, sets, ranges and views that expressions make of them.
"""

import math
from collections.abc import Callable, Collection
from typing import Final, TypeAlias

from ai_psychiatrist.validation.expressions.expression import EvaluationFailed, Scope, StepScope

CHARACTERS_PER_STEP: Final = 256
HOST_CALL_STEPS: Final = 50
MAX_BITS: Final = 1024
"""Longer whole numbers take no part in arithmetic."""
MAX_REPEATED: Final = 10_000
"""Elements of a list that is made by repeating one."""
MAX_FILLED_IN: Final = 1_000_000
"""Characters of a text that is made by filling in others."""

Number: TypeAlias = int | float

NUMBERS: Final = frozenset({int, float, bool})
_SCALARS: Final = NUMBERS | {type(None)}
_OBJECT: Final[dict[str, object]] = {}
VIEWS: Final = (type(_OBJECT.keys()), type(_OBJECT.values()), type(_OBJECT.items()))
_WALKABLE: Final = frozenset({list, dict, tuple, set, str, range, *VIEWS})
_HASHED: Final = frozenset({dict, set, VIEWS[0]})


def walk(scope: Scope, source: object, weight: int = 1) -> Collection[object]:
    """Return a collection that is about to be walked; each element costs `weight` steps.

    The order of a set differs between processes, so a step, which hands on what it finds, gets
    its elements sorted.
    """
    if type(source) not in _WALKABLE or not isinstance(source, Collection):
        raise TypeError
    scope.charge(len(source) * weight + 1)
    if not isinstance(source, set) or not isinstance(scope, StepScope):
        return source
    weigh(scope, tuple(source))
    return sorted(source)


def weigh(scope: Scope, value: object) -> object:
    """Return a value that is about to be compared or written.

    Each value inside it costs a step, and each 256 characters of text.
    """
    if type(value) in _SCALARS:
        return value
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            scope.charge(len(inner) // CHARACTERS_PER_STEP + 1)
        elif type(inner) in _WALKABLE and isinstance(inner, Collection):
            scope.charge(len(inner) + 1)
            if isinstance(inner, dict):
                waiting.extend(inner.values())
            elif not isinstance(inner, set | range):
                waiting.extend(inner)
    return value


def weigh_search(scope: Scope, wanted: object, times: int) -> None:
    """Charge for comparing a value with so many others."""
    if isinstance(wanted, str):
        scope.charge(len(wanted) // CHARACTERS_PER_STEP * times)
    else:
        left = scope.steps_left
        weigh(scope, wanted)
        scope.charge((left - scope.steps_left) * times)


def contains(scope: Scope, needle: object, haystack: object) -> bool:
    """Return whether a collection or a text contains a value."""
    if isinstance(haystack, str):
        if not isinstance(needle, str):
            raise TypeError
        scope.charge((len(haystack) + len(needle)) // CHARACTERS_PER_STEP + 1)
        return needle in haystack
    if type(haystack) in _HASHED:
        scope.charge(1)
    else:
        weigh_search(scope, needle, len(walk(scope, haystack)))
    return needle in haystack  # type: ignore[operator]


def part(
    scope: Scope, value: object, first: int | None, last: int | None, step: int | None
) -> object:
    """Return a slice of a list or a text."""
    taken = _sequence(value)[first:last:step]
    scope.charge(_size(taken))
    return taken


def _sequence(value: object) -> str | list[object] | tuple[object, ...]:
    if not isinstance(value, str | list | tuple):
        raise TypeError
    return value


def _size(value: str | list[object] | tuple[object, ...]) -> int:
    return len(value) // (CHARACTERS_PER_STEP if isinstance(value, str) else 1) + 1


def add(scope: Scope, left: object, right: object) -> object:
    """Return the sum of two numbers, or two texts or lists as one."""
    if type(left) in NUMBERS and type(right) in NUMBERS:
        return checked(left + right)  # type: ignore[operator]
    scope.charge(_size(_sequence(left)))
    scope.charge(_size(_sequence(right)))
    return left + right  # type: ignore[operator]


def subtract(scope: Scope, left: object, right: object) -> object:
    """Return the difference of two numbers or of two sets."""
    if isinstance(left, set) and isinstance(right, set):
        scope.charge(len(left) + len(right))
        return left - right
    return checked(number(left) - number(right))


def repeat(scope: Scope, left: object, right: object) -> object:
    """Return the product of two numbers, or a list repeated, of no more than 10,000 elements."""
    listed, times = (left, right) if isinstance(left, list) else (right, left)
    if not isinstance(listed, list):
        return checked(number(left) * number(right))
    if type(times) is not int:
        raise TypeError
    if len(listed) * times > MAX_REPEATED:
        raise EvaluationFailed("budget", None)
    scope.charge(len(listed) * max(times, 0) + 1)
    return listed * times


def fill_in(scope: Scope, *parts: object) -> str:
    """Return texts, numbers, truth values and null as one text."""
    written = ["None" if part is None else as_text(part) for part in parts]
    size = sum(map(len, written))
    if size > MAX_FILLED_IN:
        raise EvaluationFailed("budget", None)
    scope.charge(size // CHARACTERS_PER_STEP + 1)
    return "".join(written)


def number(value: object) -> Number:
    """Return a number that may be calculated with; raise `TypeError` for anything else."""
    if not isinstance(value, int | float):
        raise TypeError
    return checked(value)


def checked(value: Number) -> Number:
    """Return a number that is finite and not too long; raise `OverflowError` otherwise."""
    is_bounded = (
        math.isfinite(value) if isinstance(value, float) else value.bit_length() <= MAX_BITS
    )
    if not is_bounded:
        raise OverflowError
    return value


def as_text(value: object) -> str:
    """Return a text, number or truth value as text."""
    return value if isinstance(value, str) else str(number(value))


def is_there(probe: Callable[[], object]) -> bool:
    """Return whether a path of names and keys leads to a value, null included."""
    try:
        probe()
    except EvaluationFailed as problem:
        if problem.kind == "budget":
            raise
        return False
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return False
    return True


def call_host(scope: Scope, name: str, *arguments: object) -> object:
    """Return what a function of the host gives; one that is not there is an unknown name."""
    function = scope.host.get(name)
    if function is None:
        raise EvaluationFailed("unknown_name", name)
    scope.charge(HOST_CALL_STEPS)
    return function(*arguments)
