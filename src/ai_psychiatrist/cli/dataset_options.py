"""Options about the reading of a dataset, declared once for every command that reads one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.options import (
    IdMatch,
    LabelCodes,
    LabelOptions,
    OnProgress,
    silent,
)
from ai_psychiatrist.evaluation.datasets.selection import Selection, selected
from ai_psychiatrist.services.transcripts.formats.daic_woz import CodedLines, Interruption373
from ai_psychiatrist.services.transcripts.speaker_labels import (
    EVERYBODY,
    SpeakerLabels,
    given_roles,
)

DatasetArgument: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET",
        help="Folder of interviews in any form, JSONL file, or one interview.",
        show_default=False,
    ),
]
KindOption: TypeAlias = Annotated[
    DatasetKind | None, typer.Option(help="The form; told by the files without it.")
]
SplitOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="SPLIT",
        help="Only these: a split of the dataset by its name, or a file, one participant a line.",
    ),
]
LabelledOption: TypeAlias = Annotated[
    bool, typer.Option("--labelled", help="Only units with labels of all eight items.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFlags:
    """The options of a command that reads label files."""

    missing: Annotated[
        str | None,
        typer.Option(metavar="NUMBERS", help="Of labels: no answer, such as -99,9."),
    ] = None
    label_codes: Annotated[
        LabelCodes | None, typer.Option(help="Of labels: how `not at all` to the last are coded.")
    ] = None
    label_row: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Of labels: the rows that count, such as visit=1; can be repeated.",
        ),
    ] = None
    match_ids: Annotated[
        IdMatch,
        typer.Option(
            help="Of labels: whether `P001.txt` in one file may be `p1` in another, 1 to 1."
        ),
    ] = IdMatch.EXACT

    def options(self, text_column: str | None = None) -> LabelOptions:
        """Return the options; raises `InputError` for one that cannot be used."""
        return LabelOptions.read(
            missing=self.missing,
            label_codes=self.label_codes,
            label_row=self.label_row or (),
            match_ids=self.match_ids,
            text_column=text_column,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingFlags:
    """The options of a command that reads the interviews of a dataset."""

    speakers: Annotated[SpeakerFilter, typer.Option(help="Whose words the texts hold.")] = (
        SpeakerFilter.BOTH
    )
    participant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="A further label of participants, in any of the files; can be repeated.",
        ),
    ] = None
    interviewer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="A further label of interviewers, in any of the files; can be repeated.",
        ),
    ] = None
    kind: KindOption = None
    interruption_373: Annotated[
        Interruption373,
        typer.Option("--interruption-373", help="When DAIC-WOZ session 373 is interrupted."),
    ] = Interruption373.OFFICIAL
    codes: Annotated[
        CodedLines, typer.Option(help="What to keep of lines such as `code (words)`.")
    ] = CodedLines.TEXT
    text_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Of a table with an interview in each row: its text."),
    ] = None

    def opened(
        self,
        path: Path,
        known: SpeakerLabels,
        scores: LabelFlags,
        wanted: Selection,
        on_progress: OnProgress = silent,
    ) -> Dataset:
        """Read the dataset. Raises `InputError` for an option, a dataset or a split that is none.

        `known`: the labels of speakers of the settings.
        """
        dataset = open_dataset(
            path,
            speakers=self.speakers,
            kind=self.kind,
            interruption_373=self.interruption_373,
            codes=self.codes,
            labels=replace(
                known,
                participant=(*known.participant, *_checked(self.participant, "--participant")),
                interviewer=(*known.interviewer, *_checked(self.interviewer, "--interviewer")),
            ),
            scores=scores.options(self.text_column),
            on_progress=on_progress,
        )
        return selected(dataset, wanted)


def _checked(labels: Sequence[str] | None, option: str) -> Sequence[str]:
    if EVERYBODY in (labels or ()):
        raise InputError(
            f"{option}: write a row file,*,participant in speakers.csv for one person's own words",
            field=option,
        )
    return [label for label, _ in given_roles(dict.fromkeys(labels or (), "other"), field=option)]
