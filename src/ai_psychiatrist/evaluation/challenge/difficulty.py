"""What makes the patients of a challenge difficult."""

from enum import StrEnum


class Difficulty(StrEnum):
    """One rule by which a patient tells about half of the items; the other half is told plainly."""

    PLAIN = "plain"
    MINIMISES = "minimises"
    """Plays down what is there as often as is said."""
    EXAGGERATES = "exaggerates"
    """Speaks in the largest words, and counts the days when asked."""
    CONTRADICTS = "contradicts"
    """Says the opposite later: half of it taken back in words, half left standing."""
    PAST = "past"
    """Tells of what is long over."""
    ANOTHER = "another"
    """Answers for somebody else."""
    QUOTES = "quotes"
    """Repeats what is said in a film, a song or a book."""
    IRONY = "irony"
    """Says the opposite of what is meant, and the transcript marks it."""
    LANGUAGE = "language"
    """Falls back into another language."""
    INJECTION = "injection"
    """Tells the reader of the transcript what to answer; the same interview is there without it."""
    DANGER = "danger"
    """Mentions danger in passing."""
    NOISE = "noise"
    """Is transcribed badly: the same interview at each rate of wrong words."""


NOISE_RATES = (0.0, 0.1, 0.2, 0.3)
"""Shares of words that are replaced, left out or put in."""
