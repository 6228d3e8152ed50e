"""The labels of a run as columns: what its figures need, in 18 bytes a unit beside its id."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.scores.prediction_columns import UNKNOWN, Bytes, Flags, Places


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelColumns:
    """Labels in the order of the units' ids; `UNKNOWN` for what is not known."""

    unit_ids: Sequence[str]
    items: Bytes
    """(units, 8): 0-3."""
    second_items: Bytes
    """(units, 8): those of a second rater."""
    total: Bytes
    """(units,): 0-24."""
    binary: Bytes
    """(units,): 1 for depressed, 0 for not."""

    def __len__(self) -> int:
        """Return how many units there are."""
        return len(self.unit_ids)

    @property
    def is_label(self) -> Flags:
        """(units,): whether there is anything to compare with."""
        found: Flags = (
            (self.items != UNKNOWN).any(axis=1) | (self.total != UNKNOWN) | (self.binary != UNKNOWN)
        )
        return found

    @property
    def has_all_items(self) -> Flags:
        """(units,)"""
        found: Flags = (self.items != UNKNOWN).all(axis=1)
        return found

    def is_among(self, unit_ids: Container[str]) -> Flags:
        """Return which units have one of some ids, (units,)."""
        return np.array([unit in unit_ids for unit in self.unit_ids], dtype=np.bool_)

    def where(self, wanted: Flags) -> "LabelColumns":
        """Return those of some units."""
        return self if wanted.all() else self.at(np.flatnonzero(wanted))

    def at(self, places: Places) -> "LabelColumns":
        """Return the labels at some places, in their order."""
        names = [one.name for one in fields(self) if one.name != "unit_ids"]
        return replace(
            self,
            unit_ids=[self.unit_ids[place] for place in places.tolist()],
            **{name: getattr(self, name)[places] for name in names},
        )


def label_columns_of(labels: Mapping[str, Labels] | LabelColumns) -> LabelColumns:
    """Return labels by unit id as columns."""
    if isinstance(labels, LabelColumns):
        return labels
    unit_ids = sorted(labels)
    every = [labels[unit] for unit in unit_ids]
    return LabelColumns(
        unit_ids=unit_ids,
        items=_items_of([one.items for one in every]),
        second_items=_items_of([one.second_items for one in every]),
        total=_known([one.total for one in every]),
        binary=_known([one.binary for one in every]),
    )


def _items_of(every: Sequence[Mapping[Item, int | None]]) -> Bytes:
    scores = [score for items in every for score in map(items.get, Item)]
    return _known(scores).reshape(len(every), len(Item))


def _known(values: Sequence[int | None]) -> Bytes:
    return np.array([UNKNOWN if value is None else value for value in values], dtype=np.int8)
