"""Opens whatever form a dataset has."""

from pathlib import Path

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.folder import holds_labels, open_file, open_folder
from ai_psychiatrist.evaluation.datasets.jsonl import holds_turns, open_jsonl, open_text_table
from ai_psychiatrist.evaluation.datasets.names import (
    LABELS_FILE,
    LINE_SUFFIXES,
    TABLE_SUFFIXES,
    TRANSCRIPT_SUFFIXES,
    WHAT_A_DATASET_IS,
)
from ai_psychiatrist.evaluation.datasets.options import (
    LabelOptions,
    OnProgress,
    ReadingOptions,
    silent,
)
from ai_psychiatrist.infrastructure.given_files import could_be_path
from ai_psychiatrist.services.transcripts.formats.daic_woz import (
    CodedLines,
    Interruption373,
    RowPolicy,
)
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS, SpeakerLabels


def open_dataset(
    path: Path,
    *,
    speakers: SpeakerFilter = SpeakerFilter.BOTH,
    kind: str | None = None,
    interruption_373: Interruption373 = Interruption373.OFFICIAL,
    codes: CodedLines = CodedLines.TEXT,
    labels: SpeakerLabels = DEFAULT_LABELS,
    scores: LabelOptions | None = None,
    on_progress: OnProgress = silent,
) -> Dataset:
    """Open a dataset and read all of it once, for its digests and its issues.

    `kind` is a value of `DatasetKind`, or `None` to tell by the files. `labels` name speakers
    beyond those that are known; `scores` says how label files are read. Raises `InputError` for a
    path that is no dataset.
    """
    options = ReadingOptions(
        speakers=speakers,
        rows=RowPolicy(interruption_373=interruption_373, coded_lines=codes),
        labels=labels,
        scores=scores or LabelOptions(),
        on_progress=on_progress,
    )
    if not (could_be_path(str(path)) and path.exists()):
        # Its name is not repeated: it may be a text that was given in place of a path.
        msg = f"there is no file or folder of this name; {WHAT_A_DATASET_IS}"
        raise InputError(msg, field="PATH")
    wanted = _wanted(kind)
    column = options.scores.text_column
    if column is not None or wanted is DatasetKind.TABLE:
        return open_text_table(_table_of(path, column), options, column=column or "")
    if path.is_dir() and wanted is not DatasetKind.JSONL:
        return open_folder(path, options, kind=wanted)
    suffix = path.suffix.casefold()
    if wanted is DatasetKind.JSONL or (suffix in LINE_SUFFIXES and not holds_turns(path)):
        return open_jsonl(path, options)
    if wanted is not None or suffix not in TRANSCRIPT_SUFFIXES:
        msg = f"{path.name!r} is no dataset; {WHAT_A_DATASET_IS}"
        raise InputError(msg, field="PATH")
    if suffix in TABLE_SUFFIXES and holds_labels(path):
        msg = (
            f"{path.name!r} is a table of labels: where each row is an interview, name the column "
            "of its text with --text-column COLUMN; else name the folder of the interviews"
        )
        raise InputError(msg, field="PATH")
    return open_file(path, options)


def _table_of(path: Path, column: str | None) -> Path:
    """Return the table that a path names; raises `InputError` where it names none."""
    if column is None:
        msg = "a table has an interview in each row: name the column with --text-column COLUMN"
        raise InputError(msg, field="--text-column")
    if not path.is_dir():
        return path
    tables = [one for one in sorted(path.iterdir()) if one.suffix.casefold() in TABLE_SUFFIXES]
    named = [one for one in tables if one.name == LABELS_FILE] or tables
    if len(named) != 1:
        msg = f"--text-column: name one table; {path.name!r} holds {len(named)}"
        raise InputError(msg, field="PATH")
    return named[0]


def _wanted(kind: str | None) -> DatasetKind | None:
    try:
        return None if kind is None else DatasetKind(kind)
    except ValueError:
        msg = f"{kind!r} is no kind of dataset; known are {', '.join(DatasetKind)}"
        raise InputError(msg, field="kind") from None
