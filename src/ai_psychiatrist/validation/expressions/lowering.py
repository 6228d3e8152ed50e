"""One expression under way: its parts become generated code, and what they read is noted."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ai_psychiatrist.validation.expressions.places import Around, FieldRead, item_of, place_of
from ai_psychiatrist.validation.expressions.syntax import refused_part
from ai_psychiatrist.validation.expressions.written_values import ConstantType, constant_type

Lowerings: TypeAlias = "Mapping[type[ast.expr], Callable[..., ast.expr]]"
"""Kind of part → what makes its code, of the lowering, the part and what it stands in."""


class Lowering:
    """Lowers the parts of one expression and notes what they read."""

    def __init__(self, lowerings: Lowerings, *, is_step: bool) -> None:
        self._lowerings = lowerings
        self.is_step = is_step
        # What rules are told does not hang on an order; what steps hand on does.
        self.walks = "op_walk_in_order" if is_step else "op_walk"
        self.reads: list[FieldRead] = []
        self.compared: list[tuple[FieldRead, ConstantType]] = []
        self.texts: set[str] = set()
        self.is_closed = True

    def lower(self, node: ast.expr, around: Around) -> ast.expr:
        """Return the code of a part; raises `ExpressionRefused` for what is not offered."""
        lowering = self._lowerings.get(type(node))
        if lowering is None:
            raise refused_part(node)
        return lowering(self, node, around)

    def lower_all(self, nodes: Sequence[ast.expr], around: Around) -> list[ast.expr]:
        """Return the code of several parts."""
        return [self.lower(node, around) for node in nodes]

    def note_item(self, holder: ast.expr, key: ast.expr, around: Around) -> None:
        """Note a place that is only asked for."""
        place = item_of(holder, key, around.bound)
        if place is not None:
            self.reads.append(replace(place, is_guarded=True))

    def note_compared(self, node: ast.expr, constants: Sequence[ast.expr], around: Around) -> None:
        """Note what type a place is compared or calculated with."""
        place = place_of(node, around.bound)
        types = {constant_type(constant) for constant in constants}
        if place is not None and len(types) == 1:
            self.compared += [(place, kind) for kind in types if kind is not None]
