"""How likely each score of an item is, and where that comes from."""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from ai_psychiatrist.domain.shape import Shape

_ROUNDING: Final = 1e-9


class BeliefSource(StrEnum):
    """What a belief was made from."""

    RULES = "rules"
    """The rules' reading of the grounded quotes, as one fixed vote."""
    RESCORING = "rescoring"
    """The scoring call made several times, the evidence in another order each time."""
    TOKENS = "tokens"
    """The probabilities of the one token that is an item's score."""
    DECISION = "decision"
    """A decision model that is shown the clauses of the evidence alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSet:
    """Neighbouring scores of which one is the true one, as often as its level says."""

    low: int | None
    """Lowest score 0-3; `None`, as `high` then is, where not determinable is all there is."""
    high: int | None
    """Highest score 0-3, or `None`."""
    not_determinable: bool
    """Whether it may be that no score can be told."""
    level: float
    """In how many of such sets the truth lies, on cases like those that it was fitted on."""

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            msg = "a set has both its lowest and its highest score, or neither"
            raise ValueError(msg)
        if self.low is None and not self.not_determinable:
            msg = "a set holds something"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalInterval:
    """Where the total is believed to lie, the items taken as independent of one another."""

    low: int
    """Lowest total 0-24 of the interval, which is central: as much is left out on either side."""
    high: int
    """Highest total 0-24 of the interval."""
    level: float
    """The belief that the interval holds at least."""
    mean: float
    """The total that is expected."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ItemBelief(Shape):
    """How likely each score of an item is; with not determinable the probabilities add up to 1."""

    scores: tuple[float, float, float, float]
    """Probabilities of the scores 0 to 3."""
    not_determinable: float
    """Probability that no score can be told; with the scores' it adds up to 1."""
    sources: tuple[BeliefSource, ...]
    """What the probabilities were made from."""
    calibrated: bool = False
    """Whether it was recalibrated on labelled participants; if not, it is no observed rate."""
    set: ScoreSet | None = None
    """Null where no fit is configured."""
    raw: Annotated[tuple[float, ...] | None, Field(exclude=True)] = field(
        default=None, compare=False
    )
    """The probabilities before they were recalibrated; `None` where these are they."""

    def __post_init__(self) -> None:
        shares = self.probabilities
        if not all(0 <= share <= 1 for share in shares):
            msg = "each probability is a number from 0 to 1"
            raise ValueError(msg)
        if not math.isclose(math.fsum(shares), 1, abs_tol=_ROUNDING):
            msg = "the probabilities of an item add up to 1"
            raise ValueError(msg)

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Those of 0, 1, 2, 3 and not determinable, in this order."""
        return (*self.scores, self.not_determinable)
