"""The kinds of expressions, and what each may use."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from ai_psychiatrist.validation.expressions.functions import (
    FUNCTIONS,
    HOST_FUNCTIONS,
    METHODS,
    SPECIAL_FUNCTIONS,
    Shape,
)
from ai_psychiatrist.validation.expressions.grammar import Grammar


class ExpressionKind(Enum):
    """Where an expression stands."""

    RULE = "rule"
    """A rule, or the condition of one: it is evaluated for every unit."""
    EXPRESSION_STEP = "expression_step"
    """A step made of expressions: its syntax is checked, it is not run."""


_RULE: Final = Grammar(
    functions={
        **{name: function.shape for name, function in FUNCTIONS.items()},
        **HOST_FUNCTIONS,
        **SPECIAL_FUNCTIONS,
    },
    methods={name: method.shape for name, method in METHODS.items()},
    modules={},
)

_NOTHING: Final = Shape(least=0, most=0)
_ONE: Final = Shape(least=1, most=1)
_TWO: Final = Shape(least=2, most=2)

_RANDOM: Final[Mapping[str, Shape]] = {
    "choice": _ONE,
    "choices": Shape(least=1, most=2, keywords=frozenset({"k", "weights"})),
    "gauss": _TWO,
    "randint": _TWO,
    "random": _NOTHING,
    "sample": _TWO,
    "uniform": _TWO,
}

_STEP: Final = Grammar(
    functions={
        **_RULE.functions,
        "dict": Shape(least=0, most=1, walks=True),
    },
    methods={
        **_RULE.methods,
        "capitalize": _NOTHING,
        "join": Shape(least=1, most=1, walks=True),
        "replace": _TWO,
        "splitlines": _NOTHING,
        "title": _NOTHING,
    },
    modules={"random": _RANDOM},
    formatted_text=True,
    repeated_literals=10_000,
)

GRAMMARS: Final[Mapping[ExpressionKind, Grammar]] = {
    ExpressionKind.RULE: _RULE,
    ExpressionKind.EXPRESSION_STEP: _STEP,
}
