"""How likely each score of an item is, and where that comes from."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

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
class ItemBelief:
    """Probabilities of the scores 0 to 3 and of not determinable; together they are 1."""

    scores: tuple[float, float, float, float]
    not_determinable: float
    sources: tuple[BeliefSource, ...]
    is_calibrated: bool = False
    """Whether it was recalibrated on labelled participants other than this one."""

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
