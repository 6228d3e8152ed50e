"""Writes a synthetic dataset in the layout of DAIC-WOZ or E-DAIC, with every known quirk."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import MAX_TOTAL_SCORE, Item
from ai_psychiatrist.evaluation.datasets.labels import CUT_OFF
from ai_psychiatrist.evaluation.datasets.options import OnProgress, silent
from ai_psychiatrist.evaluation.datasets.splits import separated
from ai_psychiatrist.evaluation.datasets.synthetic.cohort import (
    FEWEST_UNITS,
    TRANSCRIPT_QUIRKS,
    MadeUpParticipant,
    UnitQuirk,
    made_up_cohort,
)
from ai_psychiatrist.evaluation.datasets.synthetic.interview import SpokenRow, made_up_interview
from ai_psychiatrist.infrastructure.private_files import writing_to
from ai_psychiatrist.services.transcripts.formats.daic_woz import PARTICIPANT

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


def daic_woz_labels(cohort: Sequence[MadeUpParticipant]) -> dict[str, bytes]:
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


def e_daic_labels(cohort: Sequence[MadeUpParticipant]) -> dict[str, bytes]:
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


def _table(columns: Mapping[str, str], units: Iterable[MadeUpParticipant]) -> bytes:
    values = map(_values, units)
    return separated(
        [[*columns], *([shown[name] for name in columns.values()] for shown in values)]
    )


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


CorpusKind = Literal["daic-woz", "e-daic"]

_STUB: Final = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        " + bytes(64) + b"\xff\xfe"
_PREAMBLE: Final = """\
# A made-up dataset

Nobody said any of this. The answers are sentences with a slot for how often, and the item scores
are drawn so that they go together as answers of people do (NHANES 2013-2018, aggregate figures).
It shows the layout of {form} and tests arithmetic. **No figure measured on it says anything about
how well an assessment works**: sentences that were written to be scored are not speech.

Made with `ai-psychiatrist evaluate datasets make --form {form} --units {units} --seed {seed}`.

| participant | what is odd |
|---|---|
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRecipe:
    """What decides about every byte of a synthetic dataset."""

    units: int
    seed: int = 0
    form: CorpusKind = "daic-woz"


def make_dataset(out: Path, recipe: DatasetRecipe, *, on_progress: OnProgress = silent) -> None:
    """Write a dataset into a new or empty folder; the same recipe gives the same bytes.

    Raises `InputError` for a folder with anything in it, and for too few units.
    """
    if recipe.units < FEWEST_UNITS:
        msg = f"--units is at least {FEWEST_UNITS}: every quirk needs a participant"
        raise InputError(msg, field="units")
    with writing_to(out, field="OUT"):
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            msg = f"{out.name!r} is not empty; name a folder that is new"
            raise InputError(msg, field="OUT")
        _write(out, recipe, on_progress)


def _write(out: Path, recipe: DatasetRecipe, on_progress: OnProgress) -> None:
    cohort = made_up_cohort(recipe.units, recipe.seed)
    for done, unit in enumerate(cohort, start=1):
        _write_unit(out, recipe, unit)
        on_progress(done, len(cohort))
    labels = daic_woz_labels(cohort) if recipe.form == "daic-woz" else e_daic_labels(cohort)
    for name, content in labels.items():
        _write_file(out / name, content)
    _write_file(out / "README.md", _readme(recipe, cohort).encode())


def _write_unit(out: Path, recipe: DatasetRecipe, unit: MadeUpParticipant) -> None:
    if unit.quirk is UnitQuirk.NO_TRANSCRIPT:
        return
    number = unit.participant_id
    chance = random.Random(f"interview {recipe.seed} {number}")  # noqa: S311
    rows = made_up_interview(unit, chance)
    folder = f"{number}_P"
    if recipe.form == "daic-woz":
        name, content = f"{number}_TRANSCRIPT.csv", _daic_woz(rows)
    else:
        name, content = f"{number}_Transcript.csv", _e_daic(rows)
        if unit.quirk is UnitQuirk.CODED_LINES:
            folder = f"{number}_P.tar/{number}_P"
    _write_file(out / folder / name, content)
    if unit.quirk is UnitQuirk.APPLE_DOUBLE:
        _write_file(out / "__MACOSX" / folder / f"._{name}", _STUB)


def _daic_woz(rows: Sequence[SpokenRow]) -> bytes:
    lines = [f"{row.start_seconds}\t{row.stop_seconds}\t{row.speaker}\t{row.words}" for row in rows]
    return "\n".join(["start_time\tstop_time\tspeaker\tvalue", *lines, ""]).encode()


def _e_daic(rows: Sequence[SpokenRow]) -> bytes:
    """Write the participant's rows alone, as a recogniser would: no marks of any kind."""
    heard = [
        [row.start_seconds, row.stop_seconds, row.words, 0.9]
        for row in rows
        if row.speaker.strip().casefold() == PARTICIPANT.casefold()
        and row.words.replace(" ", "").isalpha()
        and row.words != "xxx"
    ]
    return separated([["Start_Time", "End_Time", "Text", "Confidence"], *heard])


def _readme(recipe: DatasetRecipe, cohort: Sequence[MadeUpParticipant]) -> str:
    head = _PREAMBLE.format(form=recipe.form, units=recipe.units, seed=recipe.seed)
    absent = TRANSCRIPT_QUIRKS if recipe.form == "e-daic" else frozenset()
    quirks = [
        f"| {unit.participant_id} | {unit.quirk} |"
        for unit in cohort
        if unit.quirk and unit.quirk not in absent
    ]
    return head + "\n".join(quirks) + "\n"


def _write_file(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(content)
