"""The functions and methods that expressions may call, and what each takes."""

from collections.abc import Callable, Collection, Mapping, Sized
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.validation.expressions.operators import (
    CHARACTERS_PER_STEP,
    charge_inside,
    charge_search,
    checked,
    walk,
)
from ai_psychiatrist.validation.expressions.refusal import BudgetSpent
from ai_psychiatrist.validation.expressions.scope import UNIT_STEPS, Scope

MAX_NUMERAL: Final = 400
"""Characters of a text that is read as a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a function may be called."""

    least: int
    most: int
    """Numbers of positional arguments."""
    keywords: frozenset[str] = frozenset()
    walks: bool = False
    """Whether the first argument is a collection, or a generator expression in its place."""
    takes_single_values: bool = False
    """Whether several arguments are the values themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of the table."""

    shape: Shape
    run: Callable[..., object]
    takes_scope: bool = True
    is_lazy: bool = False
    """Whether it stops at the first element that decides."""


def _smallest(scope: Scope, *values: object, **default: object) -> object:
    return min(_candidates(scope, values), **default)  # type: ignore[call-overload]


def _largest(scope: Scope, *values: object, **default: object) -> object:
    return max(_candidates(scope, values), **default)  # type: ignore[call-overload]


def _candidates(scope: Scope, values: tuple[object, ...]) -> Collection[object]:
    candidates = values[0] if len(values) == 1 else values
    return _comparable(scope, walk(scope, candidates))


def _in_order(scope: Scope, values: Collection[object], *, reverse: object = False) -> list[object]:
    return sorted(_comparable(scope, values), reverse=bool(reverse))  # type: ignore[type-var]


_NUMBERS: Final = frozenset({int, float, bool})


def _comparable(scope: Scope, values: Collection[object]) -> Collection[object]:
    if not _NUMBERS.issuperset(map(type, values)):
        # Each is compared many times, and comparing texts or lists walks both.
        for value in values:
            charge_inside(scope, value)
            charge_inside(scope, value)
    return values


def _count(scope: Scope, values: Collection[object], *wanted: object) -> int:
    """Count the values that equal the wanted one, or the true ones among conditions."""
    if wanted:
        return sum(value == wanted[0] for value in _compared(scope, values, wanted[0]))
    conditions = list(values)
    if any(type(condition) is not bool for condition in conditions):
        raise TypeError
    return sum(map(bool, conditions))


def _compared(scope: Scope, values: Collection[object], wanted: object) -> Collection[object]:
    charge_search(scope, wanted, len(values))
    return values


def _distinct(_: Scope, values: Collection[object]) -> list[object]:
    return list(dict.fromkeys(values))


def _rounded(_: Scope, number: object, digits: object = None) -> int | float:
    if not isinstance(number, int | float):
        raise TypeError
    if digits is None:
        return round(number)
    if type(digits) is not int or not 0 <= digits <= 15:
        raise ValueError
    return round(number, digits)


def _as_text(_: Scope, value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        raise TypeError
    return str(checked(value))


def _as_whole(_: Scope, value: object) -> int:
    return int(checked(_numeral(value, int)))


def _as_float(_: Scope, value: object) -> float:
    return float(checked(_numeral(value, float)))


def _numeral(value: object, read: Callable[[str], int | float]) -> int | float:
    if isinstance(value, str):
        if len(value) > MAX_NUMERAL or not value.isascii() or "_" in value:
            raise ValueError
        return read(value)
    if not isinstance(value, int | float):
        raise TypeError
    return value


def _span(scope: Scope, *bounds: int) -> range:
    span = range(*bounds)
    if len(span) > UNIT_STEPS:
        raise BudgetSpent
    # Looking for what is no whole number walks the whole range.
    scope.charge(len(span) // 16 + 1)
    return span


def _side_by_side(scope: Scope, *columns: Collection[object]) -> list[tuple[object, ...]]:
    walked = [walk(scope, column) for column in columns]
    return list(zip(*walked, strict=False))


def _numbered(_: Scope, values: Collection[object], start: int = 0) -> list[tuple[int, object]]:
    return list(enumerate(values, start))


def _value_or(_: Scope, holder: object, key: object, default: object = None) -> object:
    if isinstance(holder, dict):
        return holder.get(key, default)
    if isinstance(holder, list) and type(key) is int:
        return holder[key] if -len(holder) <= key < len(holder) else default
    raise TypeError


FUNCTIONS: Final[Mapping[str, Function]] = {
    "len": Function(shape=Shape(least=1, most=1), run=len, takes_scope=False),
    "abs": Function(shape=Shape(least=1, most=1), run=abs, takes_scope=False),
    "bool": Function(shape=Shape(least=1, most=1), run=bool, takes_scope=False),
    "sum": Function(shape=Shape(least=1, most=1, walks=True), run=sum, takes_scope=False),
    "all": Function(
        shape=Shape(least=1, most=1, walks=True), run=all, takes_scope=False, is_lazy=True
    ),
    "any": Function(
        shape=Shape(least=1, most=1, walks=True), run=any, takes_scope=False, is_lazy=True
    ),
    "set": Function(shape=Shape(least=0, most=1, walks=True), run=set, takes_scope=False),
    "list": Function(shape=Shape(least=0, most=1, walks=True), run=list, takes_scope=False),
    "tuple": Function(shape=Shape(least=0, most=1, walks=True), run=tuple, takes_scope=False),
    "sorted": Function(
        shape=Shape(least=1, most=1, keywords=frozenset({"reverse"}), walks=True), run=_in_order
    ),
    "min": Function(
        shape=Shape(
            least=1, most=20, keywords=frozenset({"default"}), walks=True, takes_single_values=True
        ),
        run=_smallest,
    ),
    "max": Function(
        shape=Shape(
            least=1, most=20, keywords=frozenset({"default"}), walks=True, takes_single_values=True
        ),
        run=_largest,
    ),
    "count": Function(shape=Shape(least=1, most=2, walks=True), run=_count),
    "distinct": Function(shape=Shape(least=1, most=1, walks=True), run=_distinct),
    "round": Function(shape=Shape(least=1, most=2), run=_rounded),
    "str": Function(shape=Shape(least=1, most=1), run=_as_text),
    "int": Function(shape=Shape(least=1, most=1), run=_as_whole),
    "float": Function(shape=Shape(least=1, most=1), run=_as_float),
    "range": Function(shape=Shape(least=1, most=3), run=_span),
    "zip": Function(shape=Shape(least=1, most=4), run=_side_by_side),
    "enumerate": Function(
        shape=Shape(least=1, most=2, keywords=frozenset({"start"}), walks=True), run=_numbered
    ),
    "get": Function(shape=Shape(least=2, most=3), run=_value_or),
}

HOST_FUNCTIONS: Final[Mapping[str, Shape]] = {"matches_quote": Shape(least=1, most=2)}
"""Functions that only a host can answer; without one they are unknown names."""

SPECIAL_FUNCTIONS: Final[Mapping[str, Shape]] = {
    "has": Shape(least=1, most=1),
    "dir": Shape(least=0, most=0),
    "isinstance": Shape(least=2, most=2),
}
"""Forms that are written as calls and read the expression itself."""

TYPES: Final[Mapping[str, type]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
}
"""Types that the second argument of `isinstance` may name."""


def _on_dict(method: Callable[..., object]) -> Callable[..., object]:
    def run(_: Scope, holder: object, *arguments: object) -> object:
        return method(holder, *arguments)

    return run


def _on_text(method: Callable[..., object]) -> Callable[..., object]:
    def run(scope: Scope, text: str, *arguments: Sized) -> object:
        longest = max(map(len, arguments), default=0)
        scope.charge(len(text) * (longest // 16 + 1) // CHARACTERS_PER_STEP + 1)
        return method(text, *arguments)

    return run


def _split(scope: Scope, text: str, separator: str | None = None) -> list[str]:
    parts = str.split(text, separator)
    scope.charge(len(parts) + len(text) // CHARACTERS_PER_STEP)
    return parts


def _occurrences(scope: Scope, holder: object, wanted: object) -> int:
    if isinstance(holder, str) and isinstance(wanted, str):
        scope.charge(len(holder) // CHARACTERS_PER_STEP + 1)
        return holder.count(wanted)
    return _count(scope, _walked(scope, holder), wanted)


def _position(scope: Scope, holder: object, wanted: object) -> int:
    for position, value in enumerate(_compared(scope, _walked(scope, holder), wanted)):
        if value == wanted:
            return position
    raise LookupError


def _walked(scope: Scope, holder: object) -> Collection[object]:
    if not isinstance(holder, list):
        raise TypeError
    return walk(scope, holder)


_NOTHING: Final = Shape(least=0, most=0)
_ONE: Final = Shape(least=1, most=1)
_ONE_OR_NOTHING: Final = Shape(least=0, most=1)

METHODS: Final[Mapping[str, Function]] = {
    "keys": Function(shape=_NOTHING, run=_on_dict(dict.keys)),
    "values": Function(shape=_NOTHING, run=_on_dict(dict.values)),
    "items": Function(shape=_NOTHING, run=_on_dict(dict.items)),
    "get": Function(shape=Shape(least=1, most=2), run=_on_dict(dict.get)),
    "lower": Function(shape=_NOTHING, run=_on_text(str.lower)),
    "upper": Function(shape=_NOTHING, run=_on_text(str.upper)),
    "casefold": Function(shape=_NOTHING, run=_on_text(str.casefold)),
    "strip": Function(shape=_ONE_OR_NOTHING, run=_on_text(str.strip)),
    "lstrip": Function(shape=_ONE_OR_NOTHING, run=_on_text(str.lstrip)),
    "rstrip": Function(shape=_ONE_OR_NOTHING, run=_on_text(str.rstrip)),
    "startswith": Function(shape=_ONE, run=_on_text(str.startswith)),
    "endswith": Function(shape=_ONE, run=_on_text(str.endswith)),
    "isdigit": Function(shape=_NOTHING, run=_on_text(str.isdigit)),
    "isalpha": Function(shape=_NOTHING, run=_on_text(str.isalpha)),
    "isalnum": Function(shape=_NOTHING, run=_on_text(str.isalnum)),
    "isupper": Function(shape=_NOTHING, run=_on_text(str.isupper)),
    "islower": Function(shape=_NOTHING, run=_on_text(str.islower)),
    "isspace": Function(shape=_NOTHING, run=_on_text(str.isspace)),
    "split": Function(shape=_ONE_OR_NOTHING, run=_split),
    "count": Function(shape=_ONE, run=_occurrences),
    "index": Function(shape=_ONE, run=_position),
}
