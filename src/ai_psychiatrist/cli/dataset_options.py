"""Options about the reading of a dataset, the same for every command that reads one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.options import OnProgress, silent
from ai_psychiatrist.evaluation.datasets.selection import (
    Selection,
    selected,
)
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
SpeakersOption: TypeAlias = Annotated[
    SpeakerFilter, typer.Option(help="Whose words the texts hold.")
]
KindOption: TypeAlias = Annotated[
    DatasetKind | None, typer.Option(help="The form; told by the files without it.")
]
Interruption373Option: TypeAlias = Annotated[
    Interruption373,
    typer.Option("--interruption-373", help="When DAIC-WOZ session 373 is interrupted."),
]
CodesOption: TypeAlias = Annotated[
    CodedLines, typer.Option(help="What to keep of lines such as `code (words)`.")
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


ParticipantLabels: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--participant",
        metavar="LABEL",
        help="A further label of participants, in any of the files; can be repeated.",
    ),
]
InterviewerLabels: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--interviewer",
        metavar="LABEL",
        help="A further label of interviewers, in any of the files; can be repeated.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetChoice:
    """Which units of which dataset, and how they are read."""

    path: Path
    labels: SpeakerLabels
    speakers: SpeakerFilter = SpeakerFilter.BOTH
    kind: DatasetKind | None = None
    interruption_373: Interruption373 = Interruption373.OFFICIAL
    codes: CodedLines = CodedLines.TEXT
    split: str | None = None
    is_labelled: bool = False

    def opened(self, on_progress: OnProgress | None = None) -> Dataset:
        """Open the dataset; raises `InputError` when it cannot be, or no such unit is in it."""
        dataset = open_dataset(
            self.path,
            speakers=self.speakers,
            kind=self.kind,
            interruption_373=self.interruption_373,
            codes=self.codes,
            labels=self.labels,
            on_progress=on_progress or silent,
        )
        return selected(dataset, Selection(split=self.split, has_items=self.is_labelled))


def with_labels(
    known: SpeakerLabels, participant: Sequence[str] | None, interviewer: Sequence[str] | None
) -> SpeakerLabels:
    """Add what the command line names. Raises `InputError` for what can be no label."""
    return replace(
        known,
        participant=(*known.participant, *_checked(participant or (), "--participant")),
        interviewer=(*known.interviewer, *_checked(interviewer or (), "--interviewer")),
    )


def _checked(labels: Sequence[str], option: str) -> Sequence[str]:
    if EVERYBODY in labels:
        msg = f"{option}: write a row file,*,participant in speakers.csv for one person's own words"
        raise InputError(msg, field=option)
    return [label for label, _ in given_roles(dict.fromkeys(labels, "other"), field=option)]
