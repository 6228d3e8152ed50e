"""Whether a quote speaks of the past, of the recent weeks, or does not say."""

from ai_psychiatrist.domain.evidence import Timeframe
from ai_psychiatrist.services.cues.reading import read_around

__all__ = ["Timeframe", "timeframe_of"]


def timeframe_of(words: str, start: int, end: int) -> Timeframe:
    """Read when `words[start:end]` was so from the clauses it lies in.

    The present tense alone states nothing; "used to", "years ago" and the like are the past, and
    "lately", "these two weeks" or "I've been" are recent.
    """
    return read_around(words, start, end).timeframe_of(start, end)
