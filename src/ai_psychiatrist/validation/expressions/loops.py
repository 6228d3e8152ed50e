"""Loops over collections, which announce how much they will walk."""

import ast
from dataclasses import replace
from typing import Final, TypeAlias

from ai_psychiatrist.validation.expressions.generated_code import call
from ai_psychiatrist.validation.expressions.lowering import Lowering
from ai_psychiatrist.validation.expressions.places import Around, each_of, place_of
from ai_psychiatrist.validation.expressions.syntax import check_name, refused

MAX_LOOPS: Final = 2
"""`for` parts that may run inside one another."""
NODES_PER_STEP: Final = 16

Loop: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp


def loop(lowering: Lowering, node: Loop, around: Around) -> ast.expr:
    """Return the code of a loop that stands by itself."""
    if isinstance(node, ast.GeneratorExp):
        raise refused("a loop in round brackets outside of a function that walks it", node)
    return walk(lowering, node, around)


def walk(lowering: Lowering, node: Loop, around: Around) -> ast.expr:
    """Return the code of a loop whose elements are asked for."""
    if around.loops + len(node.generators) > MAX_LOOPS:
        raise refused(f"more than {MAX_LOOPS} loops inside one another", node)
    weight = ast.Constant(sum(1 for _ in ast.walk(node)) // NODES_PER_STEP + 1)
    generators = []
    for generator in node.generators:
        if generator.is_async:
            raise refused("'async'", node)
        source = call(lowering.walks, lowering.lower(generator.iter, around), weight)
        target, names = _target(generator.target)
        is_one = isinstance(target, ast.Name)
        walked = each_of(place_of(generator.iter, around.bound)) if is_one else None
        bound = {**around.bound, **dict.fromkeys(names, walked)}
        around = replace(around, bound=bound, loops=around.loops + 1)
        conditions = lowering.lower_all(generator.ifs, around)
        generators.append(ast.comprehension(target, source, conditions, 0))
    return type(node)(lowering.lower(node.elt, around), generators)


def _target(target: ast.expr) -> tuple[ast.expr, list[str]]:
    """Return where each element of a loop is put, and the names that stand for it."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    names = []
    for part in parts:
        if not isinstance(part, ast.Name):
            raise refused("a loop over anything but plain names", part)
        check_name(part)
        names.append(part.id)
    stores: list[ast.expr] = [ast.Name(f"each_{name}", ast.Store()) for name in names]
    is_one = isinstance(target, ast.Name)
    return stores[0] if is_one else ast.Tuple(stores, ast.Store()), names
