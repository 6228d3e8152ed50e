"""Operators: arithmetic, and comparisons of values with one another."""

import ast

from ai_psychiatrist.validation.expressions.generated_code import OPERATORS, call, load
from ai_psychiatrist.validation.expressions.lowering import Lowering
from ai_psychiatrist.validation.expressions.operators import MAX_REPEATED
from ai_psychiatrist.validation.expressions.places import Around, FieldRead
from ai_psychiatrist.validation.expressions.syntax import refused, refused_part
from ai_psychiatrist.validation.expressions.written_values import (
    is_collection,
    is_number,
    is_singleton,
    is_text,
    whole_number,
)


def arithmetic(lowering: Lowering, node: ast.BinOp, around: Around) -> ast.expr:
    """Return the code of an operator between two values."""
    if type(node.op) not in OPERATORS:
        raise refused_part(node.op, at=node)
    if isinstance(node.op, ast.Mod) and is_text(node.left):
        raise refused("formatting a text with '%'", node)
    is_product = isinstance(node.op, ast.Mult)
    if is_product:
        _check_product(lowering, node)
    left, right = lowering.lower(node.left, around), lowering.lower(node.right, around)
    if lowering.is_step and is_product:
        return call("op_repeat", left, right)
    _compare_both(lowering, node.left, node.right, around)
    # A small number that is added or taken keeps the plain operator as safe as ours.
    if isinstance(node.op, ast.Add | ast.Sub) and (is_number(node.left) or is_number(node.right)):
        return ast.BinOp(left, node.op, right)
    return call(f"op_{type(node.op).__name__}", left, right)


def _check_product(lowering: Lowering, node: ast.BinOp) -> None:
    for operand in (node.left, node.right):
        if not lowering.is_step and is_collection(operand):
            raise refused("repeating a list or a text", node)
        if lowering.is_step and is_text(operand):
            raise refused("repeating a text", node)
    for listed, times in ((node.left, node.right), (node.right, node.left)):
        if isinstance(listed, ast.List) and len(listed.elts) * whole_number(times) > MAX_REPEATED:
            raise refused(f"repeating a list to more than {MAX_REPEATED} elements", node)


def comparison(lowering: Lowering, node: ast.Compare, around: Around) -> ast.expr:
    """Return the code of a chain of comparisons, or of a search for a value."""
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(operator, ast.Is | ast.IsNot) and not is_singleton(right):
            raise refused("'is' with anything but None, True or False", node)
        if isinstance(operator, ast.In | ast.NotIn) and len(node.ops) > 1:
            raise refused("'in' within a chain of comparisons", node)
    operands = [node.left, *node.comparators]
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        return _membership(lowering, node, *operands, around=around)
    lowered = lowering.lower_all(operands, around)
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        if not isinstance(operator, ast.Is | ast.IsNot):
            _compare_both(lowering, left, right, around)
    for place, (left, right) in enumerate(zip(operands, node.comparators, strict=False)):
        # Comparing with one written value is one step, whatever the other side is.
        if not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
            lowered[place] = call("op_weigh", lowered[place])
    return ast.Compare(lowered[0], node.ops, lowered[1:])


def _membership(
    lowering: Lowering, node: ast.Compare, needle: ast.expr, haystack: ast.expr, *, around: Around
) -> ast.expr:
    wanted, searched = lowering.lower(needle, around), lowering.lower(haystack, around)
    match haystack:
        case ast.Call(func=ast.Name(id="dir")):
            if isinstance(needle, ast.Constant) and isinstance(needle.value, str):
                lowering.reads.append(FieldRead(name=needle.value, is_guarded=True))
            return ast.Compare(wanted, node.ops, [load("names")])
        case ast.List() | ast.Tuple() | ast.Set():
            lowering.note_compared(needle, haystack.elts, around)
            if all(isinstance(element, ast.Constant) for element in haystack.elts):
                return ast.Compare(wanted, node.ops, [searched])
    lowering.note_item(haystack, needle, around)
    found = call("op_contains", wanted, searched)
    return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)


def _compare_both(lowering: Lowering, left: ast.expr, right: ast.expr, around: Around) -> None:
    lowering.note_compared(left, [right], around)
    lowering.note_compared(right, [left], around)
