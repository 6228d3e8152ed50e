"""Writes a synthetic dataset in the layout of DAIC-WOZ or E-DAIC, with every known quirk."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.options import OnProgress, silent
from ai_psychiatrist.evaluation.datasets.synthetic.cohort import (
    FEWEST_UNITS,
    TRANSCRIPT_QUIRKS,
    MadeUpParticipant,
    UnitQuirk,
    made_up_cohort,
)
from ai_psychiatrist.evaluation.datasets.synthetic.interview import SpokenRow, made_up_interview
from ai_psychiatrist.evaluation.datasets.synthetic.label_tables import (
    daic_woz_labels,
    e_daic_labels,
    separated,
)
from ai_psychiatrist.infrastructure.private_files import writing_to
from ai_psychiatrist.services.transcripts.formats.daic_woz import PARTICIPANT

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
        _write_file(out / name, content.encode())
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
    _write_file(out / folder / name, content.encode())
    if unit.quirk is UnitQuirk.APPLE_DOUBLE:
        _write_file(out / "__MACOSX" / folder / f"._{name}", _STUB)


def _daic_woz(rows: Sequence[SpokenRow]) -> str:
    lines = [f"{row.start_seconds}\t{row.stop_seconds}\t{row.speaker}\t{row.words}" for row in rows]
    return "\n".join(["start_time\tstop_time\tspeaker\tvalue", *lines, ""])


def _e_daic(rows: Sequence[SpokenRow]) -> str:
    """Write the participant's rows alone, as a recogniser would: no marks of any kind."""
    heard = [
        [row.start_seconds, row.stop_seconds, row.words, 0.9]
        for row in rows
        if row.speaker.strip().casefold() == PARTICIPANT.casefold()
        and row.words.replace(" ", "").isalpha()
        and row.words != "xxx"
    ]
    return separated(["Start_Time", "End_Time", "Text", "Confidence"], heard)


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
