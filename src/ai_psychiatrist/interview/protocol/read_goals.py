"""Read the goals of a protocol and the rule by which its interviews stop."""

from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.protocol.fields import integer, mapping, refuse, required, whole
from ai_psychiatrist.interview.protocol.records import (
    FixedGoals,
    GeneratedGoals,
    Input,
    IntegerInput,
    ProtocolKind,
    StopRule,
)
from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.nearest import did_you_mean

MOST_GOALS: Final = 12
_STOP_KEYS: Final = frozenset({"max_asks", "max_turns", "stall_turns", "threshold"})
_MOST_TURNS: Final = 200
_MOST_ASKS: Final = 3
"""An item's question has three wordings, and none is put twice."""
_THRESHOLDS: Final = (1, 100)


def read_goals(root: Node, kind: ProtocolKind) -> FixedGoals | GeneratedGoals | None:
    """Read the goals of an interview that a model leads."""
    if kind is ProtocolKind.ITEMS:
        refuse(root, "goals", "the goals are the unknown items")
        return None
    node = mapping(root, "goals", {"fixed", "generated"}, of="goals")
    if node is None:
        return None
    fixed, generated = node.child("fixed"), node.child("generated")
    if (fixed is None) == (generated is None):
        node.error("goal_source", "goals are either `fixed` or `generated`")
        return None
    return _generated(node) if fixed is None else _fixed(fixed)


def _fixed(node: Node) -> FixedGoals | None:
    texts = node.names(of="goals")
    if not 1 <= len(texts) <= MOST_GOALS:
        node.error("goal_count", f"an interview has 1 to {MOST_GOALS} goals")
        return None
    return FixedGoals(texts=texts)


def _generated(parent: Node) -> GeneratedGoals | None:
    node = mapping(parent, "generated", {"min", "max"}, of="bounds")
    if node is None:
        return None
    least = integer(node, "min", low=1, high=MOST_GOALS)
    most = integer(node, "max", low=1, high=MOST_GOALS)
    if least is None or most is None:
        return None
    if least > most:
        node.error("empty_range", "`min` is greater than `max`")
        return None
    return GeneratedGoals(minimum=least, maximum=most)


def read_stop(root: Node, kind: ProtocolKind, inputs: tuple[Input, ...]) -> StopRule | None:
    """Read when an interview stops."""
    node = mapping(root, "stop", _STOP_KEYS, of="limits")
    if node is None:
        return None
    turns = integer(node, "max_turns", low=1, high=_MOST_TURNS)
    if kind is ProtocolKind.ITEMS:
        return _stop_of_items(node, turns)
    refuse(node, "max_asks", "how often a goal is asked about is the model's choice")
    stall = integer(node, "stall_turns", low=1, high=_MOST_TURNS)
    threshold = required(node, "threshold")
    if turns is None or stall is None or threshold is None:
        return None
    if isinstance(threshold.value, str):
        _check_threshold_input(threshold, threshold.value, inputs)
        return StopRule(max_turns=turns, stall_turns=stall, threshold_input=threshold.value)
    value = whole(threshold, low=_THRESHOLDS[0], high=_THRESHOLDS[1])
    return StopRule(max_turns=turns, stall_turns=stall, threshold=value)


def _stop_of_items(node: Node, turns: int | None) -> StopRule | None:
    reason = "an item is answered or it is not; there is no confidence to reach"
    refuse(node, "threshold", reason)
    refuse(node, "stall_turns", reason)
    asks = integer(node, "max_asks", low=1, high=_MOST_ASKS)
    if turns is not None and turns < len(Item):
        (node.child("max_turns") or node).warn(
            "too_few_turns", f"{turns} turns cannot ask about all {len(Item)} items"
        )
    return None if turns is None or asks is None else StopRule(max_turns=turns, max_asks=asks)


def _check_threshold_input(node: Node, name: str, inputs: tuple[Input, ...]) -> None:
    low, high = _THRESHOLDS
    numbers = {one.name: one for one in inputs if isinstance(one, IntegerInput)}
    found = numbers.get(name)
    if found is None:
        hint = did_you_mean(name, numbers)
        node.error("unknown_input", f"no input of type integer is named {name!r}{hint}")
    elif not low <= found.low <= found.high <= high:
        node.error("threshold_range", f"{name!r} may lie outside {low} to {high} percent")
