"""How likely each score of an item is, as bars of a small picture and as words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.results.models import BeliefResult, ItemResult

_HEIGHT: Final = 24
_STEP: Final = 12
_GAP: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar; in units of the picture, whose upper left corner is 0, 0."""

    name: str
    """A score, or `?` for none."""
    is_chosen: bool
    """Whether it is that of the answer that was given."""
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefBars:
    """The bars of the scores 0 to 3 and of no score, and the same in words."""

    bars: tuple[Bar, ...]
    words: str


def bars_of(item: ItemResult, belief: BeliefResult) -> BeliefBars:
    """Return the picture of the belief in an item's answer."""
    shares = ", ".join(f"{score}: {share:.0%}" for score, share in enumerate(belief.scores))
    return BeliefBars(
        bars=tuple(_bars(belief, item.score)),
        words=f"Belief in each score. {shares}, no score: {belief.not_determinable:.0%}",
    )


def _bars(belief: BeliefResult, answer: int | None) -> Iterator[Bar]:
    answers = [*enumerate(belief.scores), (None, belief.not_determinable)]
    for at, (score, share) in enumerate(answers):
        height = max(round(share * _HEIGHT, 2), 1.0)
        yield Bar(
            name="?" if score is None else str(score),
            is_chosen=score == answer,
            x=at * _STEP + (_GAP if score is None else 0),
            y=_HEIGHT - height,
            height=height,
        )
