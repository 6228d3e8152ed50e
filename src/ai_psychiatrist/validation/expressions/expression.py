"""Expressions of rules: checked against an allow-list and compiled once, evaluated per unit."""

from dataclasses import dataclass, field
from typing import Literal

from ai_psychiatrist.validation.expressions.grammar import check
from ai_psychiatrist.validation.expressions.kinds import GRAMMARS, ExpressionKind
from ai_psychiatrist.validation.expressions.lowering import CompiledFunction, lower
from ai_psychiatrist.validation.expressions.reads import ConstantType, FieldRead, find_reads
from ai_psychiatrist.validation.expressions.refusal import (
    BudgetSpent,
    EvaluationFailed,
    FailureKind,
    UnknownName,
)
from ai_psychiatrist.validation.expressions.scope import Scope
from ai_psychiatrist.validation.expressions.syntax import read


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A compiled expression and what it reads."""

    source: str = field(repr=False)
    names: frozenset[str]
    """Fields and namespaces that it reads."""
    reads: tuple[FieldRead, ...]
    compared_types: tuple[tuple[FieldRead, ConstantType], ...]
    """Places with the type of a constant that they are compared or calculated with."""
    constant: bool | None
    """The value, where it is the same true or false for every unit."""
    constant_keys: frozenset[str] = field(repr=False)
    function: CompiledFunction = field(repr=False)

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


def compile_expression(
    source: str,
    *,
    kind: Literal[ExpressionKind.RULE] = ExpressionKind.RULE,
) -> Expression:
    """Compile the expression of a rule or of its condition; no other kind is ever run.

    Raises `ExpressionRefused`, which says what is not allowed and at which column.
    """
    tree = read(source)
    check(tree, GRAMMARS[kind])
    function = lower(tree)
    reading = find_reads(tree)
    return Expression(
        source=source,
        names=frozenset(reading.names),
        reads=reading.reads,
        compared_types=reading.compared_types,
        constant=_constant(function) if reading.is_closed else None,
        constant_keys=reading.constant_keys,
        function=function,
    )


def _constant(function: CompiledFunction) -> bool | None:
    empty = Scope(out={})
    try:
        value = function(empty.names, empty)
    except (BudgetSpent, LookupError, ArithmeticError, TypeError, ValueError):
        return None
    return value if isinstance(value, bool) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedExpression:
    """An expression that uses nothing but what its kind offers."""

    source: str = field(repr=False)
    names: frozenset[str]
    """Fields and namespaces that it reads."""


def check_expression(
    source: str, *, kind: ExpressionKind = ExpressionKind.EXPRESSION_STEP
) -> CheckedExpression:
    """Check an expression without making it run.

    Raises `ExpressionRefused`, which says what is not allowed and at which column.
    """
    tree = read(source)
    grammar = GRAMMARS[kind]
    check(tree, grammar)
    names = frozenset(find_reads(tree).names)
    return CheckedExpression(source=source, names=names.difference(grammar.modules))
