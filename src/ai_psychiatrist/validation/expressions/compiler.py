"""Turn a tree into a function of one unit, in one walk that refuses what is not offered.

Names become look-ups, operators and calls become our own functions, and loops announce how much
they will walk. The code sees nothing else: it has no built-ins and no names of its own.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from enum import Enum
from types import CodeType, FunctionType
from typing import Final, TypeAlias

from ai_psychiatrist.validation.expressions import operations
from ai_psychiatrist.validation.expressions.expression import (
    ConstantType,
    Expression,
    FieldRead,
)
from ai_psychiatrist.validation.expressions.functions import (
    FORMS,
    FUNCTIONS,
    HOST_FUNCTIONS,
    TYPES,
    Function,
)
from ai_psychiatrist.validation.expressions.syntax import (
    MAX_NUMBER,
    MAX_TEXT,
    parse_expression,
    python_warnings,
    refused,
    refused_part,
)

MAX_LOOPS: Final = 2
"""`for` parts that may run inside one another."""
NODES_PER_STEP: Final = 16

_Loop: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp


class ExpressionKind(Enum):
    """Where an expression stands, which decides what it may use."""

    RULE = "rule"
    """A rule, or the condition of one."""
    EXPRESSION_STEP = "expression_step"
    """A step made of expressions: it may also draw at random, repeat lists and fill in texts."""


def compile_expression(source: str, *, kind: ExpressionKind = ExpressionKind.RULE) -> Expression:
    """Compile an expression.

    Raises `ExpressionRefused`, which says what is not allowed and at which column.
    """
    tree = parse_expression(source)
    compiler = _Compiler(is_step=kind is ExpressionKind.EXPRESSION_STEP)
    body = _lambda([ast.arg("names"), ast.arg("scope")], compiler.code(tree))
    whole = ast.fix_missing_locations(ast.Expression(body))
    # Python warns of comparisons that can never hold; they are ours to report.
    with python_warnings("ignore"):
        module = compile(whole, "<expression>", "eval")
    code = next(part for part in module.co_consts if isinstance(part, CodeType))
    return Expression(
        reads=tuple(dict.fromkeys(compiler.reads)),
        compared_types=tuple(dict.fromkeys(compiler.compared)),
        is_closed=compiler.is_closed and not compiler.reads,
        size=sum(1 for _ in ast.walk(tree)),
        constant_keys=frozenset(compiler.texts),
        function=FunctionType(code, _GLOBALS),
    )


class _Compiler:
    """Writes the code of the parts of one expression and notes what they read."""

    def __init__(self, *, is_step: bool) -> None:
        self.is_step = is_step
        self.reads: list[FieldRead] = []
        self.compared: list[tuple[FieldRead, ConstantType]] = []
        self.texts: set[str] = set()
        self.is_closed = True
        self._bound: Mapping[str, FieldRead | None] = {}
        """Loop variables → the place whose elements they take, where it is known."""
        self._loops = 0
        self._is_guarded = False

    def code(self, node: ast.expr) -> ast.expr:
        """Return the code of a part; raises `ExpressionRefused` for what is not offered."""
        write = _CODE.get(type(node))
        if write is None:
            raise refused_part(node)
        return write(self, node)

    def codes(self, nodes: Iterable[ast.expr]) -> list[ast.expr]:
        """Return the code of several parts."""
        return [self.code(node) for node in nodes]

    def constant(self, node: ast.Constant) -> ast.expr:
        match node.value:
            case str() as text:
                if len(text) > MAX_TEXT:
                    raise refused(f"a text of more than {MAX_TEXT} characters", node)
                self.texts.add(text)
            case int() | float() as number:
                if not abs(number) <= MAX_NUMBER:
                    raise refused("a number beyond 10 to the power of 18", node)
            case value if value is not None:
                raise refused("a constant of this type", node)
        return ast.Constant(node.value)

    def place(self, node: ast.Name | ast.Subscript) -> ast.expr:
        read = self._place_of(node)
        if read is not None:
            self.reads.append(replace(read, is_guarded=self._is_guarded))
        return self._path(node, is_noted=read is not None)

    def _path(self, node: ast.expr, *, is_noted: bool) -> ast.expr:
        """Return the code of names and subscripts; `is_noted`: what they lead to is read."""
        if isinstance(node, ast.Name):
            _check_name(node)
            if node.id in self._bound:
                return _load(f"each_{node.id}")
            return ast.Subscript(_load("names"), ast.Constant(node.id), ast.Load())
        if not isinstance(node, ast.Subscript):
            raise refused_part(node)
        holder = self._path(node.value, is_noted=True) if is_noted else self.code(node.value)
        if not isinstance(node.slice, ast.Slice):
            return ast.Subscript(holder, self.code(node.slice), ast.Load())
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        return _call("op_part", holder, *self.codes(one or ast.Constant(None) for one in bounds))

    def _place_of(self, node: ast.expr) -> FieldRead | None:
        """Return the place of the unit that a node names; `None` when it names none."""
        keys: list[str | int] = []
        while isinstance(node, ast.Subscript):
            key = _constant_key(node.slice)
            if key is None:
                return None
            keys.insert(0, key)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        if node.id not in self._bound:
            return FieldRead(name=node.id, keys=tuple(keys))
        walked = self._bound[node.id]
        # Without a key of text the variable may also be the key of an object that is walked.
        if walked is None or not keys or not isinstance(keys[0], str):
            return None
        return replace(walked, keys=(*walked.keys, *keys))

    def _note_item(self, holder: ast.expr, key: ast.expr) -> None:
        """Note a place under a constant key that is only asked for."""
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            read = self._place_of(ast.Subscript(holder, key, ast.Load()))
            self.reads += [] if read is None else [replace(read, is_guarded=True)]

    def _note_compared(self, node: ast.expr, constants: Sequence[ast.expr]) -> None:
        """Note what type a place is compared or calculated with."""
        read, types = self._place_of(node), {_constant_type(constant) for constant in constants}
        if read is not None and len(types) == 1:
            self.compared += [(read, kind) for kind in types if kind is not None]

    def structure(self, node: ast.expr) -> ast.expr:
        """Return a part that stays what it is, with the code of the parts inside of it."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            raise refused_part(node.op, at=node)
        if isinstance(node, ast.Dict) and None in node.keys:
            raise refused("unpacking with '**'", node)
        written = copy(node)
        for name, held in ast.iter_fields(node):
            if isinstance(held, ast.expr | list):
                setattr(
                    written, name, self.codes(held) if isinstance(held, list) else self.code(held)
                )
        return written

    def text(self, node: ast.JoinedStr) -> ast.expr:
        if not self.is_step:
            raise refused("a formatted text", node)
        return _call("op_fill_in", *self.codes(node.values))

    def filled_in(self, node: ast.FormattedValue) -> ast.expr:
        if node.conversion != -1 or node.format_spec is not None:
            raise refused("a conversion or format in a text", node)
        return self.code(node.value)

    def arithmetic(self, node: ast.BinOp) -> ast.expr:
        if not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod):
            raise refused_part(node.op, at=node)
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            raise refused("formatting a text with '%'", node)
        if isinstance(node.op, ast.Mult):
            self._check_product(node)
        left, right = self.codes((node.left, node.right))
        if isinstance(node.op, ast.Mult) and self.is_step:
            return _call("op_repeat", left, right)
        self._note_compared(node.left, [node.right])
        self._note_compared(node.right, [node.left])
        if isinstance(node.op, ast.Add | ast.Sub):
            # A small number that is added or taken keeps the plain operator as safe as ours.
            if _is_number(node.left) or _is_number(node.right):
                return ast.BinOp(left, node.op, right)
            return _call("op_add" if isinstance(node.op, ast.Add) else "op_subtract", left, right)
        numbers = [_call("op_number", one, takes_scope=False) for one in (left, right)]
        result = ast.BinOp(numbers[0], node.op, numbers[1])
        return _call("op_checked", result, takes_scope=False)

    def _check_product(self, node: ast.BinOp) -> None:
        for operand, times in ((node.left, node.right), (node.right, node.left)):
            if not self.is_step and _is_collection(operand):
                raise refused("repeating a list or a text", node)
            if self.is_step and _is_text(operand):
                raise refused("repeating a text", node)
            count = times.value if isinstance(times, ast.Constant) else 0
            size = len(operand.elts) if isinstance(operand, ast.List) else 0
            if isinstance(count, int) and size * count > operations.MAX_REPEATED:
                most = f"more than {operations.MAX_REPEATED} elements"
                raise refused(f"repeating a list to {most}", node)

    def comparison(self, node: ast.Compare) -> ast.expr:
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.Is | ast.IsNot) and not _is_singleton(right):
                raise refused("'is' with anything but None, True or False", node)
            if isinstance(operator, ast.In | ast.NotIn) and len(node.ops) > 1:
                raise refused("'in' within a chain of comparisons", node)
        operands = [node.left, *node.comparators]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._membership(node, *operands)
        compared = self.codes(operands)
        for position, operator in enumerate(node.ops):
            left, right = operands[position : position + 2]
            if not isinstance(operator, ast.Is | ast.IsNot):
                self._note_compared(left, [right])
                self._note_compared(right, [left])
            # Comparing with one written value is one step, whatever the other side is.
            if not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
                compared[position] = _call("op_weigh", compared[position])
        return ast.Compare(compared[0], node.ops, compared[1:])

    def _membership(self, node: ast.Compare, needle: ast.expr, haystack: ast.expr) -> ast.expr:
        wanted, searched = self.codes((needle, haystack))
        match haystack:
            case ast.Call(func=ast.Name(id="dir")):
                if isinstance(needle, ast.Constant) and isinstance(needle.value, str):
                    self.reads.append(FieldRead(name=needle.value, is_guarded=True))
                return ast.Compare(wanted, node.ops, [_load("names")])
            case ast.List() | ast.Tuple() | ast.Set():
                self._note_compared(needle, haystack.elts)
                if all(isinstance(element, ast.Constant) for element in haystack.elts):
                    return ast.Compare(wanted, node.ops, [searched])
        self._note_item(haystack, needle)
        found = _call("op_contains", wanted, searched)
        return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)

    def loop(self, node: _Loop) -> ast.expr:
        if isinstance(node, ast.GeneratorExp):
            raise refused("a loop in round brackets outside of a function that walks it", node)
        return self._walk(node)

    def _walk(self, node: _Loop) -> ast.expr:
        """Return the code of a loop whose elements are asked for."""
        outer = self._bound, self._loops
        if self._loops + len(node.generators) > MAX_LOOPS:
            raise refused(f"more than {MAX_LOOPS} loops inside one another", node)
        weight = ast.Constant(sum(1 for _ in ast.walk(node)) // NODES_PER_STEP + 1)
        generators = []
        for generator in node.generators:
            if generator.is_async:
                raise refused("'async'", node)
            source = _call("op_walk", self.code(generator.iter), weight)
            target = generator.target
            stores = [
                _stored(part)
                for part in (target.elts if isinstance(target, ast.Tuple) else [target])
            ]
            read = None if isinstance(target, ast.Tuple) else self._place_of(generator.iter)
            each = None if read is None else replace(read, keys=(*read.keys, 0))
            names = [store.id.removeprefix("each_") for store in stores]
            self._bound = {**self._bound, **dict.fromkeys(names, each)}
            self._loops += 1
            is_tuple = isinstance(target, ast.Tuple)
            stored = ast.Tuple([*stores], ast.Store()) if is_tuple else stores[0]
            generators.append(ast.comprehension(stored, source, self.codes(generator.ifs), 0))
        written = type(node)(self.code(node.elt), generators)
        self._bound, self._loops = outer
        return written

    def call(self, node: ast.Call) -> ast.expr:
        prefix, name, holder = self._called(node)
        function = FUNCTIONS[prefix].get(name)
        if function is None:
            # What is wrong inside of the holder comes first.
            self.codes(holder)
            raise refused(f"calling {name!r}", node, called=name, offered=FUNCTIONS[prefix])
        _check_arguments(node, function)
        if prefix == "fn_" and name in FORMS:
            return self._form(name, node)
        parts = [*holder, *node.args]
        arguments = [self._walked(part, function) for part in parts[:1]]
        if name == "get":
            self._note_item(parts[0], parts[1])
        arguments += self.codes(parts[1:])
        is_of_host = prefix == "fn_" and name in HOST_FUNCTIONS
        if is_of_host:
            arguments.insert(0, ast.Constant(name))
        self.is_closed = self.is_closed and not is_of_host and prefix != "random_"
        called = _call(prefix + name, *arguments, takes_scope=function.takes_scope)
        called.keywords = [ast.keyword(one.arg, self.code(one.value)) for one in node.keywords]
        return called

    def _called(self, node: ast.Call) -> tuple[str, str, list[ast.expr]]:
        """Return in which table a function stands, its name, and the value that has it."""
        match node.func:
            case ast.Name(id=name):
                return "fn_", name, []
            case ast.Attribute(value=ast.Name(id="random"), attr=name) if self.is_step:
                return "random_", name, []
            case ast.Attribute(value=value, attr=name):
                return "method_", name, [value]
        raise refused("calling what is no function of the table", node)

    def _walked(self, node: ast.expr, function: Function) -> ast.expr:
        if function.walks == "no":
            return self.code(node)
        if isinstance(node, ast.GeneratorExp):
            is_lazy = function.walks == "lazily"
            return self._walk(node if is_lazy else ast.ListComp(node.elt, node.generators))
        is_announced = isinstance(node, ast.ListComp | ast.SetComp) or function.walks == "itself"
        return self.code(node) if is_announced else _call("op_walk", self.code(node))

    def _form(self, name: str, node: ast.Call) -> ast.expr:
        match name, node.args:
            case "has", [place] if _names_a_place(place):
                return self._presence(place)
            case "isinstance", [value, types]:
                named = types.elts if isinstance(types, ast.Tuple) else [types]
                kinds = [one.id for one in named if isinstance(one, ast.Name) and one.id in TYPES]
                if len(kinds) == len(named):
                    loads = [_load(f"type_{kind}") for kind in kinds]
                    listed = ast.Tuple([*loads], ast.Load())
                    return _call("fn_isinstance", self.code(value), listed, takes_scope=False)
                raise refused(f"'isinstance' with a type other than {', '.join(TYPES)}", node)
            case "dir", _:
                self.is_closed = False
                return _call("fn_dir", _load("names"), takes_scope=False)
        raise refused("'has' of anything but a field", node)

    def _presence(self, place: ast.expr) -> ast.expr:
        outer, self._is_guarded = self._is_guarded, True
        written = self.code(place)
        self._is_guarded = outer
        match place:
            case ast.Constant(value=str() as name):
                self.reads.append(FieldRead(name=name, is_guarded=True))
            case ast.Name(id=name) if name not in self._bound:
                pass
            case _:
                return _call("fn_has", _lambda([], written), takes_scope=False)
        return ast.Compare(ast.Constant(name), [ast.In()], [_load("names")])


def _check_name(node: ast.Name) -> None:
    if node.id.startswith("__"):
        raise refused("a name that begins with '__'", node)


def _stored(part: ast.expr) -> ast.Name:
    """Return where a loop puts an element, or a part of one."""
    if not isinstance(part, ast.Name):
        raise refused("a loop over anything but plain names", part)
    _check_name(part)
    return ast.Name(f"each_{part.id}", ast.Store())


def _check_arguments(node: ast.Call, function: Function) -> None:
    if not function.least <= len(node.args) <= function.most:
        raise refused("calling this with so many or so few values", node)
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in function.keywords:
            raise refused("a value given by this name", keyword)


def _constant_key(node: ast.expr) -> str | int | None:
    match node:
        case ast.Constant(value=str() | int() as key) if not isinstance(key, bool):
            return key
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as key)):
            return -key
    return None


def _constant_type(node: ast.expr) -> ConstantType | None:
    """Return the type of a written value; `None` for null and for what is no written value."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return _CONSTANT_TYPES.get(type(node.value)) if isinstance(node, ast.Constant) else None


def _names_a_place(node: ast.expr) -> bool:
    """Return whether a node is a name, or a name in a text, with subscripts or without."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.isidentifier()
    while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        node = node.value
    return isinstance(node, ast.Name)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}


def _is_singleton(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_collection(node: ast.expr) -> bool:
    """Return whether a text, list or other collection is written."""
    if isinstance(node, ast.BinOp):
        return _is_collection(node.left) or _is_collection(node.right)
    return _is_text(node) or isinstance(
        node, ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp
    )


def _load(name: str) -> ast.Name:
    """Return the value of a name of the written code."""
    return ast.Name(name, ast.Load())


def _lambda(parameters: list[ast.arg], body: ast.expr) -> ast.Lambda:
    """Return a function whose value is a body of written code."""
    arguments = ast.arguments(
        posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return ast.Lambda(arguments, body)


def _call(function: str, *arguments: ast.expr, takes_scope: bool = True) -> ast.Call:
    """Return a call of one of our own functions."""
    scope = [_load("scope")] if takes_scope else []
    return ast.Call(_load(function), [*scope, *arguments], [])


_CONSTANT_TYPES: Final[Mapping[type, ConstantType]] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
}
_CODE: Final[Mapping[type[ast.expr], Callable[..., ast.expr]]] = {
    ast.BinOp: _Compiler.arithmetic,
    ast.BoolOp: _Compiler.structure,
    ast.Call: _Compiler.call,
    ast.Compare: _Compiler.comparison,
    ast.Constant: _Compiler.constant,
    ast.Dict: _Compiler.structure,
    ast.FormattedValue: _Compiler.filled_in,
    ast.GeneratorExp: _Compiler.loop,
    ast.IfExp: _Compiler.structure,
    ast.JoinedStr: _Compiler.text,
    ast.List: _Compiler.structure,
    ast.ListComp: _Compiler.loop,
    ast.Name: _Compiler.place,
    ast.Set: _Compiler.structure,
    ast.SetComp: _Compiler.loop,
    ast.Subscript: _Compiler.place,
    ast.Tuple: _Compiler.structure,
    ast.UnaryOp: _Compiler.structure,
}
_OPERATIONS: Final = (
    *(operations.walk, operations.weigh, operations.contains, operations.part, operations.add),
    *(operations.subtract, operations.repeat, operations.fill_in),
    *(operations.number, operations.checked),
)
_GLOBALS: Final[dict[str, object]] = {
    "__builtins__": {},
    **{f"op_{run.__name__}": run for run in _OPERATIONS},
    **{f"type_{name}": kind for name, kind in TYPES.items()},
    **{
        prefix + name: function.run
        for prefix, table in FUNCTIONS.items()
        for name, function in table.items()
    },
}
"""All that the written code can name."""
