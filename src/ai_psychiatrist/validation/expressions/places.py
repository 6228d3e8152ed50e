"""The places that an expression reads: a name, with constant subscripts or without."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

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


LoopVariables: TypeAlias = Mapping[str, FieldRead | None]
"""Loop variables → the place whose elements they take, where it is known."""


def place_of(node: ast.expr, bound: LoopVariables) -> FieldRead | None:
    """Return the place of the unit that a node names; `None` when it names none."""
    keys: list[str | int] = []
    while isinstance(node, ast.Subscript):
        key = _key(node.slice)
        if key is None:
            return None
        keys.insert(0, key)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    if node.id not in bound:
        return FieldRead(name=node.id, keys=tuple(keys))
    walked = bound[node.id]
    # Without a key of text the variable may also be the key of an object that is walked.
    if walked is None or not any(isinstance(key, str) for key in keys[:1]):
        return None
    return replace(walked, keys=(*walked.keys, *keys))


def _key(node: ast.expr) -> str | int | None:
    match node:
        case ast.Constant(value=str() | int() as key) if not isinstance(key, bool):
            return key
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as key)):
            return -key
        case _:
            return None


def item_of(holder: ast.expr, key: ast.expr, bound: LoopVariables) -> FieldRead | None:
    """Return the place under a constant key of text; `None` for another key."""
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    return place_of(ast.Subscript(holder, key, ast.Load()), bound)


def each_of(walked: FieldRead | None) -> FieldRead | None:
    """Return the place of each element of a list that is walked."""
    return None if walked is None else replace(walked, keys=(*walked.keys, 0), is_walked=True)


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
