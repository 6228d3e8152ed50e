"""Turn a checked tree into a function of one unit.

Names become look-ups, operators and calls become our own functions, and loops announce how much
they will walk. The function sees nothing else: it has no built-ins and no names of its own.
"""

import ast
import warnings
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Final, TypeAlias

from ai_psychiatrist.validation.expressions import operators
from ai_psychiatrist.validation.expressions.functions import FUNCTIONS, METHODS, TYPES, Function
from ai_psychiatrist.validation.expressions.grammar import COMPREHENSIONS, refused
from ai_psychiatrist.validation.expressions.scope import Names, Scope

CompiledFunction: TypeAlias = Callable[[Names, Scope], object]

_NODES_PER_STEP: Final = 16

_OPERATORS: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "op_add",
    ast.Sub: "op_subtract",
    ast.Mult: "op_multiply",
    ast.Div: "op_divide",
    ast.FloorDiv: "op_divide_whole",
    ast.Mod: "op_remainder",
}

_GLOBALS: Final[dict[str, object]] = {
    "__builtins__": {},
    "op_add": operators.add,
    "op_subtract": operators.subtract,
    "op_multiply": operators.multiply,
    "op_divide": operators.divide,
    "op_divide_whole": operators.divide_whole,
    "op_remainder": operators.remainder,
    "op_walk": operators.walk,
    "op_weigh": operators.weigh,
    "op_contains": operators.contains,
    "op_part": operators.part,
    "op_is_there": operators.is_there,
    "op_names_in": operators.names_in,
    "op_call_host": operators.call_host,
    "op_isinstance": isinstance,
    **{f"fn_{name}": function.run for name, function in FUNCTIONS.items()},
    **{f"method_{name}": method.run for name, method in METHODS.items()},
    **{f"type_{name}": kind for name, kind in TYPES.items()},
}


def lower(rule: ast.expr) -> CompiledFunction:
    """Return the function of a tree that `check` has let pass."""
    whole = ast.Lambda(
        args=ast.arguments(
            posonlyargs=[],
            args=[ast.arg("names"), ast.arg("scope")],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=_lowered(rule, frozenset()),
    )
    tree = ast.fix_missing_locations(ast.Expression(whole))
    with warnings.catch_warnings():
        # Python warns of comparisons that can never hold; they are ours to report.
        warnings.simplefilter("ignore", SyntaxWarning)
        module = compile(tree, "<expression>", "eval")
    code = next(part for part in module.co_consts if isinstance(part, CodeType))
    return FunctionType(code, _GLOBALS)


_Bound: TypeAlias = frozenset[str]


def _lowered(node: ast.expr, bound: _Bound) -> ast.expr:
    return _LOWERINGS[type(node)](node, bound)


def _all_lowered(nodes: list[ast.expr], bound: _Bound) -> list[ast.expr]:
    return [_lowered(node, bound) for node in nodes]


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(function: str, *arguments: ast.expr, takes_scope: bool = True) -> ast.Call:
    scope = [_load("scope")] if takes_scope else []
    return ast.Call(_load(function), [*scope, *arguments], [])


def _constant(node: ast.Constant, _: _Bound) -> ast.expr:
    return ast.Constant(node.value)


def _name(node: ast.Name, bound: _Bound) -> ast.expr:
    if node.id in bound:
        return _load(f"each_{node.id}")
    return _field(node.id)


def _field(name: str) -> ast.expr:
    return ast.Subscript(_load("names"), ast.Constant(name), ast.Load())


def _boolean(node: ast.BoolOp, bound: _Bound) -> ast.expr:
    return ast.BoolOp(node.op, _all_lowered(node.values, bound))


def _unary(node: ast.UnaryOp, bound: _Bound) -> ast.expr:
    return ast.UnaryOp(node.op, _lowered(node.operand, bound))


def _arithmetic(node: ast.BinOp, bound: _Bound) -> ast.expr:
    left, right = _lowered(node.left, bound), _lowered(node.right, bound)
    if _stays_small(node):
        return ast.BinOp(left, node.op, right)
    return _call(_OPERATORS[type(node.op)], left, right)


def _stays_small(node: ast.BinOp) -> bool:
    """Return whether the plain operator is as safe as ours: a small number is added or taken."""
    return isinstance(node.op, ast.Add | ast.Sub) and any(
        _is_number(operand) for operand in (node.left, node.right)
    )


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}


def _comparison(node: ast.Compare, bound: _Bound) -> ast.expr:
    left, operands = node.left, node.comparators
    match node.ops[0]:
        case ast.In() | ast.NotIn():
            return _membership(node, bound)
        case _:
            weighed = [
                _weighed(operand, following, bound)
                for operand, following in zip([left, *operands], operands, strict=False)
            ]
            return ast.Compare(weighed[0], node.ops, [*weighed[1:], _lowered(operands[-1], bound)])


def _weighed(operand: ast.expr, following: ast.expr, bound: _Bound) -> ast.expr:
    lowered = _lowered(operand, bound)
    # Comparing with one written value is one step, whatever the other side is.
    is_brief = isinstance(operand, ast.Constant) or isinstance(following, ast.Constant)
    return lowered if is_brief else _call("op_weigh", lowered)


def _membership(node: ast.Compare, bound: _Bound) -> ast.expr:
    needle, (haystack,) = _lowered(node.left, bound), node.comparators
    if _is_dir(haystack):
        return ast.Compare(needle, node.ops, [_load("names")])
    if isinstance(haystack, ast.List | ast.Tuple | ast.Set) and all(
        isinstance(element, ast.Constant) for element in haystack.elts
    ):
        return ast.Compare(needle, node.ops, [_lowered(haystack, bound)])
    found = _call("op_contains", needle, _lowered(haystack, bound))
    return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)


def _is_dir(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dir"


def _conditional(node: ast.IfExp, bound: _Bound) -> ast.expr:
    return ast.IfExp(
        _lowered(node.test, bound), _lowered(node.body, bound), _lowered(node.orelse, bound)
    )


def _subscript(node: ast.Subscript, bound: _Bound) -> ast.expr:
    holder = _lowered(node.value, bound)
    if not isinstance(node.slice, ast.Slice):
        return ast.Subscript(holder, _lowered(node.slice, bound), ast.Load())
    bounds = (node.slice.lower, node.slice.upper, node.slice.step)
    return _call(
        "op_part",
        holder,
        *(ast.Constant(None) if place is None else _lowered(place, bound) for place in bounds),
    )


def _sequence(node: ast.List | ast.Tuple, bound: _Bound) -> ast.expr:
    return type(node)(_all_lowered(node.elts, bound), ast.Load())


def _set(node: ast.Set, bound: _Bound) -> ast.expr:
    return ast.Set(_all_lowered(node.elts, bound))


def _dictionary(node: ast.Dict, bound: _Bound) -> ast.expr:
    keys = [key for key in node.keys if key is not None]
    return ast.Dict([*_all_lowered(keys, bound)], _all_lowered(node.values, bound))


def _loop(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, bound: _Bound) -> ast.expr:
    weight = ast.Constant(sum(1 for _ in ast.walk(node)) // _NODES_PER_STEP + 1)
    generators = []
    for generator in node.generators:
        source = _call("op_walk", _lowered(generator.iter, bound), weight)
        target, names = _target(generator.target)
        bound |= names
        ifs = _all_lowered(generator.ifs, bound)
        generators.append(ast.comprehension(target, source, ifs, 0))
    return type(node)(_lowered(node.elt, bound), generators)


def _target(target: ast.expr) -> tuple[ast.expr, _Bound]:
    match target:
        case ast.Name(id=name):
            return ast.Name(f"each_{name}", ast.Store()), frozenset({name})
        case ast.Tuple(elts=elements):
            parts = [_target(element) for element in elements]
            names = frozenset().union(*(bound for _, bound in parts))
            return ast.Tuple([part for part, _ in parts], ast.Store()), names
    raise refused("a loop over anything but plain names", target)


def _function_call(node: ast.Call, bound: _Bound) -> ast.expr:
    match node.func:
        case ast.Attribute(value=holder, attr=name):
            arguments = _all_lowered([holder, *node.args], bound)
            return _call(f"method_{name}", *arguments)
        case ast.Name(id="has"):
            return _presence(node.args[0], bound)
        case ast.Name(id="dir"):
            return _call("op_names_in", _load("names"), takes_scope=False)
        case ast.Name(id="isinstance"):
            value, types = _lowered(node.args[0], bound), _types(node.args[1])
            return _call("op_isinstance", value, types, takes_scope=False)
        case ast.Name(id=name) if name in FUNCTIONS:
            return _table_call(node, name, bound)
        case ast.Name(id=name):
            return _call("op_call_host", ast.Constant(name), *_all_lowered(node.args, bound))
    raise refused("calling what is no function of the table", node)


def _presence(place: ast.expr, bound: _Bound) -> ast.expr:
    match place:
        case ast.Name(id=name) if name not in bound:
            return ast.Compare(ast.Constant(name), [ast.In()], [_load("names")])
        case ast.Constant():
            return ast.Compare(place, [ast.In()], [_load("names")])
        case _:
            nothing = ast.arguments(
                posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]
            )
            probe = ast.Lambda(nothing, _lowered(place, bound))
            return _call("op_is_there", probe, takes_scope=False)


def _types(node: ast.expr) -> ast.expr:
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    loads: list[ast.expr] = [
        _load(f"type_{name.id}") for name in names if isinstance(name, ast.Name)
    ]
    return ast.Tuple(loads, ast.Load())


def _table_call(node: ast.Call, name: str, bound: _Bound) -> ast.expr:
    function = FUNCTIONS[name]
    arguments = _all_lowered(node.args, bound)
    if function.shape.walks and arguments:
        arguments[0] = _walked(node.args[0], function, bound)
    call = _call(f"fn_{name}", *arguments, takes_scope=function.takes_scope)
    call.keywords = [
        ast.keyword(keyword.arg, _lowered(keyword.value, bound)) for keyword in node.keywords
    ]
    return call


def _walked(node: ast.expr, function: Function, bound: _Bound) -> ast.expr:
    if isinstance(node, ast.GeneratorExp) and not function.is_lazy:
        return _loop(ast.ListComp(node.elt, node.generators), bound)
    lowered = _lowered(node, bound)
    # A function of single values looks for itself whether it got a collection.
    is_announced = isinstance(node, COMPREHENSIONS) or function.shape.takes_single_values
    return lowered if is_announced else _call("op_walk", lowered)


_LOWERINGS: Final[Mapping[type[ast.expr], Callable[..., ast.expr]]] = {
    ast.BinOp: _arithmetic,
    ast.BoolOp: _boolean,
    ast.Call: _function_call,
    ast.Compare: _comparison,
    ast.Constant: _constant,
    ast.Dict: _dictionary,
    ast.GeneratorExp: _loop,
    ast.IfExp: _conditional,
    ast.List: _sequence,
    ast.ListComp: _loop,
    ast.Name: _name,
    ast.Set: _set,
    ast.SetComp: _loop,
    ast.Subscript: _subscript,
    ast.Tuple: _sequence,
    ast.UnaryOp: _unary,
}
