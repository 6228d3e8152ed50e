"""The fields that a host adds to an answer: no part of what the model said, and not its to give."""

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

UNIT_ID: Final = "unit_id"
METADATA: Final = "_metadata"
RAW_TEXT: Final = "_raw_text"
RETRY_COUNT: Final = "retry_count"

SET_ASIDE: Final = frozenset({UNIT_ID, METADATA, RAW_TEXT})
"""Taken out of an answer before the schema sees it."""

ALWAYS_PROTECTED: Final = frozenset({UNIT_ID, RETRY_COUNT})
"""Names that an answer never overrides for the rules; nor does it any that begins with `_`."""


def host_names(known: AbstractSet[str]) -> frozenset[str]:
    """Return the names that are a host's where schema and checks speak of the fields `known`."""
    return SET_ASIDE if RETRY_COUNT in known else SET_ASIDE | {RETRY_COUNT}


def host_names_of_line(names: Iterable[str], known: AbstractSet[str]) -> list[str]:
    """Return the names that are a host's on a line: of these also any that begins with `_`."""
    return [
        name
        for name in names
        if (name[:1] == "_" or name in ALWAYS_PROTECTED)
        and (name not in known or name in SET_ASIDE)
    ]


def is_protected(name: str, protected: Collection[str]) -> bool:
    """Return whether an answer can give no other value to a name that the context has."""
    return name in protected or name in ALWAYS_PROTECTED or name.startswith("_")


def accumulated(
    context: Mapping[str, object], answer: Mapping[str, object], *, protected: Collection[str]
) -> dict[str, object]:
    """Return the context of the next step: the answer counts, but for protected names.

    Of a host's names an answer adds none.
    """
    found = {
        name: value
        for name, value in answer.items()
        if not is_protected(name, protected) or (name in protected and name not in context)
    }
    return {**context, **found}
