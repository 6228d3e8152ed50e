"""What the errors are when only the items that a run is surest of are accepted.

The headline charges unknown items: they count as accepted first, with the largest error of the
scale, so that leaving an item unknown never improves a figure. For let one more scored item of loss
b become unknown, and L(k) be the summed loss of the first k of n items, M the largest loss: with u
items unknown before and q scored ones ahead of it, L(k) stays k·M for k ≤ u, grows by M less the
loss at place k for u < k ≤ u + q, and by M − b beyond. Both charged areas are sums of L(k) with
positive weights, 1/(n·k) and 1/n², and n counts labelled items, so neither falls. Ties are means
over all orders, for each of which this holds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE
from ai_psychiatrist.evaluation.metrics.kinds import NO_LABEL, NO_LABELLED_SCORE, LabelledUnits
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.run_metrics import Better, Scale
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.evaluation.scores.predicted_units import UNKNOWN, UnitRows
from ai_psychiatrist.statistics import ranking
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.figure import rounded
from ai_psychiatrist.statistics.measure import Measure, counted, ratio, statistics
from ai_psychiatrist.statistics.ranking import Ranking, charged_ranking, risk_at

CURVE_POINTS: Final = 100
DEFAULT_SIGNAL: Final = "llm_evidence_count"
MISSING: Final = -1.0
"""The rank of an item without the signal: below all that have it."""
COVERAGES: Final = tuple(tenth / 10 for tenth in range(1, 11))
_ENOUGH_QUOTES: Final = 3


@dataclass(frozen=True, slots=True)
class ConfidenceSignal:
    """What a run says about how far an item's score can be trusted."""

    name: str
    """As the report has it."""
    read: Callable[[UnitRows], Array]
    """(units, 8), `MISSING` where there is none."""


def _stated(rows: UnitRows) -> Array:
    return np.where(rows["confidence"] == UNKNOWN, MISSING, (rows["confidence"] - 1) / 4)


def _hybrid(rows: UnitRows) -> Array:
    quotes, said = np.minimum(rows["quotes"], _ENOUGH_QUOTES) / _ENOUGH_QUOTES, _stated(rows)
    return np.where(said == MISSING, MISSING, (said + quotes) / 2)


def _counted(rows: UnitRows, name: str) -> Array:
    return np.where(rows["has_items"][:, None], rows[name], MISSING)


SIGNALS: Final[Mapping[str, ConfidenceSignal]] = {
    DEFAULT_SIGNAL: ConfidenceSignal("number of quotes", lambda rows: _counted(rows, "quotes")),
    "affirmed_count": ConfidenceSignal(
        "number of affirming quotes", lambda rows: _counted(rows, "affirmed")
    ),
    "verbalised": ConfidenceSignal("stated by the model", _stated),
    "hybrid": ConfidenceSignal("quotes and statement", _hybrid),
    "belief": ConfidenceSignal("belief in the score", lambda rows: rows["belief"]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSignal:
    """A signal of confidence by the ranks of its values."""

    values: Array
    """The distinct ones of items with a label and a score, rising."""
    places: NDArray[np.intp]
    """(units, 8): which of them each item has; of no meaning for other items."""


def ranked_signal(labelled: LabelledUnits, signal: str) -> RankedSignal:
    """Return a signal by the ranks of its values."""
    numbers = SIGNALS[signal].read(labelled.rows)
    values = np.unique(numbers[labelled.items.is_both])
    places = np.minimum(np.searchsorted(values, numbers), max(0, len(values) - 1))
    return RankedSignal(values=values, places=places)


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
        return ranking.ranking(self.counts, self.losses)

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

    sums: NDArray[np.generic]
    """As `signal_statistics` returns them."""
    asked: int
    """Labelled items."""
    scored: int
    """Those that have a score as well."""

    def of_scored(self, compute: Callable[[Accepted], Array], undefined: str) -> Measure:
        """Return a measure that rests on the scored items."""
        return Measure(
            statistics=self.sums,
            combine=lambda summed: compute(accepted_of(summed)),
            n=self.scored,
            undefined=undefined,
        )

    def of_all(self, compute: Callable[[Ranking], Array]) -> Measure:
        """Return a measure of all labelled items, unknown ones charged."""
        return Measure(
            statistics=self.sums,
            combine=lambda summed: compute(accepted_of(summed).charged),
            n=self.asked,
            undefined=NO_LABEL,
        )


def selective_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return areas, errors at fixed coverages, and curves for each signal of confidence."""
    items = labelled.items
    return {
        "default": DEFAULT_SIGNAL,
        "largest_coverage": ratio(items.answered, items.asked, undefined=NO_LABEL),
        "by_signal": {signal: _by_signal(labelled, signal) for signal in SIGNALS},
    }


def _by_signal(labelled: LabelledUnits, signal: str) -> dict[str, Tree]:
    sums = signal_statistics(labelled, signal)
    scored, asked = labelled.items.count, int(labelled.items.asked.sum())
    found = accepted_of(sums.sum(axis=0, dtype=np.float64)[:, None])
    return {
        "curve": _curve(found.plain, asked),
        "charged_curve": _curve(found.charged, asked),
        **measured(RankedItems(sums=sums, asked=asked, scored=scored)),
    }


def signal_statistics(labelled: LabelledUnits, signal: str) -> NDArray[np.generic]:
    """Return, by unit: unknown items, items of each confidence, and their losses."""
    ranks, items = ranked_signal(labelled, signal), labelled.items
    width = len(ranks.values)
    # The surest come first.
    levels = width - 1 - ranks.places
    counts, losses = (
        counted(levels, items.is_both, width=width, values=values)
        for values in (None, items.distance)
    )
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


@metric(
    on={
        RankedItems: Row(
            1, "AURC over full coverage", "unknown items first, 3 points each; less is better"
        )
    },
    source="Geifman, Uziel & El-Yaniv 2019",
    better=Better.LOWER,
)
def charged_aurc(items: RankedItems) -> Measure:
    """(1/n) Σ R(k), k = 1 … n, with R(k) the mean loss of the first k of all n labelled items:
    unknown ones first with loss 3, the others by falling confidence.
    """
    return items.of_all(ranking.aurc)


@metric(
    on={
        RankedItems: Row(
            2, "AUGRC over full coverage", "as above, without weighting the surest items more"
        )
    },
    source="Traub et al. 2024",
    better=Better.LOWER,
)
def charged_augrc(items: RankedItems) -> Measure:
    """(1/n) Σ L(k)/n, k = 1 … n, with L(k) the summed loss of the first k items in the order of
    `charged_aurc`.
    """
    return items.of_all(ranking.augrc)


@metric(
    on={RankedItems: Row(3, "AURC of the scored items")},
    source="Geifman, Uziel & El-Yaniv 2019",
    better=Better.LOWER,
)
def aurc(items: RankedItems) -> Measure:
    """As `charged_aurc` over scored items alone; comparable only at equal `largest_coverage`."""
    return items.of_scored(lambda found: ranking.aurc(found.plain), NO_LABELLED_SCORE)


@metric(on={RankedItems: None}, source="Traub et al. 2024", better=Better.LOWER)
def augrc(items: RankedItems) -> Measure:
    """As `charged_augrc` over scored items alone."""
    return items.of_scored(lambda found: ranking.augrc(found.plain), NO_LABELLED_SCORE)


@metric(on={RankedItems: None}, source="Geifman & El-Yaniv 2017", better=Better.LOWER)
def mae_at_coverage(items: RankedItems) -> Mapping[str, Measure]:
    """Mean loss of the surest scored items, as many as 0.1, 0.2, … 1.0 of the labelled ones;
    undefined beyond the `largest_coverage`.
    """
    return {
        str(coverage): items.of_scored(_risk_at(coverage), "fewer items than this have a score")
        for coverage in COVERAGES
    }


def _risk_at(coverage: float) -> Callable[[Accepted], Array]:
    return lambda found: risk_at(found.plain, coverage * found.asked)
