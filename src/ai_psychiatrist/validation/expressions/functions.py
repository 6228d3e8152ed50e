"""The functions and methods that expressions may call, and what each takes."""

from collections.abc import Callable, Collection, Mapping, Sized
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.validation.expressions.operators import (
    CHARACTERS_PER_STEP,
    as_text,
    call_host,
    charge_inside,
    charge_search,
    checked_number,
    is_there,
    names_in,
    walk,
    walk_in_order,
)
from ai_psychiatrist.validation.expressions.refusal import BudgetSpent
from ai_psychiatrist.validation.expressions.scope import UNIT_STEPS, Scope, StepScope

MAX_NUMERAL: Final = 400
"""Characters of a text that is read as a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function or method of the table, and how it may be called."""

    run: Callable[..., object]
    least: int = 1
    most: int = 1
    """Numbers of positional arguments."""
    keywords: frozenset[str] = frozenset()
    walks: bool = False
    """Whether the first argument is a collection, or a generator expression in its place."""
    takes_single_values: bool = False
    """Whether several arguments are the values themselves."""
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


def _as_whole(_: Scope, value: object) -> int:
    return int(checked_number(_numeral(value, int)))


def _as_float(_: Scope, value: object) -> float:
    return float(checked_number(_numeral(value, float)))


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
    in_order = walk_in_order if isinstance(scope, StepScope) else walk
    walked = [in_order(scope, column) for column in columns]
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
    "len": Function(run=len, takes_scope=False),
    "abs": Function(run=abs, takes_scope=False),
    "bool": Function(run=bool, takes_scope=False),
    "sum": Function(run=sum, walks=True, takes_scope=False),
    "all": Function(run=all, walks=True, takes_scope=False, is_lazy=True),
    "any": Function(run=any, walks=True, takes_scope=False, is_lazy=True),
    "set": Function(run=set, least=0, walks=True, takes_scope=False),
    "list": Function(run=list, least=0, walks=True, takes_scope=False),
    "tuple": Function(run=tuple, least=0, walks=True, takes_scope=False),
    "sorted": Function(run=_in_order, keywords=frozenset({"reverse"}), walks=True),
    "min": Function(
        run=_smallest,
        most=20,
        keywords=frozenset({"default"}),
        walks=True,
        takes_single_values=True,
    ),
    "max": Function(
        run=_largest, most=20, keywords=frozenset({"default"}), walks=True, takes_single_values=True
    ),
    "count": Function(run=_count, most=2, walks=True),
    "distinct": Function(run=_distinct, walks=True),
    "round": Function(run=_rounded, most=2),
    "str": Function(run=as_text),
    "int": Function(run=_as_whole),
    "float": Function(run=_as_float),
    "range": Function(run=_span, most=3),
    "zip": Function(run=_side_by_side, most=4),
    "enumerate": Function(run=_numbered, most=2, keywords=frozenset({"start"}), walks=True),
    "get": Function(run=_value_or, least=2, most=3),
}

FORMS: Final[Mapping[str, Function]] = {
    "has": Function(run=is_there, takes_scope=False),
    "dir": Function(run=names_in, least=0, most=0, takes_scope=False),
    "isinstance": Function(run=isinstance, least=2, most=2, takes_scope=False),
}
"""Forms that are written as calls and read the expression itself."""

HOST_FUNCTIONS: Final[Mapping[str, Function]] = {"matches_quote": Function(run=call_host, most=2)}
"""Functions that only a host can answer; without one they are unknown names."""

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


_DICT_VIEWS: Final = (dict.keys, dict.values, dict.items)
_TEXT_CUTS: Final = (str.strip, str.lstrip, str.rstrip)
_TEXT_QUESTIONS: Final = (
    *(str.lower, str.upper, str.casefold),
    *(str.isdigit, str.isalpha, str.isalnum, str.isupper, str.islower, str.isspace),
)

METHODS: Final[Mapping[str, Function]] = {
    **{view.__name__: Function(run=_on_dict(view), least=0, most=0) for view in _DICT_VIEWS},
    "get": Function(run=_on_dict(dict.get), most=2),
    **{ask.__name__: Function(run=_on_text(ask), least=0, most=0) for ask in _TEXT_QUESTIONS},
    **{cut.__name__: Function(run=_on_text(cut), least=0) for cut in _TEXT_CUTS},
    "startswith": Function(run=_on_text(str.startswith)),
    "endswith": Function(run=_on_text(str.endswith)),
    "split": Function(run=_split, least=0),
    "count": Function(run=_occurrences),
    "index": Function(run=_position),
}
