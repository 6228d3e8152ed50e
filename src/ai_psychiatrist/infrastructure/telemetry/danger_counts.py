"""Levels of danger, held back until many assessments have ended: no count may tell of one person.

Whoever reads a counter each few seconds, and knows who is assessed just now, would else learn
their level from its next step.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

TOLD_TOGETHER: Final = 20
"""So many assessments are told of at once."""


class DangerCounts:
    """Counts levels, and gives them out for so many assessments at a time."""

    def __init__(self) -> None:
        """Begin with none."""
        self._held_back: Counter[str] = Counter()

    def add(self, level: str) -> Mapping[str, int]:
        """Count one, and return those to be told now: none, or those of many assessments."""
        self._held_back[level] += 1
        if self._held_back.total() < TOLD_TOGETHER:
            return {}
        told, self._held_back = self._held_back, Counter()
        return told
