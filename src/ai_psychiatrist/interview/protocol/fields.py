"""Read the values under the keys of a protocol file."""

from collections.abc import Collection
from enum import StrEnum
from typing import TypeVar

from ai_psychiatrist.validation.config.lint.node import Node
from ai_psychiatrist.validation.config.nearest import did_you_mean

_Choice = TypeVar("_Choice", bound=StrEnum)


def required(node: Node, key: str) -> Node | None:
    """Return what stands under a key; report where there is nothing."""
    child = node.child(key)
    if child is None and isinstance(node.value, dict):
        node.error("missing_key", f"{key!r} is missing here")
    return child


def required_text(node: Node, key: str) -> str | None:
    """Return the text under a key without the spaces about it."""
    child = required(node, key)
    text = None if child is None else child.text()
    return None if text is None else text.strip()


def mapping(node: Node, key: str, known: Collection[str], *, of: str) -> Node | None:
    """Return the mapping under a key that has to be there; keys without a meaning are reported."""
    child = required(node, key)
    if child is None or not isinstance(child.value, dict):
        if child is not None:
            child.entries(of=of)
        return None
    child.refuse_unknown_keys(known)
    return child


def choice(node: Node, key: str, choices: type[_Choice]) -> _Choice | None:
    """Return which of a closed set the text under a key names."""
    text = required_text(node, key)
    names = [option.value for option in choices]
    if text is None or text in names:
        return None if text is None else choices(text)
    child = node.child(key) or node
    child.error(
        "unknown_choice", f"{key!r} is one of {', '.join(names)}{did_you_mean(text, names)}"
    )
    return None


def flag(node: Node, key: str, *, default: bool) -> bool:
    """Return `true` or `false` under a key."""
    child = node.child(key)
    if child is None:
        return default
    if isinstance(child.value, bool):
        return child.value
    child.error("wrong_shape", f"{key!r} is true or false")
    return default


def integer(node: Node, key: str, *, low: int, high: int) -> int | None:
    """Return a whole number under a key that has to be there; both bounds are inclusive."""
    child = required(node, key)
    return None if child is None else whole(child, low=low, high=high)


def whole(node: Node, *, low: int, high: int) -> int | None:
    """Return a whole number within bounds; `true` is none."""
    value = node.value
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    node.error("out_of_range", f"{node.path[-1]!r} has to be a whole number from {low} to {high}")
    return None


def refuse(node: Node, key: str, reason: str) -> None:
    """Report a key that has no meaning in a protocol of this kind."""
    child = node.child(key)
    if child is not None:
        child.error("not_for_this_kind", f"{key!r} has no meaning here: {reason}")
