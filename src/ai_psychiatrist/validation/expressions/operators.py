"""Operators whose plain forms could grow without bound, and the count of their work.

Every function takes the scope first and returns what the plain operator would, or raises what it
would; `BudgetSpent` when the unit has no steps left. Values are JSON's types, and the tuples, sets,
ranges and views that expressions make of them.
"""

import math
from collections.abc import Callable, Collection
from typing import Final, TypeAlias

from ai_psychiatrist.validation.expressions.refusal import BudgetSpent, UnknownName
from ai_psychiatrist.validation.expressions.scope import Names, Scope

CHARACTERS_PER_STEP: Final = 256
HOST_CALL_STEPS: Final = 50
MAX_BITS: Final = 1024
"""Longer whole numbers take no part in arithmetic."""
MAX_REPEATED: Final = 10_000
"""Elements of a list that is made by repeating one."""
MAX_FILLED_IN: Final = 1_000_000
"""Characters of a text that is made by filling in others."""

Number: TypeAlias = int | float

_NUMBERS: Final = frozenset({int, float, bool})
_SCALARS: Final = _NUMBERS | {type(None)}
_WALKABLE: Final = frozenset(
    {list, dict, tuple, set, str, range, type({}.keys()), type({}.values()), type({}.items())}
)
_HASHED: Final = frozenset({dict, set, type({}.keys())})


def walk(scope: Scope, source: object, weight: int = 1) -> Collection[object]:
    """Return a collection that is about to be walked; each element costs `weight` steps."""
    if type(source) not in _WALKABLE or not isinstance(source, Collection):
        raise TypeError
    scope.charge(len(source) * weight + 1)
    return source


def walk_in_order(scope: Scope, source: object, weight: int = 1) -> Collection[object]:
    """Return a collection that is about to be walked in the same order by every process.

    The order of a set differs between processes: its elements are sorted.
    """
    walked = walk(scope, source, weight)
    if not isinstance(walked, set):
        return walked
    charge_inside(scope, tuple(walked))
    return sorted(walked)


def weigh(scope: Scope, value: object) -> object:
    """Return a value that is about to be compared; what is inside of it costs steps."""
    if type(value) not in _SCALARS:
        charge_inside(scope, value)
    return value


def charge_inside(scope: Scope, value: object) -> None:
    """Charge one step for each value inside a value, and for each 256 characters of text."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        match inner:
            case str():
                scope.charge(len(inner) // CHARACTERS_PER_STEP + 1)
            case dict():
                scope.charge(len(inner) + 1)
                waiting.extend(inner.values())
            case list() | tuple():
                scope.charge(len(inner) + 1)
                waiting.extend(inner)
            case set() | range():
                scope.charge(len(inner) + 1)
            case _ if type(inner) in _WALKABLE:
                # A view of an object: what is inside of it counts with the object.
                waiting.extend(walk(scope, inner))


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
        charge_search(scope, needle, len(walk(scope, haystack)))
    return needle in haystack  # type: ignore[operator]


def charge_search(scope: Scope, wanted: object, times: int) -> None:
    """Charge for comparing a value with so many others."""
    if isinstance(wanted, str):
        scope.charge(len(wanted) // CHARACTERS_PER_STEP * times)
    elif type(wanted) not in _SCALARS:
        left = scope.steps_left
        charge_inside(scope, wanted)
        scope.charge((left - scope.steps_left) * times)


def part(
    scope: Scope, value: object, first: int | None, last: int | None, step: int | None
) -> object:
    """Return a slice of a list or a text."""
    if not isinstance(value, str | list | tuple):
        raise TypeError
    taken = value[first:last:step]
    scope.charge(_cost(taken))
    return taken


def _cost(value: str | list[object] | tuple[object, ...]) -> int:
    if isinstance(value, str):
        return len(value) // CHARACTERS_PER_STEP + 1
    return len(value) + 1


def add(scope: Scope, left: object, right: object) -> object:
    """Return the sum of two numbers, or two texts or lists as one."""
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return checked_number(left + right)  # type: ignore[operator]
    for value in (left, right):
        if not isinstance(value, str | list | tuple):
            raise TypeError
        scope.charge(_cost(value))
    return left + right  # type: ignore[operator]


def subtract(scope: Scope, left: object, right: object) -> object:
    """Return the difference of two numbers or of two sets."""
    if isinstance(left, set) and isinstance(right, set):
        scope.charge(len(left) + len(right))
        return left - right
    first, second = _operands(left, right)
    return checked_number(first - second)


def multiply_or_repeat(scope: Scope, left: object, right: object) -> object:
    """Return the product of two numbers, or a list repeated, of no more than 10,000 elements."""
    listed, times = (left, right) if isinstance(left, list) else (right, left)
    if not isinstance(listed, list):
        return multiply(scope, left, right)
    if type(times) is not int:
        raise TypeError
    if len(listed) * times > MAX_REPEATED:
        raise BudgetSpent
    scope.charge(len(listed) * max(times, 0) + 1)
    return listed * times


def fill_in(scope: Scope, *parts: object) -> str:
    """Return texts, numbers, truth values and null as one text."""
    written = ["None" if part is None else as_text(scope, part) for part in parts]
    size = sum(map(len, written))
    if size > MAX_FILLED_IN:
        raise BudgetSpent
    scope.charge(size // CHARACTERS_PER_STEP + 1)
    return "".join(written)


def multiply(_: Scope, left: object, right: object) -> Number:
    """Return the product of two numbers; texts and lists are never repeated."""
    first, second = _operands(left, right)
    return checked_number(first * second)


def divide(_: Scope, left: object, right: object) -> Number:
    """Return the quotient of two numbers."""
    first, second = _operands(left, right)
    return checked_number(first / second)


def divide_whole(_: Scope, left: object, right: object) -> Number:
    """Return the quotient of two numbers, rounded down."""
    first, second = _operands(left, right)
    return checked_number(first // second)


def remainder(_: Scope, left: object, right: object) -> Number:
    """Return the remainder of a division; never a formatted text."""
    first, second = _operands(left, right)
    return checked_number(first % second)


def _operands(left: object, right: object) -> tuple[Number, Number]:
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        raise TypeError
    return checked_number(left), checked_number(right)


def checked_number(number: Number) -> Number:
    """Return a number that is finite and not too long; raise `OverflowError` otherwise."""
    if isinstance(number, float):
        if not math.isfinite(number):
            raise OverflowError
    elif number.bit_length() > MAX_BITS:
        raise OverflowError
    return number


def as_text(_: Scope, value: object) -> str:
    """Return a text, number or truth value as text."""
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        raise TypeError
    return str(checked_number(value))


def is_there(probe: Callable[[], object]) -> bool:
    """Return whether a path of names and keys leads to a value, be it null."""
    try:
        probe()
    except (UnknownName, LookupError, TypeError, ValueError, ArithmeticError):
        return False
    return True


def names_in(names: Names) -> Collection[str]:
    """Return the names in scope."""
    return names.keys()


def call_host(scope: Scope, name: str, *arguments: object) -> object:
    """Return what a function of the host gives; one that is not there is an unknown name."""
    function = scope.host.get(name)
    if function is None:
        raise UnknownName(name)
    scope.charge(HOST_CALL_STEPS)
    return function(*arguments)
