"""Sets of neighbouring scores that hold the truth as often as they say, on cases like those seen.

Split conformal prediction with an ordinal score: from the likeliest score on, the likelier
neighbour is taken in, and how much probability lies in the set before the truth is taken in is
ranked among earlier cases: 0 for the likeliest, which is in every set. Sources: Vovk, Gammerman &
Shafer 2005; Lu, Angelopoulos & Pomerantz 2022 (ordinal sets), MICCAI.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from ai_psychiatrist.domain.belief import ItemBelief, ScoreSet

WHOLE: Final = 1.0
"""The threshold with which a set holds every score."""


def growing(shares: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield the scores as a set takes them in, each with the probability that it held before.

    Of equally likely scores the lower one comes first.
    """
    low = high = max(range(len(shares)), key=lambda score: (shares[score], -score))
    held = 0.0
    taken = low
    while True:
        yield taken, min(held, WHOLE)
        held += shares[taken]
        below = shares[low - 1] if low > 0 else -1.0
        above = shares[high + 1] if high < len(shares) - 1 else -1.0
        if max(below, above) < 0:
            return
        if below >= above:
            low, taken = low - 1, low - 1
        else:
            high, taken = high + 1, high + 1


def strangeness(shares: Sequence[float], truth: int) -> float:
    """Return how much probability a set holds before it takes in the truth; 0 for the likeliest."""
    return next(held for score, held in growing(shares) if score == truth)


def least_people(level: float) -> int:
    """Return how many people a set of this level takes, were the items of each all alike."""
    return math.ceil(level / (1 - level) - 1e-9)


def set_of(belief: ItemBelief, shares: Sequence[float], *, limit: float, level: float) -> ScoreSet:
    """Return the set of an item; the likeliest score is always in it.

    `shares`: of the scores, where one can be told. Not determinable belongs to it where it is
    likelier than the least likely score in it: that says nothing about how often it is so, as no
    label says it.
    """
    taken = [score for score, held in growing(shares) if held <= limit]
    least = min(belief.scores[score] for score in taken)
    return ScoreSet(
        low=min(taken),
        high=max(taken),
        not_determinable=belief.not_determinable > least,
        level=level,
    )
