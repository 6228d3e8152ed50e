"""Turn a tree into a function of one unit, in one walk that refuses what is not offered.

Names become look-ups, operators and calls become our own functions, and loops announce how much
they will walk. The function sees nothing else: it has no built-ins and no names of its own.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ai_psychiatrist.validation.expressions.calls import lower_call
from ai_psychiatrist.validation.expressions.generated_code import (
    OPERATORS,
    CompiledFunction,
    call,
    function_of,
    load,
)
from ai_psychiatrist.validation.expressions.operators import MAX_REPEATED
from ai_psychiatrist.validation.expressions.places import (
    Around,
    FieldRead,
    each_of,
    item_of,
    place_of,
)
from ai_psychiatrist.validation.expressions.syntax import check_constant, refused, refused_part
from ai_psychiatrist.validation.expressions.written_values import (
    ConstantType,
    constant_type,
    is_collection,
    is_number,
    is_singleton,
    is_text,
    whole_number,
)

MAX_LOOPS: Final = 2
"""`for` parts that may run inside one another."""
NODES_PER_STEP: Final = 16

_Loop: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp


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
    compiler = Compiler(is_step=is_step)
    body = compiler.lower(tree, Around())
    return Compiled(
        function=function_of(body),
        reads=tuple(dict.fromkeys(compiler.reads)),
        compared_types=tuple(dict.fromkeys(compiler.compared)),
        constant_keys=frozenset(compiler.texts),
        is_closed=compiler.is_closed and not compiler.reads,
    )


class Compiler:
    """Lowers the parts of one expression and notes what they read."""

    def __init__(self, *, is_step: bool) -> None:
        self.is_step = is_step
        # What rules are told does not hang on an order; what steps hand on does.
        self.walks = "op_walk_in_order" if is_step else "op_walk"
        self.reads: list[FieldRead] = []
        self.compared: list[tuple[FieldRead, ConstantType]] = []
        self.texts: set[str] = set()
        self.is_closed = True

    def lower(self, node: ast.expr, around: Around) -> ast.expr:
        lowering = _LOWERINGS.get(type(node))
        if lowering is None:
            raise refused_part(node)
        return lowering(self, node, around)

    def lower_all(self, nodes: Sequence[ast.expr], around: Around) -> list[ast.expr]:
        return [self.lower(node, around) for node in nodes]

    def constant(self, node: ast.Constant, _: Around) -> ast.expr:
        check_constant(node)
        if isinstance(node.value, str):
            self.texts.add(node.value)
        return ast.Constant(node.value)

    def place(self, node: ast.Name | ast.Subscript, around: Around) -> ast.expr:
        place = place_of(node, around.bound)
        if place is not None:
            self.reads.append(replace(place, is_guarded=around.is_guarded))
            return self._path(node, around)
        if isinstance(node, ast.Name):
            return self._path(node, around)
        holder = self.lower(node.value, around)
        if not isinstance(node.slice, ast.Slice):
            return ast.Subscript(holder, self.lower(node.slice, around), ast.Load())
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        nothing = ast.Constant(None)
        lowered = [nothing if bound is None else self.lower(bound, around) for bound in bounds]
        return call("op_part", holder, *lowered)

    def _path(self, node: ast.expr, around: Around) -> ast.expr:
        if isinstance(node, ast.Subscript):
            inner = self._path(node.value, around)
            return ast.Subscript(inner, self.lower(node.slice, around), ast.Load())
        if not isinstance(node, ast.Name):
            raise refused_part(node)
        _check_name(node)
        if node.id in around.bound:
            return load(f"each_{node.id}")
        return ast.Subscript(load("names"), ast.Constant(node.id), ast.Load())

    def boolean(self, node: ast.BoolOp, around: Around) -> ast.expr:
        return ast.BoolOp(node.op, self.lower_all(node.values, around))

    def unary(self, node: ast.UnaryOp, around: Around) -> ast.expr:
        if not isinstance(node.op, ast.Not | ast.USub | ast.UAdd):
            raise refused_part(node.op, at=node)
        return ast.UnaryOp(node.op, self.lower(node.operand, around))

    def conditional(self, node: ast.IfExp, around: Around) -> ast.expr:
        return ast.IfExp(*self.lower_all((node.test, node.body, node.orelse), around))

    def sequence(self, node: ast.List | ast.Tuple, around: Around) -> ast.expr:
        return type(node)(self.lower_all(node.elts, around), ast.Load())

    def set(self, node: ast.Set, around: Around) -> ast.expr:
        return ast.Set(self.lower_all(node.elts, around))

    def dictionary(self, node: ast.Dict, around: Around) -> ast.expr:
        keys = [key for key in node.keys if key is not None]
        if len(keys) < len(node.keys):
            raise refused("unpacking with '**'", node)
        return ast.Dict([*self.lower_all(keys, around)], self.lower_all(node.values, around))

    def text(self, node: ast.JoinedStr, around: Around) -> ast.expr:
        if not self.is_step:
            raise refused("a formatted text", node)
        return call("op_fill_in", *self.lower_all(node.values, around))

    def filled_in(self, node: ast.FormattedValue, around: Around) -> ast.expr:
        if node.conversion != -1 or node.format_spec is not None:
            raise refused("a conversion or format in a text", node)
        return self.lower(node.value, around)

    def arithmetic(self, node: ast.BinOp, around: Around) -> ast.expr:
        if type(node.op) not in OPERATORS:
            raise refused_part(node.op, at=node)
        if isinstance(node.op, ast.Mod) and is_text(node.left):
            raise refused("formatting a text with '%'", node)
        is_product = isinstance(node.op, ast.Mult)
        if is_product:
            self._check_product(node)
        left, right = self.lower(node.left, around), self.lower(node.right, around)
        if self.is_step and is_product:
            return call("op_repeat", left, right)
        self._compare_both(node.left, node.right, around)
        # A small number that is added or taken keeps the plain operator as safe as ours.
        if isinstance(node.op, ast.Add | ast.Sub) and (
            is_number(node.left) or is_number(node.right)
        ):
            return ast.BinOp(left, node.op, right)
        return call(f"op_{type(node.op).__name__}", left, right)

    def _check_product(self, node: ast.BinOp) -> None:
        for operand in (node.left, node.right):
            if not self.is_step and is_collection(operand):
                raise refused("repeating a list or a text", node)
            if self.is_step and is_text(operand):
                raise refused("repeating a text", node)
        for listed, times in ((node.left, node.right), (node.right, node.left)):
            if (
                isinstance(listed, ast.List)
                and len(listed.elts) * whole_number(times) > MAX_REPEATED
            ):
                raise refused(f"repeating a list to more than {MAX_REPEATED} elements", node)

    def comparison(self, node: ast.Compare, around: Around) -> ast.expr:
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.Is | ast.IsNot) and not is_singleton(right):
                raise refused("'is' with anything but None, True or False", node)
            if isinstance(operator, ast.In | ast.NotIn) and len(node.ops) > 1:
                raise refused("'in' within a chain of comparisons", node)
        operands = [node.left, *node.comparators]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._membership(node, *operands, around=around)
        lowered = self.lower_all(operands, around)
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            if not isinstance(operator, ast.Is | ast.IsNot):
                self._compare_both(left, right, around)
        for place, (left, right) in enumerate(zip(operands, node.comparators, strict=False)):
            # Comparing with one written value is one step, whatever the other side is.
            if not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
                lowered[place] = call("op_weigh", lowered[place])
        return ast.Compare(lowered[0], node.ops, lowered[1:])

    def _membership(
        self, node: ast.Compare, needle: ast.expr, haystack: ast.expr, *, around: Around
    ) -> ast.expr:
        wanted, searched = self.lower(needle, around), self.lower(haystack, around)
        match haystack:
            case ast.Call(func=ast.Name(id="dir")):
                if isinstance(needle, ast.Constant) and isinstance(needle.value, str):
                    self.reads.append(FieldRead(name=needle.value, is_guarded=True))
                return ast.Compare(wanted, node.ops, [load("names")])
            case ast.List() | ast.Tuple() | ast.Set():
                self._compare(needle, haystack.elts, around)
                if all(isinstance(element, ast.Constant) for element in haystack.elts):
                    return ast.Compare(wanted, node.ops, [searched])
        self.note_item(haystack, needle, around)
        found = call("op_contains", wanted, searched)
        return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)

    def _compare_both(self, left: ast.expr, right: ast.expr, around: Around) -> None:
        self._compare(left, [right], around)
        self._compare(right, [left], around)

    def _compare(self, node: ast.expr, constants: Sequence[ast.expr], around: Around) -> None:
        """Note what type a place is compared or calculated with."""
        place = place_of(node, around.bound)
        types = {constant_type(constant) for constant in constants}
        if place is not None and len(types) == 1:
            self.compared += [(place, kind) for kind in types if kind is not None]

    def note_item(self, holder: ast.expr, key: ast.expr, around: Around) -> None:
        """Note a place that is only asked for."""
        place = item_of(holder, key, around.bound)
        if place is not None:
            self.reads.append(replace(place, is_guarded=True))

    def loop(self, node: _Loop, around: Around) -> ast.expr:
        if isinstance(node, ast.GeneratorExp):
            raise refused("a loop in round brackets outside of a function that walks it", node)
        return self.walk(node, around)

    def walk(self, node: _Loop, around: Around) -> ast.expr:
        if around.loops + len(node.generators) > MAX_LOOPS:
            raise refused(f"more than {MAX_LOOPS} loops inside one another", node)
        weight = ast.Constant(sum(1 for _ in ast.walk(node)) // NODES_PER_STEP + 1)
        generators = []
        for generator in node.generators:
            if generator.is_async:
                raise refused("'async'", node)
            source = call(self.walks, self.lower(generator.iter, around), weight)
            target, names = _target(generator.target)
            is_one = isinstance(target, ast.Name)
            walked = each_of(place_of(generator.iter, around.bound)) if is_one else None
            bound = {**around.bound, **dict.fromkeys(names, walked)}
            around = replace(around, bound=bound, loops=around.loops + 1)
            conditions = self.lower_all(generator.ifs, around)
            generators.append(ast.comprehension(target, source, conditions, 0))
        return type(node)(self.lower(node.elt, around), generators)


def _check_name(node: ast.Name) -> None:
    if node.id.startswith("__"):
        raise refused("a name that begins with '__'", node)


def _target(target: ast.expr) -> tuple[ast.expr, list[str]]:
    """Return where each element of a loop is put, and the names that stand for it."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    names = []
    for part in parts:
        if not isinstance(part, ast.Name):
            raise refused("a loop over anything but plain names", part)
        _check_name(part)
        names.append(part.id)
    stores: list[ast.expr] = [ast.Name(f"each_{name}", ast.Store()) for name in names]
    is_one = isinstance(target, ast.Name)
    return stores[0] if is_one else ast.Tuple(stores, ast.Store()), names


_LOWERINGS: Final[Mapping[type[ast.expr], Callable[..., ast.expr]]] = {
    ast.BinOp: Compiler.arithmetic,
    ast.BoolOp: Compiler.boolean,
    ast.Call: lower_call,
    ast.Compare: Compiler.comparison,
    ast.Constant: Compiler.constant,
    ast.Dict: Compiler.dictionary,
    ast.FormattedValue: Compiler.filled_in,
    ast.GeneratorExp: Compiler.loop,
    ast.IfExp: Compiler.conditional,
    ast.JoinedStr: Compiler.text,
    ast.List: Compiler.sequence,
    ast.ListComp: Compiler.loop,
    ast.Name: Compiler.place,
    ast.Set: Compiler.set,
    ast.SetComp: Compiler.loop,
    ast.Subscript: Compiler.place,
    ast.Tuple: Compiler.sequence,
    ast.UnaryOp: Compiler.unary,
}
