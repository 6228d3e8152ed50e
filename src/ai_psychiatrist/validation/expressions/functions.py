"""The functions and methods that expressions may call, and what each takes."""

from collections.abc import Callable, Collection, Mapping, Sized
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from ai_psychiatrist.validation.expressions.expression import (
    UNIT_STEPS,
    EvaluationFailed,
    Scope,
    StepScope,
)
from ai_psychiatrist.validation.expressions.operations import (
    CHARACTERS_PER_STEP,
    NUMBERS,
    Number,
    as_text,
    call_host,
    checked,
    is_there,
    number,
    walk,
    weigh,
    weigh_search,
)

MAX_NUMERAL: Final = 400
"""Characters of a text that is read as a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function or method of the table, and how it may be called."""

    run: Callable[..., object]
    least: int = 1
    most: int = 1
    """Numbers of positional arguments, a method's own value not counted."""
    keywords: frozenset[str] = frozenset()
    walks: Literal["no", "yes", "lazily", "itself"] = "no"
    """Whether the first argument is a collection, or a generator expression in its place.

    `lazily`: it stops at the first element that decides. `itself`: it takes single values too, and
    charges for what it walks.
    """
    takes_scope: bool = True


def _extreme(
    choose: Callable[..., object], scope: Scope, *values: object, **default: object
) -> object:
    candidates = walk(scope, values[0] if len(values) == 1 else values)
    return choose(_weighed(scope, candidates), **default)


def _in_order(scope: Scope, values: Collection[object], *, reverse: object = False) -> list[object]:
    return sorted(_weighed(scope, values), reverse=bool(reverse))  # type: ignore[type-var]


def _weighed(scope: Scope, values: Collection[object]) -> Collection[object]:
    """Charge for values that are compared many times: comparing texts or lists walks both."""
    if not NUMBERS.issuperset(map(type, values)):
        for value in values:
            weigh(scope, value)
            weigh(scope, value)
    return values


def _count(scope: Scope, values: Collection[object], *wanted: object) -> int:
    """Count the values that equal the wanted one, or the true ones among conditions."""
    if wanted:
        weigh_search(scope, wanted[0], len(values))
        return sum(value == wanted[0] for value in values)
    if any(type(condition) is not bool for condition in values):
        raise TypeError
    return sum(map(bool, values))


def _distinct(_: Scope, values: Collection[object]) -> list[object]:
    return list(dict.fromkeys(values))


def _rounded(_: Scope, value: object, digits: object = None) -> Number:
    if not isinstance(value, int | float):
        raise TypeError
    if digits is None:
        return round(value)
    if type(digits) is not int or not 0 <= digits <= 15:
        raise ValueError
    return round(value, digits)


def _read(kind: Callable[[str | Number], Number], _: Scope, value: object) -> Number:
    """Return a numeral or a number as one of its kind."""
    if not isinstance(value, str):
        return kind(number(value))
    if len(value) > MAX_NUMERAL or not value.isascii() or "_" in value:
        raise ValueError
    return checked(kind(value))


def _span(scope: Scope, *bounds: int) -> range:
    span = range(*bounds)
    if len(span) > UNIT_STEPS:
        raise EvaluationFailed("budget", None)
    # Looking for what is no whole number walks the whole range.
    scope.charge(len(span) // 16 + 1)
    return span


def _side_by_side(scope: Scope, *columns: Collection[object]) -> list[tuple[object, ...]]:
    return list(zip(*[walk(scope, column) for column in columns], strict=False))


def _numbered(_: Scope, values: Collection[object], start: int = 0) -> list[tuple[int, object]]:
    return list(enumerate(values, start))


def _value_or(_: Scope, holder: object, key: object, default: object = None) -> object:
    if isinstance(holder, dict):
        return holder.get(key, default)
    if isinstance(holder, list) and type(key) is int:
        return holder[key] if -len(holder) <= key < len(holder) else default
    raise TypeError


def _of_text(method: Callable[..., object], scope: Scope, text: str, *arguments: Sized) -> object:
    longest = max(map(len, arguments), default=0)
    scope.charge(len(text) * (longest // 16 + 1) // CHARACTERS_PER_STEP + 1)
    return method(text, *arguments)


def _split(scope: Scope, text: str, separator: str | None = None) -> list[str]:
    parts = str.split(text, separator)
    scope.charge(len(parts) + len(text) // CHARACTERS_PER_STEP)
    return parts


def _occurrences(scope: Scope, holder: object, wanted: object) -> int:
    if isinstance(holder, str) and isinstance(wanted, str):
        scope.charge(len(holder) // CHARACTERS_PER_STEP + 1)
        return holder.count(wanted)
    return _count(scope, _listed(scope, holder), wanted)


def _position(scope: Scope, holder: object, wanted: object) -> int:
    values = _listed(scope, holder)
    weigh_search(scope, wanted, len(values))
    for position, value in enumerate(values):
        if value == wanted:
            return position
    raise LookupError


def _listed(scope: Scope, holder: object) -> Collection[object]:
    if not isinstance(holder, list):
        raise TypeError
    return walk(scope, holder)


def _choice(scope: StepScope, values: object) -> object:
    if not isinstance(values, list | tuple | range | str):
        raise TypeError
    return scope.random.choice(values)


def _sample(scope: StepScope, values: object, count: object) -> list[object]:
    """Return so many of the values, none of them twice."""
    if not isinstance(values, list | tuple | range | str) or type(count) is not int:
        raise TypeError
    scope.charge(len(values) + 1)
    return scope.random.sample(values, count)


TYPES: Final[Mapping[str, type]] = {
    kind.__name__: kind for kind in (str, int, float, bool, list, dict)
}
"""Types that the second argument of `isinstance` may name."""

FORMS: Final = frozenset({"has", "dir", "isinstance"})
"""Written as calls, they read the expression itself."""
HOST_FUNCTIONS: Final = frozenset({"matches_quote"})
"""Only a host can answer them; without one they are unknown names."""

_TEXT_CUTS: Final = (str.strip, str.lstrip, str.rstrip)
_TEXT_QUESTIONS: Final = (
    *(str.lower, str.upper, str.casefold),
    *(str.isdigit, str.isalpha, str.isalnum, str.isupper, str.islower, str.isspace),
)
_BY_NAME: Final[Mapping[str, Function]] = {
    **{f.__name__: Function(run=f, takes_scope=False) for f in (len, abs, bool)},
    **{
        f.__name__: Function(run=f, least=0, walks="yes", takes_scope=False)
        for f in (set, list, tuple)
    },
    **{f.__name__: Function(run=f, walks="lazily", takes_scope=False) for f in (all, any)},
    **{
        f.__name__: Function(
            run=partial(_extreme, f), most=20, keywords=frozenset({"default"}), walks="itself"
        )
        for f in (min, max)
    },
    **{f.__name__: Function(run=partial(_read, f)) for f in (int, float)},
    "sum": Function(run=sum, walks="yes", takes_scope=False),
    "sorted": Function(run=_in_order, keywords=frozenset({"reverse"}), walks="yes"),
    "count": Function(run=_count, most=2, walks="yes"),
    "distinct": Function(run=_distinct, walks="yes"),
    "round": Function(run=_rounded, most=2),
    "str": Function(run=as_text, takes_scope=False),
    "range": Function(run=_span, most=3),
    "zip": Function(run=_side_by_side, most=4),
    "enumerate": Function(run=_numbered, most=2, keywords=frozenset({"start"}), walks="yes"),
    "get": Function(run=_value_or, least=2, most=3),
    "has": Function(run=is_there, takes_scope=False),
    "dir": Function(run=dict.keys, least=0, most=0, takes_scope=False),
    "isinstance": Function(run=isinstance, least=2, most=2, takes_scope=False),
    "matches_quote": Function(run=call_host, most=2),
}
_METHODS: Final[Mapping[str, Function]] = {
    **{
        view.__name__: Function(run=view, least=0, most=0, takes_scope=False)
        for view in (dict.keys, dict.values, dict.items)
    },
    **{
        ask.__name__: Function(run=partial(_of_text, ask), least=0, most=0)
        for ask in _TEXT_QUESTIONS
    },
    **{cut.__name__: Function(run=partial(_of_text, cut), least=0) for cut in _TEXT_CUTS},
    "get": Function(run=dict.get, most=2, takes_scope=False),
    "startswith": Function(run=partial(_of_text, str.startswith)),
    "endswith": Function(run=partial(_of_text, str.endswith)),
    "split": Function(run=_split, least=0),
    "count": Function(run=_occurrences),
    "index": Function(run=_position),
}
_RANDOM: Final[Mapping[str, Function]] = {
    "choice": Function(run=_choice),
    "sample": Function(run=_sample, least=2, most=2),
}
FUNCTIONS: Final[Mapping[str, Mapping[str, Function]]] = {
    "fn_": _BY_NAME,
    "method_": _METHODS,
    "random_": _RANDOM,
}
"""By how they are called: by name, on a value, or, in a step, of `random`."""
