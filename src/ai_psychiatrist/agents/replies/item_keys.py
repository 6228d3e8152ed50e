"""The items that a reply names, by whatever writing of their keys and in whatever wrapping."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.validation.reply.parse import parse_whole

_WRAPPERS: Final = frozenset(
    {"answer", "final_answer", "result", "results", "data", "output", "response", "json"}
    | {"evidence", "quotes", "scores", "items", "assessment", "phq8", "phq-8"}
)

_NO_LETTER: Final = re.compile(r"[\W_]")
_ITEM_OF_NAME: Final = {_NO_LETTER.sub("", key).lower(): key for key in PHQ8_DOMAIN_KEYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedItems:
    """What a reply says of each item that it names."""

    values: dict[str, object] = field(default_factory=dict)
    unknown_keys: int = 0
    renamed: int = 0
    """How many keys were written in another way than the task has them."""


def by_item(value: dict[str, object], *, voids_repeated: bool = False) -> NamedItems:
    """Find the items by their keys, whatever the case, spaces and hyphens in them.

    An item that is given twice is refused, or with `voids_repeated` has no value.
    """
    items: dict[str, object] = {}
    renamed = 0
    for key, said in value.items():
        item = _ITEM_OF_NAME.get(_NO_LETTER.sub("", key).lower())
        if item is None:
            continue
        if item in items and not voids_repeated:
            raise OutputRejected(
                RejectionCode.DUPLICATE_KEY, f"{item} is given twice. Give each item once."
            )
        items[item] = None if item in items else said
        renamed += key != item
    return NamedItems(values=items, unknown_keys=len(value) - len(items), renamed=renamed)


def unwrapped(value: object, *, least: int = len(PHQ8_DOMAIN_KEYS)) -> object:
    """Return the object of at least so many items that a value wraps, else the value as it is."""
    match value:
        case [only]:
            inner = only
        case dict():
            held = {key: said for key, said in value.items() if isinstance(said, dict | list | str)}
            holders = [key for key in held if key.casefold() in _WRAPPERS]
            if len(holders) != 1 or any(
                isinstance(said, dict | list) for key, said in held.items() if key not in holders
            ):
                return value
            inner = held[holders[0]]
        case _:
            return value
    if isinstance(inner, str):
        with suppress(OutputRejected):
            inner = parse_whole(inner.strip()).value
    if not isinstance(inner, dict):
        return value
    items = by_item(inner, voids_repeated=least < len(PHQ8_DOMAIN_KEYS)).values
    return inner if len(items) >= least else value
