"""Writes the label files of made-up participants, headers and faults as in the corpora."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.datasets.labels import CUT_OFF
from ai_psychiatrist.evaluation.datasets.synthetic.cohort import MadeUpParticipant, UnitQuirk

_GENDERS: Final = ("male", "female")
_ITEMS: Final = {item.value: item.value for item in Item}
_TOTALS: Final = {"PHQ_Binary": "binary", "PHQ_Score": "total"}
_AVEC_2017: Final = {"PHQ8_Binary": "binary", "PHQ8_Score": "total", "Gender": "gender", **_ITEMS}
_AVEC_2019: Final = {
    "Participant_ID": "id",
    "Gender": "gender_name",
    **_TOTALS,
    "PCL-C (PTSD)": "ptsd",
    "PTSD Severity": "ptsd_severity",
}
_DETAILED: Final = {
    "Participant_ID ": "id",
    **{name.replace("PHQ8_", "PHQ_8"): name for name in _ITEMS},
    "PHQ_8Total": "total",
}
"""Heading, as it is spelled in the corpus → what stands under it."""


def daic_woz_labels(cohort: Sequence[MadeUpParticipant]) -> dict[str, str]:
    """Return name → content of the four label files of DAIC-WOZ."""
    train, dev, test = (_labelled(cohort, split) for split in ("train", "dev", "test"))
    totals = {"Participant_ID": "id", **_TOTALS, "Gender": "gender"}
    return {
        "train_split_Depression_AVEC2017.csv": _table({"Participant_ID": "id"} | _AVEC_2017, train),
        "dev_split_Depression_AVEC2017.csv": _table({"Participant_ID ": "id"} | _AVEC_2017, dev),
        "test_split_Depression_AVEC2017.csv": _table(
            {"participant_ID": "id", "Gender": "gender"}, test
        ),
        "full_test_split.csv": _table(totals, test),
    }


def e_daic_labels(cohort: Sequence[MadeUpParticipant]) -> dict[str, str]:
    """Return name → content of the label files of E-DAIC; items stand in a file of their own."""
    splits = {
        f"labels/{split}_split.csv": _table(_AVEC_2019, _labelled(cohort, split))
        for split in ("train", "dev", "test")
    }
    with_items = [unit for unit in _labelled(cohort) if unit.split != "test"]
    return splits | {"labels/Detailed_PHQ8_Labels.csv": _table(_DETAILED, with_items)}


def _labelled(
    cohort: Iterable[MadeUpParticipant], split: str | None = None
) -> list[MadeUpParticipant]:
    return [
        unit
        for unit in cohort
        if unit.quirk is not UnitQuirk.NO_LABEL and split in {None, unit.split}
    ]


def _table(columns: Mapping[str, str], units: Iterable[MadeUpParticipant]) -> str:
    values = map(_values, units)
    return separated([*columns], ([shown[name] for name in columns.values()] for shown in values))


def separated(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table whose columns are separated by commas."""
    content = io.StringIO(newline="")
    csv.writer(content, lineterminator="\n").writerows([header, *rows])
    return content.getvalue()


def _values(unit: MadeUpParticipant) -> dict[str, object]:
    """Return what the files show of one participant, faults included."""
    quirk, total = unit.quirk, unit.total
    values: dict[str, object] = {
        **{item.value: score for item, score in unit.scores.items()},
        "id": unit.participant_id,
        "gender": unit.gender,
        "gender_name": _GENDERS[unit.gender],
        "binary": int((total >= CUT_OFF) is not (quirk is UnitQuirk.BINARY_NOT_TOTAL)),
        "total": total,
        "ptsd": 0,
        "ptsd_severity": 17,
    }
    if quirk is UnitQuirk.TOTAL_NOT_SUM:
        values["total"] = total + 1 if total < MAX_TOTAL_SCORE else total - 1
    if quirk in {UnitQuirk.BLANK_ITEM, UnitQuirk.TWO_BLANK_ITEMS}:
        values[Item.SLEEP] = ""
    if quirk is UnitQuirk.TWO_BLANK_ITEMS:
        values[Item.MOVING] = ""
    if quirk is UnitQuirk.ITEM_OF_FIVE:
        values[Item.TIRED] = 5
    return values
