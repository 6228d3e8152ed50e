"""Options about runs: the reading of a dataset, and how its calls are asked; declared once."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ai_psychiatrist.cli.console import require, say
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.store.cipher import Cipher, cipher_of
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.run_batches import BY_BATCHES
from ai_psychiatrist.store.runs import RunStore

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import BatchOptions


from dataclasses import replace
from typing import TypeAlias

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
    DatasetKind | None, typer.Option(help="The form; read from the files if not given.")
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
        LabelCodes | None,
        typer.Option(help="Of labels: how the answers from `not at all` on are coded."),
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

    speakers: Annotated[SpeakerFilter, typer.Option(help="Whose words the texts have.")] = (
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
    require(
        EVERYBODY not in (labels or ()),
        f"{option}: write a row file,*,participant in speakers.csv for one person's own words",
        field=option,
    )
    return [label for label, _ in given_roles(dict.fromkeys(labels or (), "other"), field=option)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFlags:
    """The options of a command that can submit its calls as batches."""

    batch: Annotated[
        bool | None,
        typer.Option(
            "--batch/--no-batch",
            help="Ask by the provider's batch interface; --resume of such a run does so again.",
            show_default=False,
        ),
    ] = None
    wait: Annotated[bool, typer.Option("--wait", help="Wait for batches instead of ending.")] = (
        False
    )
    hand_in_again: Annotated[
        bool,
        typer.Option(
            "--hand-in-again",
            help="With --resume: repeat the calls of a batch that is gone; may be paid twice.",
        ),
    ] = False

    def options(self, settings: Settings, out: Path, *, is_resumed: bool) -> "BatchOptions | None":
        """Return how calls are submitted; `None` where models are asked live.

        Raises `InputError` for options that mean nothing without batches.
        """
        is_wanted = self.batch
        if is_wanted is None and is_resumed:
            is_wanted = _has_batches(out, cipher_of(settings.data.key_file))
        if not is_wanted:
            for name, is_given in (("--wait", self.wait), ("--hand-in-again", self.hand_in_again)):
                problem = f"{name} is for runs by a batch interface: add --batch"
                require(not is_given, problem, field=name)
            return None
        # Libraries of model servers, which a run of the baseline does without.
        from ai_psychiatrist.llm.batch_rounds import BatchOptions  # noqa: PLC0415
        from ai_psychiatrist.llm.batches import BatchModels  # noqa: PLC0415

        return BatchOptions(
            models=BatchModels(),
            settings=settings.batch,
            tell=say,
            waits=self.wait,
            hands_in_again=self.hand_in_again,
        )


def _has_batches(folder: Path, cipher: Cipher | None) -> bool:
    """Return whether a folder holds a run, or runs, that were begun or resumed by batches."""
    for path in (folder, *(run.path for run in RunFolder(folder).inside())):
        # A ledger of an earlier version, and one that is none, hold no batches.
        with (
            suppress(InputError, LedgerUnusable),
            RunStore.open(path, cipher=cipher, is_read_only=True) as ledger,
        ):
            # A run may have been killed before its first batch.
            if BY_BATCHES in ledger.about or ledger.batches.all():
                return True
    return False
