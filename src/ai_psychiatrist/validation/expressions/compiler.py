"""Turn a tree into a function of one unit, in one walk that refuses what is not offered.

Names become look-ups, operators and calls become our own functions, and loops announce how much
they will walk. The function sees nothing else: it has no built-ins and no names of its own.
"""

import ast
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.validation.expressions.calls import lower_call
from ai_psychiatrist.validation.expressions.generated_code import (
    CompiledFunction,
    call,
    function_of,
    load,
)
from ai_psychiatrist.validation.expressions.loops import loop
from ai_psychiatrist.validation.expressions.lowering import Lowering, Lowerings
from ai_psychiatrist.validation.expressions.operations import arithmetic, comparison
from ai_psychiatrist.validation.expressions.places import Around, FieldRead, place_of
from ai_psychiatrist.validation.expressions.syntax import (
    check_constant,
    check_name,
    refused,
    refused_part,
)
from ai_psychiatrist.validation.expressions.written_values import ConstantType


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A function, and what the text that it was made of reads, in the order of the text."""

    function: CompiledFunction = field(repr=False)
    reads: tuple[FieldRead, ...]
    compared_types: tuple[tuple[FieldRead, ConstantType], ...]
    constant_keys: frozenset[str]
    """Texts that the expression itself writes out."""
    is_closed: bool
    """Whether the value cannot depend on the unit, its host or chance."""


def compile_tree(tree: ast.expr, *, is_step: bool) -> Compiled:
    """Return the function of a tree; `is_step`: with what a step may use beyond a rule.

    Raises `ExpressionRefused` for the first part that is not offered.
    """
    lowering = Lowering(_LOWERINGS, is_step=is_step)
    body = lowering.lower(tree, Around())
    return Compiled(
        function=function_of(body),
        reads=tuple(dict.fromkeys(lowering.reads)),
        compared_types=tuple(dict.fromkeys(lowering.compared)),
        constant_keys=frozenset(lowering.texts),
        is_closed=lowering.is_closed and not lowering.reads,
    )


def _constant(lowering: Lowering, node: ast.Constant, _: Around) -> ast.expr:
    check_constant(node)
    if isinstance(node.value, str):
        lowering.texts.add(node.value)
    return ast.Constant(node.value)


def _place(lowering: Lowering, node: ast.Name | ast.Subscript, around: Around) -> ast.expr:
    place = place_of(node, around.bound)
    if place is not None:
        lowering.reads.append(replace(place, is_guarded=around.is_guarded))
        return _path(lowering, node, around)
    if isinstance(node, ast.Name):
        return _path(lowering, node, around)
    holder = lowering.lower(node.value, around)
    if not isinstance(node.slice, ast.Slice):
        return ast.Subscript(holder, lowering.lower(node.slice, around), ast.Load())
    bounds = (node.slice.lower, node.slice.upper, node.slice.step)
    nothing = ast.Constant(None)
    lowered = [nothing if bound is None else lowering.lower(bound, around) for bound in bounds]
    return call("op_part", holder, *lowered)


def _path(lowering: Lowering, node: ast.expr, around: Around) -> ast.expr:
    if isinstance(node, ast.Subscript):
        inner = _path(lowering, node.value, around)
        return ast.Subscript(inner, lowering.lower(node.slice, around), ast.Load())
    if not isinstance(node, ast.Name):
        raise refused_part(node)
    check_name(node)
    if node.id in around.bound:
        return load(f"each_{node.id}")
    return ast.Subscript(load("names"), ast.Constant(node.id), ast.Load())


def _boolean(lowering: Lowering, node: ast.BoolOp, around: Around) -> ast.expr:
    return ast.BoolOp(node.op, lowering.lower_all(node.values, around))


def _unary(lowering: Lowering, node: ast.UnaryOp, around: Around) -> ast.expr:
    if not isinstance(node.op, ast.Not | ast.USub | ast.UAdd):
        raise refused_part(node.op, at=node)
    return ast.UnaryOp(node.op, lowering.lower(node.operand, around))


def _conditional(lowering: Lowering, node: ast.IfExp, around: Around) -> ast.expr:
    return ast.IfExp(*lowering.lower_all((node.test, node.body, node.orelse), around))


def _sequence(lowering: Lowering, node: ast.List | ast.Tuple, around: Around) -> ast.expr:
    return type(node)(lowering.lower_all(node.elts, around), ast.Load())


def _set(lowering: Lowering, node: ast.Set, around: Around) -> ast.expr:
    return ast.Set(lowering.lower_all(node.elts, around))


def _dictionary(lowering: Lowering, node: ast.Dict, around: Around) -> ast.expr:
    keys = [key for key in node.keys if key is not None]
    if len(keys) < len(node.keys):
        raise refused("unpacking with '**'", node)
    return ast.Dict([*lowering.lower_all(keys, around)], lowering.lower_all(node.values, around))


def _text(lowering: Lowering, node: ast.JoinedStr, around: Around) -> ast.expr:
    if not lowering.is_step:
        raise refused("a formatted text", node)
    return call("op_fill_in", *lowering.lower_all(node.values, around))


def _filled_in(lowering: Lowering, node: ast.FormattedValue, around: Around) -> ast.expr:
    if node.conversion != -1 or node.format_spec is not None:
        raise refused("a conversion or format in a text", node)
    return lowering.lower(node.value, around)


_LOWERINGS: Final[Lowerings] = {
    ast.BinOp: arithmetic,
    ast.BoolOp: _boolean,
    ast.Call: lower_call,
    ast.Compare: comparison,
    ast.Constant: _constant,
    ast.Dict: _dictionary,
    ast.FormattedValue: _filled_in,
    ast.GeneratorExp: loop,
    ast.IfExp: _conditional,
    ast.JoinedStr: _text,
    ast.List: _sequence,
    ast.ListComp: loop,
    ast.Name: _place,
    ast.Set: _set,
    ast.SetComp: loop,
    ast.Subscript: _place,
    ast.Tuple: _sequence,
    ast.UnaryOp: _unary,
}
