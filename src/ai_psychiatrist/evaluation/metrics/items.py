"""The scores of items beside their labels, and beside those of a second rater."""

from dataclasses import replace
from typing import Final, TypeVar

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.metrics.pairs import Pairs
from ai_psychiatrist.evaluation.metrics.registry import Scale, measured
from ai_psychiatrist.evaluation.metrics.tree import Tree

ITEMS: Final = tuple(Item)
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


_Items = TypeVar("_Items", bound=Pairs)


def item_section(items: AllItems) -> dict[str, Tree]:
    """Return errors, agreement and coverage over all items and by item."""
    single = ScoredItems(
        said=items.said, truth=items.truth, is_said=items.is_said, is_true=items.is_true
    )
    return {
        **measured(items),
        "counts": _counts(items),
        "by_item": {
            item: {"label": item.label, **measured(one), "counts": _counts(one)}
            for item, one in ((item, _only(single, item)) for item in ITEMS)
        },
    }


def noise_section(rated: RatedItems) -> dict[str, Tree]:
    """Return how far two raters of the same interviews agree: as far as any run can be judged."""
    return {
        **measured(rated),
        "by_item": {item: {"label": item.label, **measured(_only(rated, item))} for item in ITEMS},
    }


def _only(pairs: _Items, item: Item) -> _Items:
    place = ITEMS.index(item)
    sides = ("said", "truth", "is_said", "is_true")
    return replace(pairs, **{side: getattr(pairs, side)[:, place : place + 1] for side in sides})


def _counts(pairs: Pairs) -> dict[str, Tree]:
    return {
        "labelled": int(pairs.is_true.sum()),
        "scored": int(pairs.is_said.sum()),
        "both": pairs.count,
    }
