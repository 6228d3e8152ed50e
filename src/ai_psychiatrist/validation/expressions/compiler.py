"""Turn a tree into a function of one unit, in one walk that refuses what is not offered.

Names become look-ups, operators and calls become our own functions, and loops announce how much
they will walk. The function sees nothing else: it has no built-ins and no names of its own.
"""

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from ai_psychiatrist.validation.expressions.operators import MAX_REPEATED
from ai_psychiatrist.validation.expressions.places import (
    ConstantType,
    FieldRead,
    LoopVariables,
    constant_type,
    each_of,
    item_of,
    names_a_place,
    place_of,
)
from ai_psychiatrist.validation.expressions.sampling import RANDOM
from ai_psychiatrist.validation.expressions.scope import Names, Scope
from ai_psychiatrist.validation.expressions.syntax import check_constant, refused, refused_part

CompiledFunction: TypeAlias = Callable[[Names, Scope], object]

MAX_LOOPS: Final = 2
"""`for` parts that may run inside one another."""
NODES_PER_STEP: Final = 16

_Loop: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp

_OPERATORS: Final[Mapping[type[ast.operator], Callable[..., object]]] = {
    ast.Add: operators.add,
    ast.Sub: operators.subtract,
    ast.Mult: operators.multiply,
    ast.Div: operators.divide,
    ast.FloorDiv: operators.divide_whole,
    ast.Mod: operators.remainder,
}

_NAMED: Final[Mapping[str, Function]] = {**FUNCTIONS, **FORMS, **HOST_FUNCTIONS}

_GLOBALS: Final[dict[str, object]] = {
    "__builtins__": {},
    **{f"op_{kind.__name__}": run for kind, run in _OPERATORS.items()},
    "op_walk": operators.walk,
    "op_walk_in_order": operators.walk_in_order,
    "op_weigh": operators.weigh,
    "op_contains": operators.contains,
    "op_part": operators.part,
    "op_repeat": operators.multiply_or_repeat,
    "op_fill_in": operators.fill_in,
    **{f"fn_{name}": function.run for name, function in _NAMED.items()},
    **{f"method_{name}": method.run for name, method in METHODS.items()},
    **{f"random_{name}": function.run for name, function in RANDOM.items()},
    **{f"type_{name}": kind for name, kind in TYPES.items()},
}


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
    compiler = _Compiler(is_step=is_step)
    body = compiler.lower(tree, _Around())
    return Compiled(
        function=_function(body),
        reads=tuple(dict.fromkeys(compiler.reads)),
        compared_types=tuple(dict.fromkeys(compiler.compared)),
        constant_keys=frozenset(compiler.texts),
        is_closed=compiler.is_closed and not compiler.reads,
    )


def _function(body: ast.expr) -> CompiledFunction:
    parameters = [ast.arg("names"), ast.arg("scope")]
    whole = ast.fix_missing_locations(ast.Expression(_lambda(parameters, body)))
    with warnings.catch_warnings():
        # Python warns of comparisons that can never hold; they are ours to report.
        warnings.simplefilter("ignore", SyntaxWarning)
        module = compile(whole, "<expression>", "eval")
    code = next(part for part in module.co_consts if isinstance(part, CodeType))
    return FunctionType(code, _GLOBALS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """What a part stands in."""

    bound: LoopVariables = field(default_factory=dict)
    loops: int = 0
    is_guarded: bool = False


class _Compiler:
    def __init__(self, *, is_step: bool) -> None:
        self.is_step = is_step
        # What rules are told does not hang on an order; what steps hand on does.
        self.walk = "op_walk_in_order" if is_step else "op_walk"
        self.reads: list[FieldRead] = []
        self.compared: list[tuple[FieldRead, ConstantType]] = []
        self.texts: set[str] = set()
        self.is_closed = True

    def lower(self, node: ast.expr, around: _Around) -> ast.expr:
        lowering = _LOWERINGS.get(type(node))
        if lowering is None:
            raise refused_part(node)
        return lowering(self, node, around)

    def lower_all(self, nodes: Sequence[ast.expr], around: _Around) -> list[ast.expr]:
        return [self.lower(node, around) for node in nodes]

    def constant(self, node: ast.Constant, _: _Around) -> ast.expr:
        check_constant(node)
        if isinstance(node.value, str):
            self.texts.add(node.value)
        return ast.Constant(node.value)

    def place(self, node: ast.Name | ast.Subscript, around: _Around) -> ast.expr:
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
        return _call("op_part", holder, *lowered)

    def _path(self, node: ast.expr, around: _Around) -> ast.expr:
        if isinstance(node, ast.Subscript):
            inner = self._path(node.value, around)
            return ast.Subscript(inner, self.lower(node.slice, around), ast.Load())
        if not isinstance(node, ast.Name):
            raise refused_part(node)
        _check_name(node)
        if node.id in around.bound:
            return _load(f"each_{node.id}")
        return ast.Subscript(_load("names"), ast.Constant(node.id), ast.Load())

    def boolean(self, node: ast.BoolOp, around: _Around) -> ast.expr:
        return ast.BoolOp(node.op, self.lower_all(node.values, around))

    def unary(self, node: ast.UnaryOp, around: _Around) -> ast.expr:
        if not isinstance(node.op, ast.Not | ast.USub | ast.UAdd):
            raise refused_part(node.op, at=node)
        return ast.UnaryOp(node.op, self.lower(node.operand, around))

    def conditional(self, node: ast.IfExp, around: _Around) -> ast.expr:
        return ast.IfExp(*self.lower_all((node.test, node.body, node.orelse), around))

    def sequence(self, node: ast.List | ast.Tuple, around: _Around) -> ast.expr:
        return type(node)(self.lower_all(node.elts, around), ast.Load())

    def set(self, node: ast.Set, around: _Around) -> ast.expr:
        return ast.Set(self.lower_all(node.elts, around))

    def dictionary(self, node: ast.Dict, around: _Around) -> ast.expr:
        keys = [key for key in node.keys if key is not None]
        if len(keys) < len(node.keys):
            raise refused("unpacking with '**'", node)
        return ast.Dict([*self.lower_all(keys, around)], self.lower_all(node.values, around))

    def text(self, node: ast.JoinedStr, around: _Around) -> ast.expr:
        if not self.is_step:
            raise refused("a formatted text", node)
        return _call("op_fill_in", *self.lower_all(node.values, around))

    def filled_in(self, node: ast.FormattedValue, around: _Around) -> ast.expr:
        if node.conversion != -1 or node.format_spec is not None:
            raise refused("a conversion or format in a text", node)
        return self.lower(node.value, around)

    def arithmetic(self, node: ast.BinOp, around: _Around) -> ast.expr:
        if type(node.op) not in _OPERATORS:
            raise refused_part(node.op, at=node)
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            raise refused("formatting a text with '%'", node)
        may_repeat = self.is_step and isinstance(node.op, ast.Mult)
        if isinstance(node.op, ast.Mult):
            self._check_product(node)
        left, right = self.lower(node.left, around), self.lower(node.right, around)
        if may_repeat:
            return _call("op_repeat", left, right)
        self._compare(node.left, [node.right], around)
        self._compare(node.right, [node.left], around)
        # A small number that is added or taken keeps the plain operator as safe as ours.
        if isinstance(node.op, ast.Add | ast.Sub) and (
            _is_number(node.left) or _is_number(node.right)
        ):
            return ast.BinOp(left, node.op, right)
        return _call(f"op_{type(node.op).__name__}", left, right)

    def _check_product(self, node: ast.BinOp) -> None:
        for operand in (node.left, node.right):
            if not self.is_step and _is_collection(operand):
                raise refused("repeating a list or a text", node)
            if self.is_step and _is_text(operand):
                raise refused("repeating a text", node)
        for listed, times in ((node.left, node.right), (node.right, node.left)):
            if isinstance(listed, ast.List) and len(listed.elts) * _whole(times) > MAX_REPEATED:
                raise refused(f"repeating a list to more than {MAX_REPEATED} elements", node)

    def comparison(self, node: ast.Compare, around: _Around) -> ast.expr:
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.Is | ast.IsNot) and not _is_singleton(right):
                raise refused("'is' with anything but None, True or False", node)
            if isinstance(operator, ast.In | ast.NotIn) and len(node.ops) > 1:
                raise refused("'in' within a chain of comparisons", node)
        operands = [node.left, *node.comparators]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._membership(node, *operands, around=around)
        lowered = self.lower_all(operands, around)
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            if not isinstance(operator, ast.Is | ast.IsNot):
                self._compare(left, [right], around)
                self._compare(right, [left], around)
        for place, (left, right) in enumerate(zip(operands, node.comparators, strict=False)):
            # Comparing with one written value is one step, whatever the other side is.
            if not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
                lowered[place] = _call("op_weigh", lowered[place])
        return ast.Compare(lowered[0], node.ops, lowered[1:])

    def _membership(
        self, node: ast.Compare, needle: ast.expr, haystack: ast.expr, *, around: _Around
    ) -> ast.expr:
        wanted, searched = self.lower(needle, around), self.lower(haystack, around)
        match haystack:
            case ast.Call(func=ast.Name(id="dir")):
                if isinstance(needle, ast.Constant) and isinstance(needle.value, str):
                    self.reads.append(FieldRead(name=needle.value, is_guarded=True))
                return ast.Compare(wanted, node.ops, [_load("names")])
            case ast.List() | ast.Tuple() | ast.Set():
                self._compare(needle, haystack.elts, around)
                if all(isinstance(element, ast.Constant) for element in haystack.elts):
                    return ast.Compare(wanted, node.ops, [searched])
        self._note_item(haystack, needle, around)
        found = _call("op_contains", wanted, searched)
        return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)

    def _compare(self, node: ast.expr, constants: Sequence[ast.expr], around: _Around) -> None:
        """Note what type a place is compared or calculated with."""
        place = place_of(node, around.bound)
        types = {constant_type(constant) for constant in constants}
        if place is not None and len(types) == 1:
            self.compared += [(place, kind) for kind in types if kind is not None]

    def _note_item(self, holder: ast.expr, key: ast.expr, around: _Around) -> None:
        """Note a place that is only asked for."""
        place = item_of(holder, key, around.bound)
        if place is not None:
            self.reads.append(replace(place, is_guarded=True))

    def loop(self, node: _Loop, around: _Around) -> ast.expr:
        if isinstance(node, ast.GeneratorExp):
            raise refused("a loop in round brackets outside of a function that walks it", node)
        return self._walk(node, around)

    def _walk(self, node: _Loop, around: _Around) -> ast.expr:
        if around.loops + len(node.generators) > MAX_LOOPS:
            raise refused(f"more than {MAX_LOOPS} loops inside one another", node)
        weight = ast.Constant(sum(1 for _ in ast.walk(node)) // NODES_PER_STEP + 1)
        generators = []
        for generator in node.generators:
            if generator.is_async:
                raise refused("'async'", node)
            source = _call(self.walk, self.lower(generator.iter, around), weight)
            target, names = _target(generator.target)
            is_one = isinstance(target, ast.Name)
            walked = each_of(place_of(generator.iter, around.bound)) if is_one else None
            bound = {**around.bound, **dict.fromkeys(names, walked)}
            around = replace(around, bound=bound, loops=around.loops + 1)
            conditions = self.lower_all(generator.ifs, around)
            generators.append(ast.comprehension(target, source, conditions, 0))
        return type(node)(self.lower(node.elt, around), generators)

    def call(self, node: ast.Call, around: _Around) -> ast.expr:
        holder: list[ast.expr] = []
        match node.func:
            case ast.Name(id=name):
                prefix, table = "fn_", _NAMED
            case ast.Attribute(value=ast.Name(id="random"), attr=name) if self.is_step:
                prefix, table = "random_", RANDOM
            case ast.Attribute(value=value, attr=name):
                prefix, table, holder = "method_", METHODS, [value]
            case _:
                raise refused("calling what is no function of the table", node)
        function = table.get(name)
        if function is None:
            # What is wrong inside of the holder comes first.
            self.lower_all(holder, around)
            raise refused(f"calling {name!r}", node, called=name, offered=table)
        _check_arguments(node, function)
        if prefix == "fn_" and name in FORMS:
            return self._form(name, node, around)
        lowered = self._arguments(name, function, [*holder, *node.args], around)
        if name in HOST_FUNCTIONS and prefix == "fn_":
            lowered.insert(0, ast.Constant(name))
        if prefix == "random_" or name in HOST_FUNCTIONS:
            self.is_closed = False
        called = _call(prefix + name, *lowered, takes_scope=function.takes_scope)
        called.keywords = [
            ast.keyword(each.arg, self.lower(each.value, around)) for each in node.keywords
        ]
        return called

    def _arguments(
        self, name: str, function: Function, parts: Sequence[ast.expr], around: _Around
    ) -> list[ast.expr]:
        lowered: list[ast.expr] = []
        for place, part in enumerate(parts):
            is_walked = place == 0 and function.walks
            lowered.append(
                self._walked(part, function, around) if is_walked else self.lower(part, around)
            )
            if place == 0 and name == "get":
                self._note_item(part, parts[1], around)
        return lowered

    def _walked(self, node: ast.expr, function: Function, around: _Around) -> ast.expr:
        if isinstance(node, ast.GeneratorExp):
            is_list = not function.is_lazy
            return self._walk(ast.ListComp(node.elt, node.generators) if is_list else node, around)
        lowered = self.lower(node, around)
        # A function of single values looks for itself whether it got a collection.
        is_announced = isinstance(node, ast.ListComp | ast.SetComp) or function.takes_single_values
        return lowered if is_announced else _call(self.walk, lowered)

    def _form(self, name: str, node: ast.Call, around: _Around) -> ast.expr:
        match name, node.args:
            case "has", [place] if names_a_place(place):
                return self._presence(place, around)
            case "isinstance", [value, types] if _names_types(types):
                named = types.elts if isinstance(types, ast.Tuple) else [types]
                loads: list[ast.expr] = [
                    _load(f"type_{each.id}") for each in named if isinstance(each, ast.Name)
                ]
                inner = self.lower(value, around)
                return _call(
                    "fn_isinstance", inner, ast.Tuple(loads, ast.Load()), takes_scope=False
                )
            case "dir", []:
                self.is_closed = False
                return _call("fn_dir", _load("names"), takes_scope=False)
            case "has", _:
                raise refused("'has' of anything but a field", node)
        raise refused(f"'isinstance' with a type other than {', '.join(TYPES)}", node)

    def _presence(self, place: ast.expr, around: _Around) -> ast.expr:
        lowered = self.lower(place, replace(around, is_guarded=True))
        match place:
            case ast.Constant(value=str() as name):
                self.reads.append(FieldRead(name=name, is_guarded=True))
            case ast.Name(id=name) if name not in around.bound:
                pass
            case _:
                return _call("fn_has", _lambda([], lowered), takes_scope=False)
        return ast.Compare(ast.Constant(name), [ast.In()], [_load("names")])


def _check_arguments(node: ast.Call, function: Function) -> None:
    if not function.least <= len(node.args) <= function.most:
        raise refused("calling this with so many or so few values", node)
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in function.keywords:
            raise refused("a value given by this name", keyword)


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


def _lambda(parameters: list[ast.arg], body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments(
        posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return ast.Lambda(arguments, body)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(function: str, *arguments: ast.expr, takes_scope: bool = True) -> ast.Call:
    scope = [_load("scope")] if takes_scope else []
    return ast.Call(_load(function), [*scope, *arguments], [])


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}


def _whole(node: ast.expr) -> int:
    """Return a written whole number; 0 for anything else."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case _:
            return 0


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


def _names_types(node: ast.expr) -> bool:
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(name, ast.Name) and name.id in TYPES for name in names)


_LOWERINGS: Final[Mapping[type[ast.expr], Callable[..., ast.expr]]] = {
    ast.BinOp: _Compiler.arithmetic,
    ast.BoolOp: _Compiler.boolean,
    ast.Call: _Compiler.call,
    ast.Compare: _Compiler.comparison,
    ast.Constant: _Compiler.constant,
    ast.Dict: _Compiler.dictionary,
    ast.FormattedValue: _Compiler.filled_in,
    ast.GeneratorExp: _Compiler.loop,
    ast.IfExp: _Compiler.conditional,
    ast.JoinedStr: _Compiler.text,
    ast.List: _Compiler.sequence,
    ast.ListComp: _Compiler.loop,
    ast.Name: _Compiler.place,
    ast.Set: _Compiler.set,
    ast.SetComp: _Compiler.loop,
    ast.Subscript: _Compiler.place,
    ast.Tuple: _Compiler.sequence,
    ast.UnaryOp: _Compiler.unary,
}
