"""Decide whether a tree uses only what is offered: an allow-list, for rules and for steps."""

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.validation.expressions.functions import TYPES, Shape
from ai_psychiatrist.validation.expressions.refusal import ExpressionRefused
from ai_psychiatrist.validation.expressions.syntax import column_of

MAX_TEXT: Final = 1_000
"""Characters of one text in an expression."""
MAX_NUMBER: Final = 10**18
MAX_LOOPS: Final = 2
"""`for` parts that may run inside one another."""

COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.GeneratorExp)

_REFUSED: Final[Mapping[type[ast.AST], str]] = {
    ast.Attribute: "reading an attribute",
    ast.Await: "'await'",
    ast.DictComp: "a dictionary built in a loop",
    ast.FormattedValue: "a formatted text",
    ast.GeneratorExp: "a loop in round brackets outside of a function that walks it",
    ast.JoinedStr: "a formatted text",
    ast.Lambda: "'lambda'",
    ast.NamedExpr: "an assignment",
    ast.Slice: "a slice in this place",
    ast.Starred: "unpacking with '*'",
    ast.Yield: "'yield'",
    ast.YieldFrom: "'yield'",
    ast.BitAnd: "'&'",
    ast.BitOr: "'|'",
    ast.BitXor: "'^'",
    ast.Invert: "'~'",
    ast.LShift: "'<<'",
    ast.MatMult: "'@'",
    ast.Pow: "'**'",
    ast.RShift: "'>>'",
}

_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What one kind of expression may call and write."""

    functions: Mapping[str, Shape]
    methods: Mapping[str, Shape]
    modules: Mapping[str, Mapping[str, Shape]]
    """Module → its functions; a module is only ever called through."""
    formatted_text: bool = False
    repeated_literals: int = 0
    """How often a written list or text may be repeated; 0 refuses it."""


def refused(what: str, node: ast.AST) -> ExpressionRefused:
    """Return the refusal of a part of an expression."""
    return ExpressionRefused(f"{what} is not allowed", column_of(node))


def check(tree: ast.expr, grammar: Grammar) -> None:
    """Raise `ExpressionRefused` for the first part of a tree that the grammar does not offer."""
    _Checker(grammar).check(tree, 0)


class _Checker:
    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar

    def check(self, node: ast.expr, loops: int) -> None:
        checker = _CHECKS.get(type(node))
        if checker is None:
            raise refused(_REFUSED.get(type(node), "this"), node)
        checker(self, node, loops)

    def check_all(self, nodes: Iterable[ast.expr | None], loops: int) -> None:
        for node in nodes:
            if node is not None:
                self.check(node, loops)

    def constant(self, node: ast.Constant, _: int) -> None:
        match node.value:
            case None | bool():
                return
            case str() as text if len(text) <= MAX_TEXT:
                return
            case int() | float() as number if abs(number) <= MAX_NUMBER:
                return
            case str():
                raise refused(f"a text of more than {MAX_TEXT} characters", node)
            case int() | float():
                raise refused("a number beyond 10 to the power of 18", node)
            case _:
                raise refused("a constant of this type", node)

    def name(self, node: ast.Name, _: int) -> None:
        if node.id.startswith("__"):
            raise refused("a name that begins with '__'", node)

    def boolean(self, node: ast.BoolOp, loops: int) -> None:
        self.check_all(node.values, loops)

    def unary(self, node: ast.UnaryOp, loops: int) -> None:
        if not isinstance(node.op, ast.Not | ast.USub | ast.UAdd):
            raise refused(_REFUSED[type(node.op)], node)
        self.check(node.operand, loops)

    def arithmetic(self, node: ast.BinOp, loops: int) -> None:
        if not isinstance(node.op, _ARITHMETIC):
            raise refused(_REFUSED[type(node.op)], node)
        if isinstance(node.op, ast.Mult):
            self._product(node)
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            raise refused("formatting a text with '%'", node)
        self.check_all((node.left, node.right), loops)

    def _product(self, node: ast.BinOp) -> None:
        limit = self._grammar.repeated_literals
        for repeated, times in ((node.left, node.right), (node.right, node.left)):
            if not _is_collection(repeated):
                continue
            is_once = not isinstance(repeated, ast.BinOp)
            match times:
                case ast.Constant(value=int() as number) if is_once and number <= limit:
                    pass
                case _ if limit:
                    raise refused(f"repeating other than by a written number up to {limit}", node)
                case _:
                    raise refused("repeating a list or a text", node)

    def comparison(self, node: ast.Compare, loops: int) -> None:
        operands = [node.left, *node.comparators]
        for place, operator in enumerate(node.ops):
            if isinstance(operator, ast.Is | ast.IsNot) and not _is_singleton(operands[place + 1]):
                raise refused("'is' with anything but None, True or False", node)
            if isinstance(operator, ast.In | ast.NotIn) and len(node.ops) > 1:
                raise refused("'in' within a chain of comparisons", node)
        self.check_all(operands, loops)

    def conditional(self, node: ast.IfExp, loops: int) -> None:
        self.check_all((node.test, node.body, node.orelse), loops)

    def subscript(self, node: ast.Subscript, loops: int) -> None:
        self.check(node.value, loops)
        if isinstance(node.slice, ast.Slice):
            self.check_all((node.slice.lower, node.slice.upper, node.slice.step), loops)
        else:
            self.check(node.slice, loops)

    def collection(self, node: ast.List | ast.Tuple | ast.Set, loops: int) -> None:
        self.check_all(node.elts, loops)

    def dictionary(self, node: ast.Dict, loops: int) -> None:
        if None in node.keys:
            raise refused("unpacking with '**'", node)
        self.check_all((*node.keys, *node.values), loops)

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, loops: int
    ) -> None:
        inner = loops + len(node.generators)
        if inner > MAX_LOOPS:
            raise refused(f"more than {MAX_LOOPS} loops inside one another", node)
        for place, generator in enumerate(node.generators):
            if generator.is_async:
                raise refused("'async'", node)
            self.check(generator.iter, loops + place)
            self._targets(generator.target)
            self.check_all(generator.ifs, loops + place + 1)
        self.check(node.elt, inner)

    def _targets(self, target: ast.expr) -> None:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        for part in parts:
            if not isinstance(part, ast.Name):
                raise refused("a loop over anything but plain names", part)
            self.name(part, 0)

    def call(self, node: ast.Call, loops: int) -> None:
        shape = self._shape(node, loops)
        if not shape.least <= len(node.args) <= shape.most:
            raise refused("calling this with so many or so few values", node)
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg not in shape.keywords:
                raise refused("a value given by this name", keyword)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        for place, value in enumerate(values):
            if place == 0 and shape.walks and isinstance(value, ast.GeneratorExp):
                self.comprehension(value, loops)
            else:
                self.check(value, loops)

    def _shape(self, node: ast.Call, loops: int) -> Shape:
        match node.func:
            case ast.Name(id=name):
                shape = self._grammar.functions.get(name)
                if shape is None:
                    raise refused(f"calling {name!r}", node)
                self._special(name, node)
                return shape
            case ast.Attribute(value=ast.Name(id=module), attr=name) if (
                module in self._grammar.modules
            ):
                shape = self._grammar.modules[module].get(name)
            case ast.Attribute(value=holder, attr=name):
                shape = self._grammar.methods.get(name)
                self.check(holder, loops)
            case _:
                raise refused("calling what is no function of the table", node)
        if shape is None:
            raise refused(f"calling {name!r}", node)
        return shape

    def _special(self, name: str, node: ast.Call) -> None:
        if name == "has" and not all(map(is_place, node.args)):
            raise refused("'has' of anything but a field", node)
        if name == "isinstance" and not all(is_type(argument) for argument in node.args[1:]):
            raise refused(f"'isinstance' with a type other than {', '.join(TYPES)}", node)

    def formatted(self, node: ast.JoinedStr, loops: int) -> None:
        if not self._grammar.formatted_text:
            raise refused("a formatted text", node)
        self.check_all(node.values, loops)

    def replaced(self, node: ast.FormattedValue, loops: int) -> None:
        self.check(node.value, loops)
        match node.format_spec:
            case None:
                return
            case ast.JoinedStr(values=[ast.Constant(value=str() as spec)]) if _is_plain(spec):
                return
            case _:
                raise refused("this way of formatting", node)


def is_place(node: ast.expr) -> bool:
    """Return whether a node is a name, or a name in a text, with subscripts or without."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.isidentifier()
    while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        node = node.value
    return isinstance(node, ast.Name)


def is_type(node: ast.expr) -> bool:
    """Return whether a node names a type, or several."""
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(name, ast.Name) and name.id in TYPES for name in names)


def _is_singleton(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_collection(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_collection(node.left) or _is_collection(node.right)
    return _is_text(node) or isinstance(
        node, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp
    )


def _is_plain(spec: str) -> bool:
    digits = "".join(character if character.isdigit() else " " for character in spec).split()
    return len(spec) <= 20 and all(int(number) <= 100 for number in digits)


_CHECKS: Final[Mapping[type[ast.expr], Callable[..., None]]] = {
    ast.BinOp: _Checker.arithmetic,
    ast.BoolOp: _Checker.boolean,
    ast.Call: _Checker.call,
    ast.Compare: _Checker.comparison,
    ast.Constant: _Checker.constant,
    ast.Dict: _Checker.dictionary,
    ast.FormattedValue: _Checker.replaced,
    ast.IfExp: _Checker.conditional,
    ast.JoinedStr: _Checker.formatted,
    ast.List: _Checker.collection,
    ast.ListComp: _Checker.comprehension,
    ast.Name: _Checker.name,
    ast.Set: _Checker.collection,
    ast.SetComp: _Checker.comprehension,
    ast.Subscript: _Checker.subscript,
    ast.Tuple: _Checker.collection,
    ast.UnaryOp: _Checker.unary,
}
