"""Expressions: checked against an allow-list and compiled once, evaluated per unit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ai_psychiatrist.validation.expressions.errors import EvaluationFailed, FailureKind
from ai_psychiatrist.validation.expressions.scope import Names, Scope

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
    is_walked: bool = False
    """Whether a key stands for each element of a list."""


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
