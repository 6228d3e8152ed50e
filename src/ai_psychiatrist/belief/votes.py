"""Votes on an item, and how a number of them becomes probabilities."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

SMOOTHING: Final = 0.25
"""What each of the five answers is given before any vote: a symmetric Dirichlet prior, by which one
vote alone gives its answer 1.25 of 2.25, or .56, and each other .11."""
SCORES: Final = (0, 1, 2, 3)
NOT_DETERMINABLE: Final = None
ANSWERS: Final[tuple[int | None, ...]] = (*SCORES, NOT_DETERMINABLE)
"""In the order in which probabilities stand."""


def shares_of(votes: Iterable[int | None]) -> tuple[float, ...]:
    """Return the probabilities of `ANSWERS` after some votes: a score 0-3 each, or `None`."""
    counts = Counter(votes)
    whole = counts.total() + SMOOTHING * len(ANSWERS)
    return tuple((counts[answer] + SMOOTHING) / whole for answer in ANSWERS)
