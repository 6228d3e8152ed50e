"""What the errors are when only the items that a run is surest of are accepted.

The headline charges unknown items: they count as accepted first, with the largest error of the
scale, so that leaving an item unknown never improves a figure. For let one more scored item of loss
b become unknown, and L(k) be the summed loss of the first k of n items, M the largest loss: with u
items unknown before and q scored ones ahead of it, L(k) stays k·M for k ≤ u, grows by M less the
loss at place k for u < k ≤ u + q, and by M − b beyond. Both charged areas are sums of L(k) with
positive weights, 1/(n·k) and 1/n², and n counts labelled items, so neither falls. Ties are means
over all orders, for each of which this holds.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE
from ai_psychiatrist.evaluation.metrics.items import NO_LABEL
from ai_psychiatrist.evaluation.metrics.labelled_units import LabelledUnits
from ai_psychiatrist.evaluation.metrics.registry import Scale, measured
from ai_psychiatrist.evaluation.metrics.signals import SIGNALS, ranked_signal, signal_values
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.figure import rounded
from ai_psychiatrist.statistics.measure import Measure, Statistics, ratio, statistics
from ai_psychiatrist.statistics.parts import Tally
from ai_psychiatrist.statistics.risk_coverage import Ranking, charged_ranking, ranking, risk_at

CURVE_POINTS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Sums over one sample set: unknown items, and groups of equal confidence."""

    unknown: Array
    counts: Array
    losses: Array

    @property
    def scored(self) -> Array:
        """How many items have both a label and a score."""
        scored: Array = self.counts.sum(axis=0)
        return scored

    @property
    def asked(self) -> Array:
        """How many items have a label."""
        return self.unknown + self.scored

    @property
    def plain(self) -> Ranking:
        """The scored items alone."""
        return ranking(self.counts, self.losses)

    @property
    def charged(self) -> Ranking:
        """The unknown items first, then the scored ones."""
        return charged_ranking(
            self.unknown, self.counts, self.losses, largest_loss=float(MAX_ITEM_SCORE)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedItems:
    """All labelled items, ranked by one signal of confidence."""

    points: ClassVar[Scale] = Scale.ITEM_POINTS

    sums: Statistics
    """As `signal_statistics` returns them."""
    asked: int
    """Labelled items."""
    scored: int
    """Those that have a score as well."""

    def measure(self, compute: Callable[[Accepted], Array], *, n: int, undefined: str) -> Measure:
        """Return a measure of what is accepted in which order."""
        return Measure(
            statistics=self.sums,
            combine=lambda summed: compute(accepted_of(summed)),
            n=n,
            undefined=undefined,
        )


def selective_section(labelled: LabelledUnits, *, default: str) -> dict[str, Tree]:
    """Return areas, errors at fixed coverages, and curves for each signal of confidence."""
    signal_values(labelled, default)
    items = labelled.items
    return {
        "default": default,
        "largest_coverage": ratio(items.answered, items.asked, undefined=NO_LABEL),
        "by_signal": {signal: _by_signal(labelled, signal) for signal in SIGNALS},
    }


def _by_signal(labelled: LabelledUnits, signal: str) -> dict[str, Tree]:
    sums = signal_statistics(labelled, signal)
    scored, asked = labelled.items.count, int(labelled.items.asked.sum())
    found = accepted_of(sums.total[:, None])
    return {
        **measured(RankedItems(sums=sums, asked=asked, scored=scored)),
        "curve": _curve(found.plain, asked),
        "charged_curve": _curve(found.charged, asked),
    }


def signal_statistics(labelled: LabelledUnits, signal: str) -> Statistics:
    """Return, by unit: unknown items, items of each confidence, and their losses."""
    ranks, items = ranked_signal(labelled, signal), labelled.items
    # The surest come first.
    levels = np.where(items.is_both, len(ranks.values) - 1 - ranks.places, -1)
    counts = Tally(levels=levels, width=len(ranks.values))
    losses = replace(counts, values=items.distance)
    return statistics(items.asked - items.answered, counts, losses)


def accepted_of(sums: Array) -> Accepted:
    """Read sums of `signal_statistics`, (1 + 2 × groups, samples)."""
    counts, losses = np.split(sums[1:], 2)
    return Accepted(unknown=sums[0], counts=counts, losses=losses)


def _curve(ranked: Ranking, asked: int) -> dict[str, Tree]:
    """Return risks at numbers of accepted items that lie evenly, at most `CURVE_POINTS` of them."""
    last = int(ranked.total[0])
    steps = np.linspace(1, last, num=min(last, CURVE_POINTS)) if last else np.empty(0)
    accepted = np.unique(np.rint(steps))
    return {
        "coverage": [rounded(count / asked) for count in accepted.tolist()],
        "risk": [rounded(risk) for risk in risk_at(ranked, accepted).tolist()],
    }
