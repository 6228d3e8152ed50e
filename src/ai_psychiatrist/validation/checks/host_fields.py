"""The fields that a host adds to an answer: no part of what the model said."""

from collections.abc import Iterable
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
