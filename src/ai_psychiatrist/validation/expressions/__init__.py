"""Expressions that rules are written in: an allow-listed part of Python, compiled once."""

from ai_psychiatrist.validation.expressions.expression import (
    CheckedExpression,
    Expression,
    check_expression,
    compile_expression,
)
from ai_psychiatrist.validation.expressions.kinds import ExpressionKind
from ai_psychiatrist.validation.expressions.message_template import MessageTemplate
from ai_psychiatrist.validation.expressions.reads import ConstantType, FieldRead
from ai_psychiatrist.validation.expressions.refusal import (
    EvaluationFailed,
    ExpressionRefused,
    FailureKind,
)
from ai_psychiatrist.validation.expressions.scope import Scope

__all__ = [
    "CheckedExpression",
    "ConstantType",
    "EvaluationFailed",
    "Expression",
    "ExpressionKind",
    "ExpressionRefused",
    "FailureKind",
    "FieldRead",
    "MessageTemplate",
    "Scope",
    "check_expression",
    "compile_expression",
]
