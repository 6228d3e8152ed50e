"""Draws the pictures of "How sure is it?" from the code that computes what they show.

`python -m docs.images.how_sure` draws them anew; a test compares them.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from benchmarks.conformal import LEVEL, SIZES, cohort_of, held, people

from ai_psychiatrist.distribution.scores import (
    growing,
    pooled,
    shares_of,
    total_interval,
    total_shares,
)
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief

FOLDER: Final = Path(__file__).parent
COHORTS: Final = 1_000
PEOPLE: Final = 4_000

_WIDTH: Final = 640
_BASE: Final = 190
_TALL: Final = 130
_DARK: Final = "#2f6690"
_PALE: Final = "#c9d8e6"
_ALARM: Final = "#b5523b"
_STYLE: Final = "text { font: 13px sans-serif; fill: #222 } .note { font-size: 12px; fill: #555 }"


class Drawing:
    """An SVG picture that grows by its parts."""

    def __init__(self, title: str, *, height: int = 240) -> None:
        self._height = height
        self._parts = [f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>']
        self._title = title
        self.text(12, 24, title, weight="bold")

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        weight: str = "normal",
        at: str = "start",
        fill: str = "",
    ) -> None:
        """Write words; `at`: which end of them stands at x."""
        note = "" if weight == "bold" else ' class="note"'
        note += f' style="fill: {fill}"' if fill else ""
        self._parts.append(
            f'<text x="{x:.0f}" y="{y:.0f}"{note} font-weight="{weight}" '
            f'text-anchor="{at}">{words}</text>'
        )

    def bar(
        self, x: float, width: float, share: float, *, fill: str = _DARK, most: float = 1
    ) -> None:
        """Stand a bar on the base line; as high as a share of the largest."""
        tall = share / most * _TALL
        self._parts.append(
            f'<rect x="{x:.1f}" y="{_BASE - tall:.1f}" width="{width:.1f}" '
            f'height="{tall:.1f}" fill="{fill}"/>'
        )

    def line(
        self, points: Sequence[tuple[float, float]], *, stroke: str = _DARK, dash: str = ""
    ) -> None:
        """Join points."""
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<polyline points="{way}" fill="none" stroke="{stroke}" stroke-width="2"{dashed}/>'
        )

    def shares(
        self, left: float, shares: Sequence[float], caption: str, fills: Sequence[str] | None = None
    ) -> None:
        """Draw the probabilities of the five answers with their percentages."""
        for place, share in enumerate(shares):
            x = left + place * 36
            self.bar(x, 28, share, fill=(fills or [_DARK] * len(shares))[place])
            self.text(x + 14, _BASE - share * _TALL - 4, f"{share:.0%}", at="middle")
            self.text(x + 14, _BASE + 16, ("0", "1", "2", "3", "?")[place], at="middle")
        self.text(left, _BASE + 36, caption)

    def svg(self) -> str:
        """Return the picture."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {self._height}" '
            f'role="img"><title>{self._title}</title>'
        )
        return "\n".join([head, f"<style>{_STYLE}</style>", *self._parts, "</svg>", ""])


def belief() -> str:
    """One vote of the rules, and five votes of a model."""
    drawing = Drawing("Belief: how likely each score of one item is (? = cannot be told)")
    drawing.shares(40, shares_of([2]), "the rules: one vote for 2")
    drawing.shares(360, shares_of([2, 2, 2, 1, None]), "five scorings: 2, 2, 2, 1, ?")
    return drawing.svg()


def pooling() -> str:
    """Two sources and their pool."""
    one, other = shares_of([2]), shares_of([3, 3, 3, 2, 2])
    pool = pooled({BeliefSource.RULES: one, BeliefSource.RESCORING: other}).probabilities
    drawing = Drawing("Pooling: sources that disagree leave both answers open")
    drawing.shares(20, one, "the rules")
    drawing.shares(230, other, "a model, five times")
    drawing.shares(440, pool, "pooled")
    return drawing.svg()


def sets() -> str:
    """A set that grows, and what sets of many cohorts hold."""
    drawing = Drawing(
        "Sets: grown from the likeliest score; what they hold varies by cohort", height=250
    )
    shares = (0.06, 0.24, 0.52, 0.18)
    taken = [score for score, mass in growing(shares) if mass <= LEVEL]
    fills = [_DARK if score in taken else _PALE for score in range(4)]
    drawing.shares(30, shares, f"the set {min(taken)} to {max(taken)} (dark)", fills)
    fitted, met = cohort_of(PEOPLE, 1), cohort_of(PEOPLE, 2)
    edges = np.linspace(0.8, 1.0, 41)
    for place, size in enumerate(SIZES):
        found = held(size, fitted, met, cohorts=COHORTS)
        counts, _ = np.histogram(found.coverages, edges)
        left = 230 + place * 137
        for bin_, count in enumerate(counts.tolist()):
            drawing.bar(left + bin_ * 3, 3, count, most=max(counts.max(), 1))
        drawing.line([(left + 60, _BASE), (left + 60, 52)], stroke=_ALARM, dash="4 3")
        drawing.text(left + 60, _BASE + 16, "90 %", at="middle")
        drawing.text(
            left + 60, _BASE + 36, f"{size} people: ± {found.spread * 100:.1f}", at="middle"
        )
    return drawing.svg()


def shift() -> str:
    """What the same sets hold among people who say less."""
    drawing = Drawing("Breaking: the same sets among people who say less than there is")
    fitted = cohort_of(PEOPLE, 1)
    for place, said in enumerate((0.0, 0.25, 0.5, 0.75, 1.0)):
        one = held(100, fitted, cohort_of(PEOPLE, 3, said), cohorts=200)
        x = 60 + place * 110
        drawing.bar(x, 60, one.mean, fill=_DARK if one.mean > LEVEL - 0.02 else _ALARM)
        drawing.text(
            x + 30, _BASE - one.mean * _TALL / 2, f"{one.mean:.0%} held", at="middle", fill="#fff"
        )
        drawing.text(x + 30, _BASE + 16, f"less by {said:g}", at="middle")
    drawing.line(
        [(40, _BASE - LEVEL * _TALL), (600, _BASE - LEVEL * _TALL)], stroke="#555", dash="4 3"
    )
    drawing.text(
        40, _BASE + 36, "less by: in standard deviations of severity; dashed: the 90 % promised"
    )
    return drawing.svg()


def totals() -> str:
    """The total of eight items, and its interval."""
    votes: tuple[int | None, ...] = (1, 2, 2, 3, 0, None, 0, None)
    beliefs = [_belief(shares_of([vote])) for vote in votes]
    shares, interval = total_shares(beliefs), total_interval(beliefs, LEVEL)
    drawing = Drawing("Totals: eight beliefs added up; dark is the interval that holds 90 %")
    for total, share in enumerate(shares):
        x = 20 + total * 24
        is_in = interval.low <= total <= interval.high
        drawing.bar(x, 20, share, fill=_DARK if is_in else _PALE, most=max(shares))
        drawing.text(x + 10, _BASE + 16, str(total), at="middle")
    words = f"from {interval.low} to {interval.high}, mean {interval.mean:.1f}, of 24"
    drawing.text(20, _BASE + 36, words)
    return drawing.svg()


def selective() -> str:
    """The error of the scores that are kept when the least sure are given to a person."""
    drawing = Drawing("Selective prediction: keep the sure ones, give the others to a person")
    made = people(PEOPLE, seed=4)
    shares, truth = made.shares.reshape(-1, 4), made.truth.ravel()
    wrong = np.abs(shares.argmax(axis=1) - truth)
    by_belief = wrong[np.argsort(-shares.max(axis=1), kind="stable")]
    curves: Mapping[str, np.ndarray] = {_DARK: by_belief, "#999": wrong}
    top = 0.7
    for stroke, ranked in curves.items():
        risk = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
        places = np.linspace(0.05, 1, 20)
        points = [
            (60 + 520 * share, _BASE - risk[int(share * len(risk)) - 1] / top * _TALL)
            for share in places.tolist()
        ]
        drawing.line(points, stroke=stroke)
    for share in (0.25, 0.5, 0.75, 1.0):
        drawing.text(60 + 520 * share, _BASE + 16, f"{share:.0%}", at="middle")
    for points_off in (0.0, 0.3, 0.6):
        drawing.text(50, _BASE - points_off / top * _TALL + 4, f"{points_off:.1f}", at="end")
    drawing.text(
        60, _BASE + 36, "scores kept; mean error in points. Blue: the surest first. Grey: any."
    )
    return drawing.svg()


def _belief(shares: Sequence[float]) -> ItemBelief:
    first, second, third, fourth, last = shares
    return ItemBelief(
        scores=(first, second, third, fourth), not_determinable=last, sources=(BeliefSource.RULES,)
    )


PICTURES: Final[Mapping[str, Callable[[], str]]] = {
    "belief": belief,
    "pooling": pooling,
    "sets": sets,
    "shift": shift,
    "totals": totals,
    "selective": selective,
}


def main() -> None:
    """Write all pictures."""
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), "utf-8")


if __name__ == "__main__":
    main()
