"""A part of what somebody said, and the same without what hangs at its edges."""

from dataclasses import dataclass, field
from typing import Final

_EDGES: Final = " \t\r\n\v\f,;-–—\u00a0\u200b\ufeff"


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Characters `start` to `end` of a turn's words."""

    turn: str = field(repr=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words, verbatim."""
        return self.turn[self.start : self.end]

    def trimmed(self) -> "TextSpan":
        """Leave out spaces, commas and dashes at the edges."""
        text = self.text
        start = len(text) - len(text.lstrip(_EDGES))
        end = max(start, len(text.rstrip(_EDGES)))
        return TextSpan(self.turn, self.start + start, self.start + end)
