"""What a check of a dataset tells: counts, the digest, and oddities grouped by code."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.datasets.oddities import Cost, Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.selection import has_all_items


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetCheck:
    """The findings about one dataset."""

    dataset: Dataset
    readable_units: int
    labelled_units: int
    units_with_items: int
    """Units of which all eight items are known."""
    splits: Mapping[str, int]
    """Split → units; those without a split are not in it."""
    oddities: Mapping[OddityCode, Sequence[Oddity]]
    """Code → places, costly ones first."""

    @property
    def is_whole(self) -> bool:
        """Whether no unit and no label was lost."""
        return all(code.cost is Cost.NOTHING for code in self.oddities)


def check_of_dataset(dataset: Dataset) -> DatasetCheck:
    """Count what an open dataset holds."""
    labels = [unit.labels for unit in dataset.units if unit.labels is not None]
    places: dict[OddityCode, list[Oddity]] = {}
    for oddity in dataset.oddities:
        places.setdefault(oddity.code, []).append(oddity)
    order = [Cost.UNIT, Cost.LABEL, Cost.NOTHING]
    splits = Counter(unit.split for unit in dataset.units if unit.split is not None)
    return DatasetCheck(
        dataset=dataset,
        readable_units=len(dataset.units) - len(dataset.unreadable),
        labelled_units=len(labels),
        units_with_items=sum(map(has_all_items, labels)),
        splits=dict(sorted(splits.items())),
        oddities={
            code: places[code]
            for code in sorted(places, key=lambda code: (order.index(code.cost), code))
        },
    )
