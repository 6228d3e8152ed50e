"""The code that expressions become: what it may name, and how it is made.

It sees nothing else: it has no built-ins and no names of its own.
"""

import ast
import warnings
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Final, TypeAlias

from ai_psychiatrist.validation.expressions import operators
from ai_psychiatrist.validation.expressions.functions import (
    FORMS,
    FUNCTIONS,
    HOST_FUNCTIONS,
    METHODS,
    TYPES,
    Function,
)
from ai_psychiatrist.validation.expressions.sampling import RANDOM
from ai_psychiatrist.validation.expressions.scope import Names, Scope

CompiledFunction: TypeAlias = Callable[[Names, Scope], object]

OPERATORS: Final[Mapping[type[ast.operator], Callable[..., object]]] = {
    ast.Add: operators.add,
    ast.Sub: operators.subtract,
    ast.Mult: operators.multiply,
    ast.Div: operators.divide,
    ast.FloorDiv: operators.divide_whole,
    ast.Mod: operators.remainder,
}

CALLED_BY_NAME: Final[Mapping[str, Function]] = {**FUNCTIONS, **FORMS, **HOST_FUNCTIONS}

_GLOBALS: Final[dict[str, object]] = {
    "__builtins__": {},
    **{f"op_{kind.__name__}": run for kind, run in OPERATORS.items()},
    "op_walk": operators.walk,
    "op_walk_in_order": operators.walk_in_order,
    "op_weigh": operators.weigh,
    "op_contains": operators.contains,
    "op_part": operators.part,
    "op_repeat": operators.multiply_or_repeat,
    "op_fill_in": operators.fill_in,
    **{f"fn_{name}": function.run for name, function in CALLED_BY_NAME.items()},
    **{f"method_{name}": method.run for name, method in METHODS.items()},
    **{f"random_{name}": function.run for name, function in RANDOM.items()},
    **{f"type_{name}": kind for name, kind in TYPES.items()},
}


def function_of(body: ast.expr) -> CompiledFunction:
    """Return the function whose value is a body of generated code."""
    parameters = [ast.arg("names"), ast.arg("scope")]
    whole = ast.fix_missing_locations(ast.Expression(without_name(parameters, body)))
    with warnings.catch_warnings():
        # Python warns of comparisons that can never hold; they are ours to report.
        warnings.simplefilter("ignore", SyntaxWarning)
        module = compile(whole, "<expression>", "eval")
    code = next(part for part in module.co_consts if isinstance(part, CodeType))
    return FunctionType(code, _GLOBALS)


def without_name(parameters: list[ast.arg], body: ast.expr) -> ast.Lambda:
    """Return a function of some parameters."""
    arguments = ast.arguments(
        posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return ast.Lambda(arguments, body)


def load(name: str) -> ast.Name:
    """Return the value of a name of the generated code."""
    return ast.Name(name, ast.Load())


def call(function: str, *arguments: ast.expr, takes_scope: bool = True) -> ast.Call:
    """Return a call of one of our own functions."""
    scope = [load("scope")] if takes_scope else []
    return ast.Call(load(function), [*scope, *arguments], [])
