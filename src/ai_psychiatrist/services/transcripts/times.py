"""Time stamps as transcripts write them."""

import re
from typing import Final

TIME: Final = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?"
STAMP: Final = rf"[\[(<{{]?\s?{TIME}(?:\s?(?:-->|->|-|–|to)\s?{TIME})?\s?[\])>}}]?"
"""A time or a span of time, with or without brackets."""
_PARTS: Final = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:[.,]\d{1,6})?)")


def seconds_of(stamp: str) -> float | None:
    """Return the first time of a stamp, `h:mm:ss` or `m:ss`, in seconds; `None` for no time."""
    found = _PARTS.search(stamp)
    if found is None:
        return None
    hours, minutes, seconds = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds.replace(",", "."))
