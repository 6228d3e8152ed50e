"""Lower calls: of the table's functions and methods, and of the forms that read the expression."""

import ast
from collections.abc import Sequence
from dataclasses import replace

from ai_psychiatrist.validation.expressions.functions import (
    FORMS,
    HOST_FUNCTIONS,
    METHODS,
    TYPES,
    Function,
)
from ai_psychiatrist.validation.expressions.generated_code import (
    CALLED_BY_NAME,
    call,
    load,
    without_name,
)
from ai_psychiatrist.validation.expressions.loops import walk
from ai_psychiatrist.validation.expressions.lowering import Lowering
from ai_psychiatrist.validation.expressions.places import Around, FieldRead
from ai_psychiatrist.validation.expressions.sampling import RANDOM
from ai_psychiatrist.validation.expressions.syntax import refused
from ai_psychiatrist.validation.expressions.written_values import names_a_place, names_types


def lower_call(lowering: Lowering, node: ast.Call, around: Around) -> ast.expr:
    """Return the generated code of a call; raises `ExpressionRefused` for what is not offered."""
    holder: list[ast.expr] = []
    match node.func:
        case ast.Name(id=name):
            prefix, table = "fn_", CALLED_BY_NAME
        case ast.Attribute(value=ast.Name(id="random"), attr=name) if lowering.is_step:
            prefix, table = "random_", RANDOM
        case ast.Attribute(value=value, attr=name):
            prefix, table, holder = "method_", METHODS, [value]
        case _:
            raise refused("calling what is no function of the table", node)
    function = table.get(name)
    if function is None:
        # What is wrong inside of the holder comes first.
        lowering.lower_all(holder, around)
        raise refused(f"calling {name!r}", node, called=name, offered=table)
    _check_arguments(node, function)
    if prefix == "fn_" and name in FORMS:
        return _form(lowering, name, node, around)
    lowered = _arguments(lowering, name, function, [*holder, *node.args], around)
    if name in HOST_FUNCTIONS and prefix == "fn_":
        lowered.insert(0, ast.Constant(name))
    if prefix == "random_" or name in HOST_FUNCTIONS:
        lowering.is_closed = False
    called = call(prefix + name, *lowered, takes_scope=function.takes_scope)
    called.keywords = [
        ast.keyword(each.arg, lowering.lower(each.value, around)) for each in node.keywords
    ]
    return called


def _arguments(
    lowering: Lowering, name: str, function: Function, parts: Sequence[ast.expr], around: Around
) -> list[ast.expr]:
    lowered: list[ast.expr] = []
    for place, part in enumerate(parts):
        is_walked = place == 0 and function.walks
        lowered.append(
            _walked(lowering, part, function, around) if is_walked else lowering.lower(part, around)
        )
        if place == 0 and name == "get":
            lowering.note_item(part, parts[1], around)
    return lowered


def _walked(lowering: Lowering, node: ast.expr, function: Function, around: Around) -> ast.expr:
    if isinstance(node, ast.GeneratorExp):
        is_list = not function.is_lazy
        return walk(lowering, ast.ListComp(node.elt, node.generators) if is_list else node, around)
    lowered = lowering.lower(node, around)
    # A function of single values looks for itself whether it got a collection.
    is_announced = isinstance(node, ast.ListComp | ast.SetComp) or function.takes_single_values
    return lowered if is_announced else call(lowering.walks, lowered)


def _form(lowering: Lowering, name: str, node: ast.Call, around: Around) -> ast.expr:
    match name, node.args:
        case "has", [place] if names_a_place(place):
            return _presence(lowering, place, around)
        case "isinstance", [value, types] if names_types(types):
            named = types.elts if isinstance(types, ast.Tuple) else [types]
            loads: list[ast.expr] = [
                load(f"type_{each.id}") for each in named if isinstance(each, ast.Name)
            ]
            inner = lowering.lower(value, around)
            return call("fn_isinstance", inner, ast.Tuple(loads, ast.Load()), takes_scope=False)
        case "dir", []:
            lowering.is_closed = False
            return call("fn_dir", load("names"), takes_scope=False)
        case "has", _:
            raise refused("'has' of anything but a field", node)
    raise refused(f"'isinstance' with a type other than {', '.join(TYPES)}", node)


def _presence(lowering: Lowering, place: ast.expr, around: Around) -> ast.expr:
    lowered = lowering.lower(place, replace(around, is_guarded=True))
    match place:
        case ast.Constant(value=str() as name):
            lowering.reads.append(FieldRead(name=name, is_guarded=True))
        case ast.Name(id=name) if name not in around.bound:
            pass
        case _:
            return call("fn_has", without_name([], lowered), takes_scope=False)
    return ast.Compare(ast.Constant(name), [ast.In()], [load("names")])


def _check_arguments(node: ast.Call, function: Function) -> None:
    if not function.least <= len(node.args) <= function.most:
        raise refused("calling this with so many or so few values", node)
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in function.keywords:
            raise refused("a value given by this name", keyword)
