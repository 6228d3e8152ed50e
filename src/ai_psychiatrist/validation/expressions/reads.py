"""Find out what an expression reads: the names, the places in them, and what they are taken for."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ai_psychiatrist.validation.expressions.functions import HOST_FUNCTIONS

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an expression reads, in the order of its text."""

    names: tuple[str, ...]
    reads: tuple[FieldRead, ...]
    compared_types: tuple[tuple[FieldRead, ConstantType], ...]
    """Places with the type of a constant that they are compared or calculated with."""
    constant_keys: frozenset[str]
    """Keys that the expression's own text writes out."""
    is_closed: bool
    """Whether the value cannot depend on the unit or its host."""


def find_reads(tree: ast.expr) -> Reading:
    """Return what a tree reads."""
    finder = _Finder()
    finder.visit(tree, {}, is_guarded=False)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return Reading(
        names=tuple(dict.fromkeys(read.name for read in finder.reads)),
        reads=tuple(dict.fromkeys(finder.reads)),
        compared_types=tuple(dict.fromkeys(finder.compared)),
        constant_keys=frozenset(
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ),
        is_closed=not finder.reads and used.isdisjoint({"dir", *HOST_FUNCTIONS}),
    )


_Bound: TypeAlias = Mapping[str, FieldRead | None]
"""Loop variables → the place whose elements they take, where it is known."""


class _Finder:
    def __init__(self) -> None:
        self.reads: list[FieldRead] = []
        self.compared: list[tuple[FieldRead, ConstantType]] = []

    def visit(self, node: ast.expr, bound: _Bound, *, is_guarded: bool) -> None:
        if self.visit_place(node, bound, is_guarded=is_guarded):
            return
        visitor = _VISITORS.get(type(node), _Finder.visit_parts)
        visitor(self, node, bound, is_guarded=is_guarded)

    def visit_place(self, node: ast.expr, bound: _Bound, *, is_guarded: bool) -> bool:
        """Take note of a name with constant subscripts; return whether the node is one."""
        if isinstance(node, ast.Name) and node.id in bound:
            return True
        place = _place(node, bound)
        if place is not None:
            self.reads.append(replace(place, is_guarded=is_guarded))
        return place is not None

    def visit_parts(self, node: ast.AST, bound: _Bound, *, is_guarded: bool) -> None:
        for part in _expressions_in(node):
            self.visit(part, bound, is_guarded=is_guarded)

    def visit_call(self, node: ast.Call, bound: _Bound, *, is_guarded: bool) -> None:
        match node.func, node.args:
            case ast.Name(id="has"), [ast.Constant(value=str() as name)]:
                self.reads.append(FieldRead(name=name, is_guarded=True))
            case ast.Name(id="has"), [place]:
                self.visit(place, bound, is_guarded=True)
            case ast.Name(id="isinstance"), [value, _]:
                self.visit(value, bound, is_guarded=is_guarded)
            case ast.Name(id="get"), [holder, key, *others]:
                self.visit_default(holder, key, others, bound, is_guarded=is_guarded)
            case ast.Attribute(value=holder, attr="get"), [key, *others]:
                self.visit_default(holder, key, others, bound, is_guarded=is_guarded)
            case func, arguments:
                holders = [func.value] if isinstance(func, ast.Attribute) else []
                values = [keyword.value for keyword in node.keywords]
                for part in (*holders, *arguments, *values):
                    self.visit(part, bound, is_guarded=is_guarded)

    def visit_default(
        self,
        holder: ast.expr,
        key: ast.expr,
        others: list[ast.expr],
        bound: _Bound,
        *,
        is_guarded: bool,
    ) -> None:
        self.visit(holder, bound, is_guarded=is_guarded)
        self.visit_place(_item(holder, key), bound, is_guarded=True)
        for part in (key, *others):
            self.visit(part, bound, is_guarded=is_guarded)

    def visit_comparison(self, node: ast.Compare, bound: _Bound, *, is_guarded: bool) -> None:
        if self._is_question_for_a_name(node):
            return
        operands = [node.left, *node.comparators]
        for operand in operands:
            self.visit(operand, bound, is_guarded=is_guarded)
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            if isinstance(operator, ast.In | ast.NotIn):
                self.visit_place(_item(right, left), bound, is_guarded=True)
                self._compare(left, _elements(right), bound)
            elif not isinstance(operator, ast.Is | ast.IsNot):
                self._compare(left, [right], bound)
                self._compare(right, [left], bound)

    def _is_question_for_a_name(self, node: ast.Compare) -> bool:
        match node:
            case ast.Compare(
                left=ast.Constant(value=str() as name),
                ops=[ast.In() | ast.NotIn()],
                comparators=[ast.Call(func=ast.Name(id="dir"))],
            ):
                self.reads.append(FieldRead(name=name, is_guarded=True))
                return True
        return False

    def visit_arithmetic(self, node: ast.BinOp, bound: _Bound, *, is_guarded: bool) -> None:
        self.visit_parts(node, bound, is_guarded=is_guarded)
        self._compare(node.left, [node.right], bound)
        self._compare(node.right, [node.left], bound)

    def _compare(self, node: ast.expr, constants: list[ast.expr], bound: _Bound) -> None:
        place = _place(node, bound)
        types = {_constant_type(constant) for constant in constants}
        if place is None or len(types) != 1:
            return
        kind = types.pop()
        if kind is not None:
            self.compared.append((place, kind))

    def visit_loop(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp,
        bound: _Bound,
        *,
        is_guarded: bool,
    ) -> None:
        inner = dict(bound)
        for generator in node.generators:
            self.visit(generator.iter, inner, is_guarded=is_guarded)
            walked = _place(generator.iter, inner)
            is_one = isinstance(generator.target, ast.Name)
            for name in _names_in(generator.target):
                inner[name] = _each(walked) if is_one else None
            for condition in generator.ifs:
                self.visit(condition, inner, is_guarded=is_guarded)
        self.visit(node.elt, inner, is_guarded=is_guarded)


def _place(node: ast.expr, bound: _Bound) -> FieldRead | None:
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


def _each(walked: FieldRead | None) -> FieldRead | None:
    return None if walked is None else replace(walked, keys=(*walked.keys, 0), is_walked=True)


def _item(holder: ast.expr, key: ast.expr) -> ast.expr:
    """Return the place of a constant key; of another key, what is no place."""
    is_text = isinstance(key, ast.Constant) and isinstance(key.value, str)
    return ast.Subscript(holder, key, ast.Load()) if is_text else ast.Constant(None)


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else []


def _constant_type(node: ast.expr) -> ConstantType | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    if not isinstance(node, ast.Constant):
        return None
    match node.value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case _:
            return None


def _expressions_in(node: ast.AST) -> Iterator[ast.expr]:
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            yield part


def _names_in(target: ast.expr) -> Iterable[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


_VISITORS: Final[Mapping[type[ast.expr], Callable[..., None]]] = {
    ast.BinOp: _Finder.visit_arithmetic,
    ast.Call: _Finder.visit_call,
    ast.Compare: _Finder.visit_comparison,
    ast.GeneratorExp: _Finder.visit_loop,
    ast.ListComp: _Finder.visit_loop,
    ast.SetComp: _Finder.visit_loop,
}
