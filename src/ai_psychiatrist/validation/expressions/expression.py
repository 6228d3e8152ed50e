"""Expressions: checked against an allow-list and compiled once, evaluated per unit."""

import ast
from dataclasses import dataclass, field
from enum import Enum

from ai_psychiatrist.validation.expressions.compiler import CompiledFunction, compile_tree
from ai_psychiatrist.validation.expressions.places import ConstantType, FieldRead
from ai_psychiatrist.validation.expressions.refusal import (
    BudgetSpent,
    EvaluationFailed,
    FailureKind,
    UnknownName,
)
from ai_psychiatrist.validation.expressions.scope import Scope
from ai_psychiatrist.validation.expressions.syntax import read


class ExpressionKind(Enum):
    """Where an expression stands, which decides what it may use."""

    RULE = "rule"
    """A rule, or the condition of one."""
    EXPRESSION_STEP = "expression_step"
    """A step made of expressions: it may also draw at random, repeat lists and fill in texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A compiled expression and what it reads."""

    source: str = field(repr=False)
    reads: tuple[FieldRead, ...]
    compared_types: tuple[tuple[FieldRead, ConstantType], ...]
    """Places with the type of a constant that they are compared or calculated with."""
    constant: bool | None
    """The value, where it is the same true or false for every unit."""
    size: int
    """Parts of its text."""
    constant_keys: frozenset[str] = field(repr=False)
    function: CompiledFunction = field(repr=False)

    @property
    def names(self) -> frozenset[str]:
        """Fields and namespaces that it reads."""
        return frozenset(read.name for read in self.reads)

    @property
    def first_name(self) -> str | None:
        """The first field that the text names."""
        return self.reads[0].name if self.reads else None

    def evaluate(self, scope: Scope) -> object:
        """Return the value for one unit.

        Raises `EvaluationFailed`, which names fields and keys of the expression's text and never a
        value.
        """
        try:
            return self.function(scope.names, scope)
        except UnknownName as problem:
            kind: FailureKind = "unknown_name"
            name: str | None = problem.name
        except LookupError as problem:
            kind, name = "missing_key", self._missing(problem)
        except ArithmeticError:
            kind, name = "arithmetic", self.first_name
        except (BudgetSpent, RecursionError, MemoryError):
            kind, name = "budget", self.first_name
        except (TypeError, ValueError):
            kind, name = "wrong_type", self.first_name
        raise EvaluationFailed(kind, name)

    def _missing(self, problem: LookupError) -> str | None:
        key = problem.args[0] if isinstance(problem, KeyError) and problem.args else None
        if isinstance(key, str) and key in self.constant_keys:
            return key
        return self.first_name


def compile_expression(source: str, *, kind: ExpressionKind = ExpressionKind.RULE) -> Expression:
    """Compile an expression.

    Raises `ExpressionRefused`, which says what is not allowed and at which column.
    """
    tree = read(source)
    compiled = compile_tree(tree, is_step=kind is ExpressionKind.EXPRESSION_STEP)
    return Expression(
        source=source,
        reads=compiled.reads,
        compared_types=compiled.compared_types,
        constant=_constant(compiled.function) if compiled.is_closed else None,
        size=sum(1 for _ in ast.walk(tree)),
        constant_keys=compiled.constant_keys,
        function=compiled.function,
    )


def _constant(function: CompiledFunction) -> bool | None:
    empty = Scope(out={})
    try:
        value = function(empty.names, empty)
    except (BudgetSpent, LookupError, ArithmeticError, TypeError, ValueError):
        return None
    return value if isinstance(value, bool) else None
