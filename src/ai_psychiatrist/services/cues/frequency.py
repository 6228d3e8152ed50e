"""How often a quote says that a symptom is there."""

from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.services.cues.reading import read_around

__all__ = ["Frequency", "frequency_of"]


def frequency_of(words: str, start: int, end: int) -> Frequency:
    """Read how often the symptom in `words[start:end]` is there, from the clauses it lies in.

    The frequency nearest to the span is taken. "I never sleep" affirms a symptom, so that its
    "never" means nearly every day; `NOT_AT_ALL` stands beside a denial only.
    """
    return read_around(words, start, end).frequency_of(start, end)
