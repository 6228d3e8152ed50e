"""Time stamps as transcripts and chats write them."""

import re
from typing import Final

from ai_psychiatrist.services.transcripts.line_ends import GAP

_DATE: Final = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}-[A-Za-z]{3}-\d{2,4})"
_TIME: Final = (
    r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,6}|-\d{1,2})?"
    rf"(?:Z|[+-]\d\d:?\d\d|{GAP}?(?:[AaPp]\.?[Mm]\b\.?|Uhr\b))?"
)
_SPAN: Final = (
    rf"(?:{_DATE}(?:T|,?{GAP}))?{_TIME}"
    rf"(?:{GAP}?(?:-->|->|-|–|to){GAP}?{_TIME})?"
)
STAMP: Final = rf"[\[(<{{#|]?{GAP}?{_SPAN}{GAP}?[\])>}}#|]?"
"""A time or a span of time, with or without its date and brackets, on one line."""
CLOCK: Final = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:[.,]\d{1,9})?)")
"""One time of a recording: `h:mm:ss` or `m:ss`."""
MOST_SECONDS: Final = 7 * 24 * 3_600.0
"""Of a recording: later times are dates, or mistakes."""


def seconds_of(stamp: str) -> float | None:
    """Return the first time of a stamp in seconds; `None` for none, and for one too late."""
    found = CLOCK.search(stamp)
    if found is None:
        return None
    hours, minutes, seconds = found.groups()
    total = int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds.replace(",", "."))
    return total if total <= MOST_SECONDS else None
