"""How likely each score of an item is, as bars of a small picture and as words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.results.models import BeliefResult

_HEIGHT: Final = 24
_STEP: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar; in units of the picture, whose upper left corner is 0, 0."""

    score: int
    share: float
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefBars:
    """The bars of the scores 0 to 3, and the same in words."""

    bars: tuple[Bar, ...]
    words: str


def bars_of(belief: BeliefResult) -> BeliefBars:
    """Return the picture of a belief."""
    shares = ", ".join(f"{score}: {share:.0%}" for score, share in enumerate(belief.scores))
    return BeliefBars(
        bars=tuple(_bars(belief)),
        words=f"Belief in each score. {shares}, no score: {belief.not_determinable:.0%}",
    )


def _bars(belief: BeliefResult) -> Iterator[Bar]:
    for score, share in enumerate(belief.scores):
        height = max(round(share * _HEIGHT, 2), 1.0)
        yield Bar(score=score, share=share, x=score * _STEP, y=_HEIGHT - height, height=height)
