"""Scores beside labels, and beside those of a second rater: errors, agreement, coverage."""

from typing import Final

import numpy as np

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.evaluation.metrics.kinds import (
    AllItems,
    Classifier,
    ExactTotals,
    Pairs,
    RatedItems,
    ScoredItems,
    Severities,
)
from ai_psychiatrist.evaluation.metrics.metric import Row, measured, metric
from ai_psychiatrist.evaluation.metrics.run_metrics import Better, Scale
from ai_psychiatrist.evaluation.metrics.tree import Tree
from ai_psychiatrist.statistics import kappa
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.measure import Measure, counted, ratio, statistics

ITEMS: Final = tuple(Item)


def item_section(items: AllItems) -> dict[str, Tree]:
    """Return errors, agreement and coverage over all items and by item."""
    single = ScoredItems(said=items.said, truth=items.truth)
    by_item = {item: single.only(place) for place, item in enumerate(ITEMS)}
    return {
        "counts": _counts(items),
        "by_item": {
            item: {"label": item.label, "counts": _counts(one), **measured(one)}
            for item, one in by_item.items()
        },
        **measured(items),
    }


def noise_section(rated: RatedItems) -> dict[str, Tree]:
    """Return how far two raters of the same interviews agree: as far as any run can be judged."""
    return {
        "by_item": {
            item: {"label": item.label, **measured(rated.only(place))}
            for place, item in enumerate(ITEMS)
        },
        **measured(rated),
    }


def _counts(pairs: Pairs) -> dict[str, Tree]:
    return {
        "labelled": int(pairs.is_true.sum()),
        "scored": int((pairs.said >= 0).sum()),
        "both": pairs.count,
    }


@metric(
    on={
        AllItems: Row(
            1, "Mean error, unknown items charged", "every unknown item counts as 3 points off"
        ),
        ScoredItems: None,
    },
    better=Better.LOWER,
)
def mae_charged(items: ScoredItems) -> Measure:
    """Mean absolute error of all labelled items, an unknown one charged 3, the largest error of
    the scale.
    """
    unknown = items.asked - items.answered
    charged = items.distance.sum(axis=1) + MAX_ITEM_SCORE * unknown
    return ratio(charged, items.asked, undefined=items.no_truth)


@metric(
    on={
        AllItems: Row(2, "Mean error of the scored items"),
        ScoredItems: Row(2, "Mean error"),
        RatedItems: Row(2, "Mean distance of the raters"),
        ExactTotals: Row(2, "Mean error"),
    },
    better=Better.LOWER,
)
def mae(pairs: Pairs) -> Measure:
    """Mean absolute error where there is a prediction; never read it without `coverage`."""
    return ratio(pairs.distance.sum(axis=1), pairs.answered, undefined=pairs.no_pair)


@metric(
    on={AllItems: Row(3, "Mean error by unit", "scored items; each unit weighs the same")},
    better=Better.LOWER,
)
def mae_by_participant(items: AllItems) -> Measure:
    """Mean over units of each unit's own mean error; units without a scored item take no part."""
    has_any = items.answered > 0
    means = items.distance.sum(axis=1) / np.where(has_any, items.answered, 1)
    return ratio(means, has_any, undefined=items.no_pair)


@metric(
    on={AllItems: Row(4, "Mean error by item", "scored items; each of the eight weighs the same")},
    better=Better.LOWER,
)
def mae_mean_of_items(items: AllItems) -> Measure:
    """Mean over the eight items of each item's `mae`; items never scored take no part.

    Its n counts the items that have any score.
    """
    return Measure(
        statistics=statistics(items.distance, items.is_both),
        combine=_mean_of_means,
        n=int(items.is_both.any(axis=0).sum()),
        undefined=items.no_pair,
    )


def _mean_of_means(sums: Array) -> Array:
    losses, counts = np.split(sums, 2)
    has_any = counts > 0
    means = losses / np.where(has_any, counts, 1)
    average: Array = means.sum(axis=0) / has_any.sum(axis=0)
    return average


@metric(
    on={
        AllItems: Row(4, "Mean signed error", "of the scored items; above 0 is scored too high"),
        ScoredItems: None,
        RatedItems: None,
        ExactTotals: Row(4, "Mean signed error", "above 0 is scored too high"),
    },
    source="Bland & Altman 1986",
    better=Better.NEITHER,
    is_signed=True,
)
def bias(pairs: Pairs) -> Measure:
    """Mean of prediction − truth where there is a prediction; errors of both signs cancel out."""
    apart = (pairs.said - pairs.truth) * pairs.is_both
    return ratio(apart.sum(axis=1), pairs.answered, undefined=pairs.no_pair)


@metric(
    on={
        AllItems: Row(5, "Labelled items that were scored"),
        ScoredItems: Row(1, "Scored"),
        RatedItems: Row(1, "Labelled items that were rated twice"),
        ExactTotals: Row(1, "Totals without an unknown item", "those below rest on these alone"),
        Severities: Row(2, "Band decided"),
        Classifier: Row(1, "Decided"),
    },
    better=Better.NEITHER,
    scale=Scale.SHARE,
)
def coverage(data: Pairs | Classifier) -> Measure:
    """Answered ÷ labelled: scored items, exact totals, decided bands or decided units."""
    return ratio(data.answered, data.asked, undefined=data.no_truth)


@metric(
    on={
        AllItems: Row(6, "Exactly right", "of the scored items"),
        ScoredItems: None,
        RatedItems: Row(3, "Same score"),
    },
    better=Better.HIGHER,
    scale=Scale.SHARE,
)
def exact_agreement(pairs: Pairs) -> Measure:
    """Share of scored items whose score is the label."""
    return ratio(pairs.is_right.sum(axis=1), pairs.answered, undefined=pairs.no_pair)


@metric(
    on={
        AllItems: Row(7, "Quadratic kappa", "of the scored items; 0 is chance"),
        ScoredItems: Row(3, "Quadratic kappa"),
        RatedItems: Row(4, "Quadratic kappa"),
        Severities: Row(5, "Quadratic kappa"),
    },
    source="Cohen 1968",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def quadratic_kappa(pairs: Pairs) -> Measure:
    """Agreement beyond chance with quadratic weights: 1 − n·Σ(x−y)² ÷ (n·Σx² + n·Σy² − 2·Σx·Σy).

    With squared distances as weights the table of agreement counts through its moments only.
    """
    return pairs.of_moments(
        kappa.quadratic_kappa,
        undefined="only one value occurs, so there is no agreement beyond chance to measure",
    )


@metric(
    on={
        AllItems: Row(8, "Concordance", "of the scored items; a shift lowers it, too"),
        ScoredItems: None,
        RatedItems: Row(5, "Concordance"),
        ExactTotals: Row(5, "Concordance", "a shift lowers it, too"),
    },
    source="Lin 1989",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def ccc(pairs: Pairs) -> Measure:
    """Concordance: 2·cov(x, y) ÷ (var x + var y + (mean x − mean y)²), all over n.

    Unlike a correlation it falls when one side is shifted or stretched.
    """
    return pairs.of_moments(_concordance, undefined="neither side varies")


def _concordance(sums: Array) -> Array:
    count, x, y, xx, yy, xy = sums
    spread = count * xx - x * x + count * yy - y * y + (x - y) ** 2
    found: Array = 2 * (count * xy - x * y) / np.where(spread > 0, spread, np.nan)
    return found


@metric(
    on={ExactTotals: Row(4, "Correlation"), RatedItems: None},
    source="Pearson 1896",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def pearson(pairs: Pairs) -> Measure:
    """Correlation; blind to a shift or stretch of one side."""
    return pairs.of_moments(_correlation, undefined="one side does not vary")


def _correlation(sums: Array) -> Array:
    count, x, y, xx, yy, xy = sums
    spread = (count * xx - x * x) * (count * yy - y * y)
    found: Array = (count * xy - x * y) / np.sqrt(np.where(spread > 0, spread, np.nan))
    return found


@metric(
    on={
        AllItems: Row(9, "Rank correlation", "of the scored items"),
        ScoredItems: None,
        RatedItems: Row(6, "Rank correlation"),
        ExactTotals: Row(6, "Rank correlation"),
    },
    source="Spearman 1904",
    better=Better.HIGHER,
    scale=Scale.AGREEMENT,
)
def spearman(pairs: Pairs) -> Measure:
    """Correlation of mid-ranks, ties sharing the mean of their ranks.

    Ranks follow from how often each pair of values occurs, so that sums are enough.
    """
    # A cell is a pair of values; cells come in the order of both.
    width = int(pairs.truth.max(initial=0)) + 1
    every = (pairs.said * width + pairs.truth).astype(np.intp)
    cells = np.unique(every[pairs.is_both])
    counts = counted(np.searchsorted(cells, every), pairs.is_both, width=len(cells))
    sides = [np.unique(side, return_inverse=True)[1] for side in (cells // width, cells % width)]
    is_level = [side == np.arange(len(cells))[:, None] for side in sides]
    return Measure(
        statistics=statistics(counts),
        combine=lambda sums: _rank_correlation(sums, *is_level),
        n=pairs.count,
        undefined=pairs.reason("one side does not vary"),
    )


def _rank_correlation(sums: Array, is_x: Array, is_y: Array) -> Array:
    """`sums`: (cells, samples); `is_x`, `is_y`: which cells have which value, (values, cells)."""
    x, y = _centred_ranks(sums, is_x), _centred_ranks(sums, is_y)
    spread = (sums * x * x).sum(axis=0) * (sums * y * y).sum(axis=0)
    found: Array = (sums * x * y).sum(axis=0) / np.sqrt(np.where(spread > 0, spread, np.nan))
    return found


def _centred_ranks(sums: Array, is_level: Array) -> Array:
    """Return each cell's mid-rank less the mean rank."""
    weight = is_level.astype(np.float64)
    counts = weight @ sums
    ranks = np.cumsum(counts, axis=0) - counts / 2
    centred: Array = weight.T @ ranks - sums.sum(axis=0) / 2
    return centred


@metric(
    on={
        RatedItems: Row(
            7,
            "Largest correlation with one rater",
            "of scores without any error; no run can be shown to do better",
        )
    },
    source="Spearman 1904",
    better=Better.NEITHER,
    scale=Scale.AGREEMENT,
)
def largest_correlation(pairs: RatedItems) -> Measure:
    """√r of two raters' correlation r: what error-free scores correlate with one rater.

    The attenuation by one rater's noise, when both raters are equally noisy.
    """
    return pairs.of_moments(_root, undefined="the raters do not agree beyond chance")


def _root(sums: Array) -> Array:
    shared = _correlation(sums)
    root: Array = np.sqrt(np.where(shared >= 0, shared, np.nan))
    return root
