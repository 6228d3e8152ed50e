"""Options about the reading of a dataset, declared once for every command that reads one."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias, get_type_hints

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

    def choice(self, path: Path, known: SpeakerLabels, scores: LabelFlags) -> "DatasetChoice":
        """Return which dataset is read and how.

        `known`: the labels of speakers of the settings. Raises `InputError` for an option that
        cannot be used.
        """
        return DatasetChoice(
            path=path,
            labels=_with_labels(known, self.participant, self.interviewer),
            scores=scores.options(self.text_column),
            speakers=self.speakers,
            kind=self.kind,
            interruption_373=self.interruption_373,
            codes=self.codes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetChoice:
    """Which units of which dataset, and how they are read."""

    path: Path
    labels: SpeakerLabels
    scores: LabelOptions | None = None
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
            scores=self.scores,
            on_progress=on_progress or silent,
        )
        return selected(dataset, Selection(split=self.split, has_items=self.is_labelled))


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that the dataclasses among its parameters declare."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type] = {
        name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)
    }
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            parameters += _options_of(groups[parameter.name])
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))

    def called(**given: object) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in _options_of(kind)})
        command(**given)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    vars(called)["__signature__"] = inspect.Signature(parameters)
    return called


def _options_of(group: type) -> list[inspect.Parameter]:
    hints, kind = get_type_hints(group, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(one.name, kind, default=one.default, annotation=hints[one.name])
        for one in fields(group)
    ]


def _with_labels(
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
