"""Expressions of rules and steps: an allow-listed part of Python, compiled once."""

from ai_psychiatrist.validation.expressions.compiler import ExpressionKind, compile_expression
from ai_psychiatrist.validation.expressions.expression import (
    EvaluationFailed,
    Expression,
    ExpressionRefused,
    FieldRead,
    Scope,
)
from ai_psychiatrist.validation.expressions.message_template import MessageTemplate
from ai_psychiatrist.validation.expressions.procedure import (
    LOOP,
    MOST_ITERATIONS,
    Procedure,
    compile_procedure,
    is_local,
)

__all__ = [
    "LOOP",
    "MOST_ITERATIONS",
    "EvaluationFailed",
    "Expression",
    "ExpressionKind",
    "ExpressionRefused",
    "FieldRead",
    "MessageTemplate",
    "Procedure",
    "Scope",
    "compile_expression",
    "compile_procedure",
    "is_local",
]
