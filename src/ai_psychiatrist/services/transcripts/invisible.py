"""Characters that nobody sees or says: marks of direction, zero-width marks, times of a tool."""

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.domain.transcript import Turn
from ai_psychiatrist.services.transcripts.line_ends import GAP, INVISIBLE

_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]+")
_CLOCK: Final = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?"
_UNSAID: Final = re.compile(
    rf"[\x00-\x1f\x7f-\x9f\s{INVISIBLE}]+"
    rf"|[\[(<{{#]{GAP}?{_CLOCK}(?:{GAP}?(?:-->|->|-|–|to){GAP}?{_CLOCK})?{GAP}?[\])>}}#]"
    r"|(?<![\w:])\d{1,3}:\d{2}:\d{2}(?:[.,]\d{1,6})?(?![\w:])"
)


def has_words(text: str) -> bool:
    """Return whether anything is left of a text without blanks, control characters and times."""
    at = 0
    while (unsaid := _UNSAID.match(text, at)) is not None:
        at = unsaid.end()
    return at < len(text)


@dataclass(frozen=True, slots=True)
class VisibleText:
    """A text without the characters that nobody sees, and where its characters stood."""

    text: str = field(repr=False)
    _ends: list[int]
    """Where in the visible text each removed stretch stood, rising."""
    _removed: list[int]
    """How many characters were removed up to each of them."""

    def placed(self, turn: Turn) -> Turn:
        """Return a turn of the visible text with its offsets in the text as received."""
        return replace(
            turn,
            start=self._before(turn.start),
            words_start=self._behind(turn.words_start),
            end=self._before(turn.end) if turn.end < len(self.text) else self._behind(turn.end),
        )

    def _behind(self, offset: int) -> int:
        """Return the place of a character, behind what was removed before it."""
        count = bisect_left(self._ends, offset + 1)
        return offset + (self._removed[count - 1] if count else 0)

    def _before(self, offset: int) -> int:
        """Return the place behind the character before, so that what was removed follows it."""
        count = bisect_left(self._ends, offset)
        return offset + (self._removed[count - 1] if count else 0)


def without_invisible(text: str) -> VisibleText | None:
    """Return what is seen of a text; `None` where that is all of it."""
    ends: list[int] = []
    removed: list[int] = []
    total = 0
    for found in _INVISIBLE.finditer(text):
        ends.append(found.start() - total)
        total += len(found[0])
        removed.append(total)
    if not ends:
        return None
    return VisibleText(_INVISIBLE.sub("", text), ends, removed)
