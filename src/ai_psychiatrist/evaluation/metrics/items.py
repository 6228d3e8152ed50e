"""How near the item scores are to the labels, always beside how many items have a score."""

from typing import Final

import numpy as np

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE
from ai_psychiatrist.evaluation.metrics.measure import (
    NO_LABELLED_SCORE,
    Array,
    BoolArray,
    Measure,
    ratio,
    statistics,
)
from ai_psychiatrist.evaluation.metrics.moments import quadratic_kappa
from ai_psychiatrist.evaluation.metrics.scores import ITEMS, Scores
from ai_psychiatrist.evaluation.metrics.tree import Tree

NO_LABEL: Final = "no item has a label"


def item_section(scores: Scores) -> dict[str, Tree]:
    """Return errors, agreement and coverage over all items and by item."""
    return {
        **_agreement(scores, np.ones(len(ITEMS), dtype=np.bool_)),
        "mae_by_participant": _by_participant(scores),
        "mae_mean_of_items": _mean_of_items(scores),
        "by_item": {
            item.value: {"label": item.label, **_agreement(scores, np.arange(len(ITEMS)) == place)}
            for place, item in enumerate(ITEMS)
        },
    }


def _agreement(scores: Scores, places: BoolArray) -> dict[str, Tree]:
    both, labelled = scores.is_both & places, scores.is_labelled & places
    loss = np.where(places, scores.loss, 0.0).sum(axis=1)
    matched, asked = both.sum(axis=1), labelled.sum(axis=1)
    right = (both & (scores.score == scores.label)).sum(axis=1)
    charged = loss + MAX_ITEM_SCORE * (asked - matched)
    return {
        "mae": ratio(loss, matched, undefined=NO_LABELLED_SCORE),
        "mae_charged": ratio(charged, asked, undefined=NO_LABEL),
        "coverage": ratio(matched, asked, undefined=NO_LABEL),
        "exact_agreement": ratio(right, matched, undefined=NO_LABELLED_SCORE),
        "quadratic_kappa": quadratic_kappa(scores.score, scores.label, both),
        "counts": {
            "labelled": int(asked.sum()),
            "scored": int((scores.is_scored & places).sum()),
            "both": int(matched.sum()),
        },
    }


def _by_participant(scores: Scores) -> Measure:
    matched = scores.is_both.sum(axis=1)
    has_any = matched > 0
    means = scores.loss.sum(axis=1) / np.where(has_any, matched, 1)
    return ratio(means, has_any, undefined=NO_LABELLED_SCORE)


def _mean_of_items(scores: Scores) -> Measure:
    """Average the errors of the items that have any; n counts those items."""
    both = scores.is_both.astype(np.float64)
    return Measure(
        statistics=statistics(scores.loss, both),
        combine=_mean_of_means,
        n=int(both.any(axis=0).sum()),
        undefined=NO_LABELLED_SCORE,
    )


def _mean_of_means(sums: Array) -> Array:
    losses, counts = np.split(sums, 2)
    has_any = counts > 0
    means = losses / np.where(has_any, counts, 1)
    average: Array = means.sum(axis=0) / has_any.sum(axis=0)
    return average
