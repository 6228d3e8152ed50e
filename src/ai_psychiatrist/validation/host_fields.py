"""The fields that a host adds to an answer: no part of what the model said."""

from typing import Final

UNIT_ID: Final = "unit_id"
METADATA: Final = "_metadata"
RAW_TEXT: Final = "_raw_text"
RETRY_COUNT: Final = "retry_count"

SET_ASIDE: Final = frozenset({UNIT_ID, METADATA, RAW_TEXT})
"""Taken out of an answer before the schema sees it."""

ALWAYS_PROTECTED: Final = frozenset({UNIT_ID, RETRY_COUNT})
"""Names that an answer never overrides for the rules; nor does it any that begins with `_`."""


def without_host_fields(value: dict[str, object]) -> dict[str, object]:
    """Return the answer alone; the argument itself when it holds nothing else."""
    if SET_ASIDE.isdisjoint(value):
        return value
    return {name: inner for name, inner in value.items() if name not in SET_ASIDE}
