"""Joins transcripts and label rows into units; neither is dropped for lack of the other."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ai_psychiatrist.evaluation.datasets.dataset import DatasetUnit
from ai_psychiatrist.evaluation.datasets.label_files import LabelRow, joined
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedUnits:
    """All units in order, and what is odd about their labels."""

    units: tuple[DatasetUnit, ...]
    oddities: tuple[Oddity, ...]


def joined_units(
    rows: Sequence[LabelRow],
    transcripts: Iterable[str],
    *,
    order: Callable[[str], tuple[int, str]],
    number: Callable[[str], int | None],
) -> JoinedUnits:
    """Join by identifier; `number` tells a participant's."""
    by_unit: dict[str, list[LabelRow]] = {}
    for row in rows:
        by_unit.setdefault(row.unit_id, []).append(row)
    texts = set(transcripts)
    units: list[DatasetUnit] = []
    oddities = [] if rows else [Oddity(where=".", code=OddityCode.NO_LABELS, count=len(texts))]
    for unit_id in sorted(texts | set(by_unit), key=order):
        labels = joined(by_unit.get(unit_id, []))
        codes = list(labels.oddities) if unit_id in by_unit else []
        if rows and unit_id not in by_unit:
            codes.append(OddityCode.LABEL_MISSING)
        if unit_id not in texts:
            codes.append(OddityCode.TRANSCRIPT_MISSING)
        oddities += [Oddity(where=unit_id, code=code) for code in codes]
        units.append(
            DatasetUnit(
                unit_id=unit_id,
                labels=labels.labels,
                participant_id=_participant(by_unit.get(unit_id, [])) or number(unit_id),
                split=labels.split,
            )
        )
    return JoinedUnits(units=tuple(units), oddities=tuple(oddities))


def _participant(rows: Iterable[LabelRow]) -> str | None:
    """Return who the rows of a unit say spoke, `None` when they do not agree."""
    named = {row.participant for row in rows if row.participant is not None}
    return named.pop() if len(named) == 1 else None
