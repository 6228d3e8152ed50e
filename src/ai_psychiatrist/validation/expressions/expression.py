"""Expressions: checked and compiled once, what they see of one unit, and how they can fail."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Final, Literal, NoReturn, TypeAlias

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError

FailureKind: TypeAlias = Literal[
    "unknown_name", "missing_key", "wrong_type", "budget", "arithmetic", "endless_loop"
]


class ExpressionRefused(ConfigurationError):
    """An expression uses something that is not offered, or is no expression at all."""

    def __init__(
        self,
        message: str,
        column: int,
        *,
        place: str | None = None,
        called: str | None = None,
        offered: frozenset[str] = frozenset(),
    ) -> None:
        where = f"{message} (column {column})"
        super().__init__(where if place is None else f"{place}: {where}")
        self.message = message
        """What is refused, without its position."""
        self.column = column
        """Counted from 1."""
        self.called = called
        """The function that is not offered, where that is what is refused."""
        self.offered = offered
        """The functions that are, in its place."""


class EvaluationFailed(AssessmentServiceError):
    """An expression has no value for one unit."""

    def __init__(self, kind: FailureKind, name: str | None, *, field: str | None = None) -> None:
        what = kind if name is None else f"{kind}: {name!r}"
        super().__init__(what if field is None else f"{field}: {what}")
        self.kind: FailureKind = kind
        self.name = name
        """The field or key as the expression's text names it; `None` when it names none."""
        self.field = field
        """The field of an expression step that has no value, or `loop_until`."""

    @property
    def reason(self) -> str:
        """The rest of a sentence that begins with the expression."""
        value = "a value" if self.name is None else f"the field {self.name!r}"
        return _REASONS[self.kind].format(value=value)


_REASONS: dict[FailureKind, str] = {
    "unknown_name": "needs {value}, which is not there",
    "missing_key": "needs {value}, which is not there",
    "arithmetic": "cannot calculate with {value}: it divides by zero or leaves the numbers",
    "wrong_type": "cannot use {value}: a value has the wrong type for it",
    "budget": "needs more steps for this unit than are allowed",
    "endless_loop": "does not hold after as many rounds as are allowed",
}


UNIT_STEPS: Final = 100_000
"""Steps of work for all expressions of one unit: one is about one element of a collection."""

_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_NO_HOST: Final[Mapping[str, Callable[..., object]]] = MappingProxyType({})


class Names(dict[str, object]):
    """The names of one unit; one that is not there fails the evaluation."""

    __slots__ = ()

    def __missing__(self, name: str) -> NoReturn:
        """Fail for a name that is not there."""
        raise EvaluationFailed("unknown_name", name)


class Scope:
    """One unit as its expressions see it.

    A bare name is the answer's field, else the input's; a protected name is the input's first.
    `out`, `inp` and `meta` are the whole namespaces and hide fields of these names. A scope
    serves one unit: the steps its expressions take add up.
    """

    __slots__ = ("host", "names", "steps_left")

    def __init__(
        self,
        *,
        out: Mapping[str, object],
        inp: Mapping[str, object] = _NOTHING,
        meta: Mapping[str, object] = _NOTHING,
        protected: frozenset[str] = frozenset(),
        host: Mapping[str, Callable[..., object]] = _NO_HOST,
        steps: int = UNIT_STEPS,
    ) -> None:
        names = Names(inp)
        names.update(out)
        for name in protected:
            if name in inp:
                names[name] = inp[name]
        names["out"] = out if type(out) is dict else dict(out)
        names["inp"] = inp if type(inp) is dict else dict(inp)
        names["meta"] = meta if type(meta) is dict else dict(meta)
        self.names = names
        self.host = host
        self.steps_left = steps

    def charge(self, steps: int) -> None:
        """Take steps off what the unit has left; fail the evaluation when too few are left."""
        self.steps_left -= steps
        if self.steps_left < 0:
            raise EvaluationFailed("budget", None)


class StepScope(Scope):
    """One unit as an expression step sees it: bare names alone, and its own random numbers."""

    __slots__ = ("random",)

    def __init__(self, names: Mapping[str, object], generator: Random) -> None:
        super().__init__(out={})
        self.names = Names(names)
        self.random = generator


ConstantType: TypeAlias = Literal["number", "string", "boolean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRead:
    """One place that an expression reads."""

    name: str
    """A field, or one of the namespaces `out`, `inp` and `meta`."""
    keys: tuple[str | int, ...] = ()
    """Constant subscripts; 0 stands for each element of a list that is walked."""
    is_guarded: bool = False
    """Whether the expression only asks if the place is there, or has a value to put for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A compiled expression and what it reads, in the order of its text."""

    reads: tuple[FieldRead, ...]
    compared_types: tuple[tuple[FieldRead, ConstantType], ...]
    """Places with the type of a constant that they are compared or calculated with."""
    is_closed: bool
    """Whether the value cannot depend on the unit, its host or chance."""
    size: int
    """Parts of its text."""
    constant_keys: frozenset[str] = field(repr=False)
    """Texts that the expression itself writes out."""
    function: Callable[[Names, Scope], object] = field(repr=False)

    @property
    def names(self) -> frozenset[str]:
        """Fields and namespaces that it reads."""
        return frozenset(read.name for read in self.reads)

    @property
    def first_name(self) -> str | None:
        """The first field that the text names."""
        return self.reads[0].name if self.reads else None

    @property
    def constant(self) -> bool | None:
        """The value, where it is the same true or false for every unit."""
        try:
            value = self.evaluate(Scope(out={})) if self.is_closed else None
        except EvaluationFailed:
            return None
        return value if isinstance(value, bool) else None

    def evaluate(self, scope: Scope) -> object:
        """Return the value for one unit.

        Raises `EvaluationFailed`, which names fields and keys of the expression's text and never a
        value.
        """
        try:
            return self.function(scope.names, scope)
        except EvaluationFailed as problem:
            kind: FailureKind = problem.kind
            name = problem.name or self.first_name
        except LookupError as problem:
            key = problem.args[0] if isinstance(problem, KeyError) and problem.args else None
            is_written = isinstance(key, str) and key in self.constant_keys
            kind, name = "missing_key", key if is_written else self.first_name
        except ArithmeticError:
            kind, name = "arithmetic", self.first_name
        except (RecursionError, MemoryError):
            kind, name = "budget", self.first_name
        except (TypeError, ValueError):
            kind, name = "wrong_type", self.first_name
        raise EvaluationFailed(kind, name)
