"""What a check of a dataset tells: counts, the digest, and oddities grouped by code."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.datasets.oddities import Cost, Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.selection import has_all_items


@dataclass(frozen=True, slots=True, kw_only=True)
class OddityGroup:
    """All oddities of one code."""

    code: OddityCode
    action: str
    cost: Cost
    places: tuple[Oddity, ...]

    @property
    def rows(self) -> int:
        """How many rows are concerned, over all places."""
        return sum(place.count for place in self.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetCheck:
    """The findings about one dataset."""

    kind: str
    digest: str
    speakers: str
    units: int
    readable_units: int
    labelled_units: int
    units_with_items: int
    """Units of which all eight items are known."""
    not_read: Mapping[str, int]
    """Files and lines that may be interviews and are no units: code → count."""
    splits: Mapping[str, int]
    """Split → units; those without a split are not in it."""
    groups: tuple[OddityGroup, ...]
    """Costly ones first."""

    @property
    def is_whole(self) -> bool:
        """Whether no unit and no label was lost."""
        return all(group.cost is Cost.NOTHING for group in self.groups)


def check_of_dataset(dataset: Dataset) -> DatasetCheck:
    """Count what an open dataset holds."""
    labels = [unit.labels for unit in dataset.units if unit.labels is not None]
    by_code: dict[OddityCode, list[Oddity]] = {}
    for oddity in dataset.oddities:
        by_code.setdefault(oddity.code, []).append(oddity)
    groups = [
        OddityGroup(code=code, action=places[0].action, cost=places[0].cost, places=tuple(places))
        for code, places in by_code.items()
    ]
    order = [Cost.UNIT, Cost.LABEL, Cost.NOTHING]
    splits = Counter(unit.split for unit in dataset.units if unit.split is not None)
    return DatasetCheck(
        kind=dataset.kind,
        digest=dataset.digest,
        speakers=dataset.speakers.value,
        units=len(dataset.units),
        readable_units=len(dataset.units) - len(dataset.unreadable),
        labelled_units=len(labels),
        units_with_items=sum(map(has_all_items, labels)),
        not_read=dataset.not_read,
        splits=dict(sorted(splits.items())),
        groups=tuple(sorted(groups, key=lambda group: (order.index(group.cost), group.code))),
    )
