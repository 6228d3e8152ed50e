"""Distributions over the scores of an item: votes, their pool, sets of scores, and the total.

Sets are split conformal prediction with an ordinal score: from the likeliest score on, the likelier
neighbour is taken in, and how much probability lies in the set before the truth is taken in is
ranked among earlier cases: 0 for the likeliest, which is in every set. Sources: Vovk, Gammerman &
Shafer 2005; Lu, Angelopoulos & Pomerantz 2022 (ordinal sets), MICCAI.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief, ScoreSet, TotalInterval
from ai_psychiatrist.domain.evidence import Frequency, Relevance, Timeframe, stated_frequency
from ai_psychiatrist.domain.items import ItemAssessment

SMOOTHING: Final = 0.25
"""What each of the five answers is given before any vote: a symmetric Dirichlet prior, by which one
vote alone gives its answer 1.25 of 2.25, or .56, and each other .11."""
SCORES: Final = (0, 1, 2, 3)
ANSWERS: Final[tuple[int | None, ...]] = (*SCORES, None)
"""In the order in which probabilities stand; `None` is not determinable."""
LEAST_SHARE: Final = 0.005
"""No model is so sure that another answer is impossible: a pool would never recover from a 0."""
WHOLE: Final = 1.0
"""The threshold with which a set holds every score."""

_ELSEWHERE: Final = frozenset({Relevance.ELSEWHERE, Relevance.OTHER_PERSON, Relevance.INSTRUCTION})
_STATED: Final = {
    Frequency.SEVERAL_DAYS: 1,
    Frequency.MORE_THAN_HALF: 2,
    Frequency.NEARLY_EVERY_DAY: 3,
}
_UNSTATED: Final = 1
"""The score of a symptom that is there without a word of how often."""


def shares_of(votes: Iterable[int | None]) -> tuple[float, ...]:
    """Return the probabilities of `ANSWERS` after some votes: a score 0-3 each, or `None`."""
    counts = Counter(votes)
    whole = counts.total() + SMOOTHING * len(ANSWERS)
    return tuple((counts[answer] + SMOOTHING) / whole for answer in ANSWERS)


def rules_vote(item: ItemAssessment) -> int | None:
    """Return the score that an item's grounded quotes state, `None` where they do not settle it.

    An affirmed symptom scores as often as it is said to be there; a denied one 0. Where both are
    said, the affirmed one counts if it is dated to these weeks or says how often, else neither.
    """
    quotes = [quote for quote in item.evidence if quote.relevance not in _ELSEWHERE]
    affirmed = [quote for quote in quotes if quote.supports_symptom]
    is_denied = any(quote.denies_symptom for quote in quotes)
    is_dated = any(
        quote.timeframe is Timeframe.RECENT or quote.frequency is not Frequency.UNSTATED
        for quote in affirmed
    )
    if affirmed and (is_dated or not is_denied):
        return _STATED.get(stated_frequency(affirmed), _UNSTATED)
    return 0 if is_denied and not affirmed else None


def normalised(weights: Sequence[float]) -> tuple[float, ...]:
    """Return weights divided by their sum, which is above 0."""
    whole = math.fsum(weights)
    return tuple(weight / whole for weight in weights)


def possible(shares: Sequence[float]) -> tuple[float, ...]:
    """Return probabilities, none of which is impossible."""
    return normalised([max(share, LEAST_SHARE) for share in shares])


def pooled(by_source: Mapping[BeliefSource, Sequence[float]]) -> ItemBelief:
    """Return the log-linear pool of the sources, each with the same weight.

    `by_source`: probabilities of `ANSWERS`, none of them 0. The pool is their geometric mean, made
    to add up to 1: it stays the same when a source repeats what all say, and one source that holds
    an answer for hardly possible counts for more than in an arithmetic mean. Source: Genest &
    Zidek 1986, Stat Sci 1:114-135.
    """
    weight = 1 / len(by_source)
    logs = [
        math.fsum(weight * math.log(share) for share in shares)
        for shares in zip(*by_source.values(), strict=True)
    ]
    first, second, third, fourth, not_determinable = normalised(
        [math.exp(log - max(logs)) for log in logs]
    )
    return ItemBelief(
        scores=(first, second, third, fourth),
        not_determinable=not_determinable,
        sources=tuple(source for source in BeliefSource if source in by_source),
    )


def growing(shares: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield the scores as a set takes them in, each with the probability that it held before.

    Of equally likely scores the lower one comes first.
    """
    taken = max(range(len(shares)), key=shares.__getitem__)
    low, high, held = taken, taken, 0.0
    for _ in shares:
        yield taken, min(held, WHOLE)
        held += shares[taken]
        neighbours = [at for at in (low - 1, high + 1) if 0 <= at < len(shares)]
        taken = max(neighbours, key=shares.__getitem__, default=taken)
        low, high = min(low, taken), max(high, taken)


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


def total_interval(beliefs: Iterable[ItemBelief], level: float) -> TotalInterval:
    """Return the central interval of the total that holds at least `level` of the probability.

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
    totals = [1.0]
    for belief in beliefs:
        sums = [0.0] * (len(totals) + len(SCORES) - 1)
        for total, share in enumerate(totals):
            for score, more in enumerate(score_shares(belief)):
                sums[total + score] += share * more
        totals = sums
    return tuple(totals)


def score_shares(belief: ItemBelief) -> tuple[float, ...]:
    """Return the probability of each score when there is one.

    What is held not determinable could be any score, and is shared out evenly.
    """
    return tuple(share + belief.not_determinable / len(SCORES) for share in belief.scores)


def _first_above(shares: Sequence[float], outside: float) -> int:
    """Return the first index at which the shares up to it add up to more than `outside`."""
    above = (at for at, held in enumerate(accumulate(shares)) if held > outside)
    return next(above, len(shares) - 1)
