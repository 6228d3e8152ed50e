"""The scores of items beside their labels, and beside those of a second rater."""

from dataclasses import replace
from typing import Final, TypeVar

import numpy as np

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.metrics.labelled_units import ITEMS, LabelledUnits
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import measured
from ai_psychiatrist.evaluation.metrics.scale import Scale
from ai_psychiatrist.evaluation.metrics.tree import Tree

NO_LABEL: Final = "no item has a label"
NO_LABELLED_SCORE: Final = "no item has both a label and a score"


class ScoredItems(Pairs):
    """Some items of all units."""

    no_pair = NO_LABELLED_SCORE
    no_truth = NO_LABEL
    points = Scale.ITEM_POINTS


class AllItems(ScoredItems):
    """The eight items of all units."""


class RatedItems(Pairs):
    """A second rater's labels beside the first one's: what a person reaches."""

    no_pair = "no item has the labels of two raters"
    no_truth = NO_LABEL
    points = Scale.ITEM_POINTS


_Items = TypeVar("_Items", ScoredItems, RatedItems)
_Scored = TypeVar("_Scored", bound=ScoredItems)


def item_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return errors, agreement and coverage over all items and by item."""
    every = _scored(AllItems, labelled)
    single = _scored(ScoredItems, labelled)
    return {
        **measured(every),
        "counts": _counts(every),
        "by_item": {
            item: {"label": item.label, **measured(one), "counts": _counts(one)}
            for item, one in ((item, _only(single, item)) for item in ITEMS)
        },
    }


def noise_section(labelled: LabelledUnits) -> dict[str, Tree]:
    """Return how far two raters of the same interviews agree: as far as any run can be judged."""
    every = RatedItems(
        said=labelled.second_label,
        truth=labelled.label,
        is_said=labelled.is_labelled_twice,
        is_true=labelled.is_labelled,
    )
    return {
        **measured(every),
        "by_item": {item: {"label": item.label, **measured(_only(every, item))} for item in ITEMS},
    }


def _scored(kind: type[_Scored], labelled: LabelledUnits) -> _Scored:
    return kind(
        said=labelled.score,
        truth=labelled.label,
        is_said=labelled.is_scored,
        is_true=labelled.is_labelled,
    )


def _only(pairs: _Items, item: Item) -> _Items:
    place = np.arange(len(ITEMS)) == ITEMS.index(item)
    return replace(pairs, is_said=pairs.is_said & place, is_true=pairs.is_true & place)


def _counts(pairs: Pairs) -> dict[str, Tree]:
    return {
        "labelled": int(pairs.is_true.sum()),
        "scored": int(pairs.is_said.sum()),
        "both": pairs.count,
    }
