"""Opens whatever form a dataset has."""

from pathlib import Path

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.dataset_folder import open_file, open_folder
from ai_psychiatrist.evaluation.datasets.file_names import (
    LINE_SUFFIXES,
    TRANSCRIPT_SUFFIXES,
    WHAT_A_DATASET_IS,
)
from ai_psychiatrist.evaluation.datasets.jsonl import holds_turns, open_jsonl
from ai_psychiatrist.evaluation.datasets.options import OnProgress, ReadingOptions, silent
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
    on_progress: OnProgress = silent,
) -> Dataset:
    """Open a dataset and read all of it once, for its digest and its oddities.

    `kind` is a value of `DatasetKind`, or `None` to tell by the files. `labels` name speakers
    beyond those that are known. Raises `InputError` for a path that is no dataset.
    """
    options = ReadingOptions(
        speakers=speakers,
        rows=RowPolicy(interruption_373=interruption_373, coded_lines=codes),
        labels=labels,
        on_progress=on_progress,
    )
    if not (could_be_path(str(path)) and path.exists()):
        # Its name is not repeated: it may be a text that was given in place of a path.
        msg = f"there is no file or folder of this name; {WHAT_A_DATASET_IS}"
        raise InputError(msg, field="PATH")
    wanted = _wanted(kind)
    if path.is_dir() and wanted is not DatasetKind.JSONL:
        return open_folder(path, options, kind=wanted)
    suffix = path.suffix.casefold()
    if wanted is DatasetKind.JSONL or (suffix in LINE_SUFFIXES and not holds_turns(path)):
        return open_jsonl(path, options)
    if wanted is not None or suffix not in TRANSCRIPT_SUFFIXES:
        msg = f"{path.name!r} is no dataset; {WHAT_A_DATASET_IS}"
        raise InputError(msg, field="PATH")
    return open_file(path, options)


def _wanted(kind: str | None) -> DatasetKind | None:
    try:
        return None if kind is None else DatasetKind(kind)
    except ValueError:
        msg = f"{kind!r} is no kind of dataset; known are {', '.join(DatasetKind)}"
        raise InputError(msg, field="kind") from None
