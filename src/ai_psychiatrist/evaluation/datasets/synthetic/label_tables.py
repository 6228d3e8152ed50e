"""Writes the label files of made-up participants, headers and faults as in the corpora."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.synthetic.cohort import MadeUpParticipant, UnitQuirk

_ITEM_NAMES: Final = [item.value for item in Item]
_SHORT_NAMES: Final = [name.removeprefix("PHQ8_") for name in _ITEM_NAMES]
_GENDERS: Final = ("male", "female")
_CUT_OFF: Final = 10
_AVEC_2017: Final = ["Participant_ID", "PHQ8_Binary", "PHQ8_Score", "Gender", *_ITEM_NAMES]
_Row = Callable[[MadeUpParticipant], Sequence[object]]


def daic_woz_labels(cohort: Sequence[MadeUpParticipant]) -> dict[str, str]:
    """Return name → content of the four label files of DAIC-WOZ."""
    train, dev, test = (_labelled(cohort, split) for split in ("train", "dev", "test"))
    spaced = ["Participant_ID ", *_AVEC_2017[1:]]
    return {
        "train_split_Depression_AVEC2017.csv": _table(_AVEC_2017, train, _avec_2017),
        "dev_split_Depression_AVEC2017.csv": _table(spaced, dev, _avec_2017),
        "test_split_Depression_AVEC2017.csv": _table(
            ["participant_ID", "Gender"], test, lambda unit: [unit.participant_id, unit.gender]
        ),
        "full_test_split.csv": _table(
            ["Participant_ID", "PHQ_Binary", "PHQ_Score", "Gender"], test, _totals
        ),
    }


def e_daic_labels(cohort: Sequence[MadeUpParticipant]) -> dict[str, str]:
    """Return name → content of the label files of E-DAIC; items stand in a file of their own."""
    header = [
        "Participant_ID",
        "Gender",
        "PHQ_Binary",
        "PHQ_Score",
        "PCL-C (PTSD)",
        "PTSD Severity",
    ]
    splits = {
        f"{split}_split.csv": _table(header, _labelled(cohort, split), _avec_2019)
        for split in ("train", "dev", "test")
    }
    detailed = ["Participant_ID ", *(f"PHQ_8{name}" for name in _SHORT_NAMES), "PHQ_8Total"]
    with_items = [unit for unit in _labelled(cohort) if unit.split != "test"]
    return splits | {"Detailed_PHQ8_Labels.csv": _table(detailed, with_items, _detailed)}


def _labelled(
    cohort: Iterable[MadeUpParticipant], split: str | None = None
) -> list[MadeUpParticipant]:
    return [
        unit
        for unit in cohort
        if unit.quirk is not UnitQuirk.NO_LABEL and split in {None, unit.split}
    ]


def _table(header: Sequence[str], units: Iterable[MadeUpParticipant], row: _Row) -> str:
    content = io.StringIO(newline="")
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(row(unit) for unit in units)
    return content.getvalue()


def _avec_2017(unit: MadeUpParticipant) -> Sequence[object]:
    items = _items(unit)
    return [unit.participant_id, _binary(unit), _total(unit), unit.gender, *items]


def _totals(unit: MadeUpParticipant) -> Sequence[object]:
    return [unit.participant_id, _binary(unit), _total(unit), unit.gender]


def _avec_2019(unit: MadeUpParticipant) -> Sequence[object]:
    return [unit.participant_id, _GENDERS[unit.gender], _binary(unit), _total(unit), 0, 17]


def _detailed(unit: MadeUpParticipant) -> Sequence[object]:
    return [unit.participant_id, *_items(unit), _total(unit)]


def _items(unit: MadeUpParticipant) -> list[object]:
    """Return the items as the file shows them."""
    shown: dict[Item, object] = dict(unit.scores)
    if unit.quirk in {UnitQuirk.BLANK_ITEM, UnitQuirk.TWO_BLANK_ITEMS}:
        shown[Item.SLEEP] = ""
    if unit.quirk is UnitQuirk.TWO_BLANK_ITEMS:
        shown[Item.MOVING] = ""
    if unit.quirk is UnitQuirk.ITEM_OF_FOUR:
        shown[Item.TIRED] = 4
    return [shown[item] for item in Item]


def _total(unit: MadeUpParticipant) -> int:
    if unit.quirk is UnitQuirk.TOTAL_NOT_SUM:
        return unit.total + 1 if unit.total < 24 else unit.total - 1
    return unit.total


def _binary(unit: MadeUpParticipant) -> int:
    return int((unit.total >= _CUT_OFF) is not (unit.quirk is UnitQuirk.BINARY_NOT_TOTAL))
