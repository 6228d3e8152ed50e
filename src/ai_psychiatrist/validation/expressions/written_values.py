"""What the text of an expression writes out itself: numbers, texts, collections, types."""

import ast
from typing import Literal, TypeAlias

from ai_psychiatrist.validation.expressions.functions import TYPES

ConstantType: TypeAlias = Literal["number", "string", "boolean"]


def names_a_place(node: ast.expr) -> bool:
    """Return whether a node is a name, or a name in a text, with subscripts or without."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.isidentifier()
    while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        node = node.value
    return isinstance(node, ast.Name)


def constant_type(node: ast.expr) -> ConstantType | None:
    """Return the type of a written value; `None` for null and for what is no written value."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    match node:
        case ast.Constant(value=bool()):
            return "boolean"
        case ast.Constant(value=int() | float()):
            return "number"
        case ast.Constant(value=str()):
            return "string"
        case _:
            return None


def is_number(node: ast.expr) -> bool:
    """Return whether a number is written."""
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}


def whole_number(node: ast.expr) -> int:
    """Return a written whole number; 0 for anything else."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case _:
            return 0


def is_singleton(node: ast.expr) -> bool:
    """Return whether a node is null, true or false."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def is_text(node: ast.expr) -> bool:
    """Return whether a text is written, filled in or not."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def is_collection(node: ast.expr) -> bool:
    """Return whether a text, list or other collection is written."""
    if isinstance(node, ast.BinOp):
        return is_collection(node.left) or is_collection(node.right)
    return is_text(node) or isinstance(
        node, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp
    )


def names_types(node: ast.expr) -> bool:
    """Return whether a node names a type, or several."""
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(name, ast.Name) and name.id in TYPES for name in names)
