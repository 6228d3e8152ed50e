"""What can name a unit or a split: identifiers are shown and logged, so words must not pass."""

import re
from typing import Final

LONGEST: Final = 100
"""Characters."""
_SPLIT: Final = re.compile(r"[\w-]{1,32}")


def identifier_of(text: str) -> str | None:
    """Return a unit's identifier, `None` for what is empty, long, or holds more than one line."""
    stripped = text.strip()
    is_usable = 0 < len(stripped) <= LONGEST and stripped.isprintable()
    return stripped if is_usable else None


def split_name(value: object) -> str | None:
    """Return the name of a split, `None` for anything but one short word."""
    return value if isinstance(value, str) and _SPLIT.fullmatch(value) else None
