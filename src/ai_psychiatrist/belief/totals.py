"""Where the total lies: the beliefs of the items, added up score by score."""

import math
from collections.abc import Iterable, Sequence

from ai_psychiatrist.belief.votes import SCORES
from ai_psychiatrist.domain.belief import ItemBelief, TotalInterval


def total_interval(beliefs: Iterable[ItemBelief], level: float) -> TotalInterval:
    """Return the central interval of the total that holds at least `level` of the belief.

    The items are added up by convolution, as if they were independent: where they rise and fall
    together, as symptoms do, the true interval is wider.
    """
    totals = total_shares(beliefs)
    outside = (1 - level) / 2
    return TotalInterval(
        low=_first_above(totals, outside),
        high=len(totals) - 1 - _first_above(totals[::-1], outside),
        level=level,
        mean=math.fsum(total * share for total, share in enumerate(totals)),
    )


def total_shares(beliefs: Iterable[ItemBelief]) -> tuple[float, ...]:
    """Return the probability of each total from 0 to the largest."""
    totals: tuple[float, ...] = (1.0,)
    for belief in beliefs:
        totals = _added(totals, score_shares(belief))
    return totals


def score_shares(belief: ItemBelief) -> tuple[float, ...]:
    """Return the probability of each score when there is one.

    What is believed not determinable could be any score, and is shared out evenly.
    """
    return tuple(share + belief.not_determinable / len(SCORES) for share in belief.scores)


def _added(totals: Sequence[float], scores: Sequence[float]) -> tuple[float, ...]:
    sums = [0.0] * (len(totals) + len(scores) - 1)
    for total, share in enumerate(totals):
        for score, more in enumerate(scores):
            sums[total + score] += share * more
    return tuple(sums)


def _first_above(shares: Sequence[float], outside: float) -> int:
    """Return the first place at which the shares up to it add up to more than `outside`."""
    held = 0.0
    for place, share in enumerate(shares):
        held += share
        if held > outside:
            return place
    return len(shares) - 1
