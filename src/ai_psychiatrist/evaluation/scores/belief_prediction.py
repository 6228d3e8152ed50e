"""What a run believed of one item, as predictions keep it."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, ConfigDict, Field

from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief

_DIGITS: Final = 6
_ROUNDING: Final = 1e-5
Probability = Annotated[float, Field(ge=0, le=1)]


def _adding_up(shares: tuple[float, ...]) -> tuple[float, ...]:
    if not math.isclose(math.fsum(shares), 1, abs_tol=_ROUNDING):
        msg = "the probabilities of an item add up to 1"
        raise ValueError(msg)
    return shares


Probabilities = Annotated[
    tuple[Probability, Probability, Probability, Probability, Probability],
    AfterValidator(_adding_up),
]
SetScore = Annotated[int, Field(ge=0, le=3)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPrediction:
    """A set of neighbouring scores, not determinable among them or not."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    low: SetScore | None
    high: SetScore | None
    not_determinable: bool
    level: Probability


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefPrediction:
    """Probabilities of one item, to six decimal places."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False
    )

    probabilities: Probabilities
    """Of 0, 1, 2, 3 and not determinable."""
    raw: Probabilities
    """The same before they were recalibrated; what a fit is made from."""
    sources: tuple[BeliefSource, ...]
    calibrated: bool
    set: SetPrediction | None

    def of(self, score: int | None) -> float:
        """Return the probability of a score, or of not determinable for none."""
        return self.probabilities[4 if score is None else score]


def belief_prediction_of(belief: ItemBelief | None) -> BeliefPrediction | None:
    """Return a belief as predictions keep it."""
    if belief is None:
        return None
    found = belief.set
    return BeliefPrediction(
        probabilities=_rounded(belief.probabilities),
        raw=_rounded(belief.raw or belief.probabilities),
        sources=belief.sources,
        calibrated=belief.calibrated,
        set=None
        if found is None
        else SetPrediction(
            low=found.low,
            high=found.high,
            not_determinable=found.not_determinable,
            level=found.level,
        ),
    )


def _rounded(shares: tuple[float, ...]) -> tuple[float, float, float, float, float]:
    first, second, third, fourth, last = (round(share, _DIGITS) for share in shares)
    return first, second, third, fourth, last
