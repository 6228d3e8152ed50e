"""What several sources believe of one item, made one."""

import math
from collections.abc import Mapping, Sequence

from ai_psychiatrist.belief.votes import ANSWERS
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief


def pooled(by_source: Mapping[BeliefSource, Sequence[float]]) -> ItemBelief:
    """Return the log-linear pool of the sources, each with the same weight.

    `by_source`: probabilities of `ANSWERS`, none of them 0. The pool is their geometric mean, made
    to add up to 1: it stays the same when a source repeats what all say, and one source that holds
    an answer for hardly possible counts for more than in an arithmetic mean. Source: Genest &
    Zidek 1986, Stat Sci 1:114-135.
    """
    weight = 1 / len(by_source)
    logs = [
        math.fsum(weight * math.log(shares[place]) for shares in by_source.values())
        for place in range(len(ANSWERS))
    ]
    *scores, not_determinable = normalised([math.exp(log - max(logs)) for log in logs])
    first, second, third, fourth = scores
    return ItemBelief(
        scores=(first, second, third, fourth),
        not_determinable=not_determinable,
        sources=tuple(source for source in BeliefSource if source in by_source),
    )


def normalised(weights: Sequence[float]) -> tuple[float, ...]:
    """Return weights divided by their sum, which is above 0."""
    whole = math.fsum(weights)
    return tuple(weight / whole for weight in weights)
