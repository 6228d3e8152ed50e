"""Opens whatever form a dataset has."""

from pathlib import Path
from typing import Final, assert_never

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import DEFAULT_LABELS, SpeakerLabels
from ai_psychiatrist.evaluation.datasets.corpus import open_corpus
from ai_psychiatrist.evaluation.datasets.corpus_files import find_corpus_files
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, SpeakerFilter
from ai_psychiatrist.evaluation.datasets.jsonl import open_jsonl
from ai_psychiatrist.evaluation.datasets.options import OnProgress, ReadingOptions, silent
from ai_psychiatrist.evaluation.datasets.text_folder import TEXT_SUFFIXES, open_text_folder
from ai_psychiatrist.services.daic_woz import CodedLines, Interruption373, RowPolicy

_JSONL_SUFFIXES: Final = frozenset({".jsonl", ".ndjson"})
_FORMS: Final = (
    "a dataset is a DAIC-WOZ or E-DAIC folder (with ID_P/ID_TRANSCRIPT.csv or label files), a "
    ".jsonl file with one interview a line, or a folder of .txt, .vtt, .srt or .sbv files"
)


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

    `kind` is a value of `DatasetKind`, or `None` to tell by the files. `labels` name the speakers
    in every form but DAIC-WOZ and E-DAIC. Raises `InputError` for a path that is no dataset.
    """
    options = ReadingOptions(
        speakers=speakers,
        rows=RowPolicy(interruption_373=interruption_373, coded_lines=codes),
        labels=labels,
        on_progress=on_progress,
    )
    if not path.exists():
        msg = f"there is no {path.name!r}; {_FORMS}"
        raise InputError(msg, field="PATH")
    match _wanted(kind) or _kind(path):
        case DatasetKind.DAIC_WOZ:
            return open_corpus(path, options, kind="daic-woz" if kind else None)
        case DatasetKind.E_DAIC:
            return open_corpus(path, options, kind="e-daic")
        case DatasetKind.JSONL:
            return open_jsonl(path, options)
        case DatasetKind.TEXT:
            return open_text_folder(path, options)
        case None:
            msg = f"{path.name!r} is no dataset; {_FORMS}"
            raise InputError(msg, field="PATH")
        case unknown:
            assert_never(unknown)


def _wanted(kind: str | None) -> DatasetKind | None:
    try:
        return None if kind is None else DatasetKind(kind)
    except ValueError:
        msg = f"{kind!r} is no kind of dataset; known are {', '.join(DatasetKind)}"
        raise InputError(msg, field="kind") from None


def _kind(path: Path) -> DatasetKind | None:
    """Tell the form by names alone; a corpus' exact kind is read from its headers."""
    if path.is_file():
        is_jsonl = path.suffix.casefold() in _JSONL_SUFFIXES
        return DatasetKind.JSONL if is_jsonl else None
    files = find_corpus_files(path)
    if not files.is_empty:
        return DatasetKind.DAIC_WOZ
    if any(file.suffix.casefold() in TEXT_SUFFIXES for file in path.iterdir()):
        return DatasetKind.TEXT
    return DatasetKind.DAIC_WOZ if files.label_files else None
