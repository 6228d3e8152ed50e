"""Tells by its first bytes whether a table of a folder holds labels or an interview."""

import codecs
import csv
import re
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path
from typing import Final

from ai_psychiatrist.evaluation.datasets.file_names import LABELS_FILE
from ai_psychiatrist.evaluation.datasets.folder_files import FolderFiles, oddity_at
from ai_psychiatrist.evaluation.datasets.labels import names_labels
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode
from ai_psychiatrist.evaluation.datasets.sources import beginning_of
from ai_psychiatrist.services.transcripts.encoding import decode
from ai_psychiatrist.services.transcripts.formats.columns import Meaning, meaning_of
from ai_psychiatrist.services.transcripts.utterances import FileRefused

_SEPARATORS: Final = (",", "\t", ";")
_SENTENCE: Final = re.compile(r"[^\W\d_]+[^\S\r\n]+[^\W\d_]+[^\S\r\n]+[^\W\d_]+")


class _Table(Enum):
    """What a table holds."""

    LABELS = auto()
    TRANSCRIPT = auto()
    """Or what cannot be read, and may be one."""
    OTHER = auto()
    """Neither, and no sentence at its beginning."""


def with_tables_told(files: FolderFiles, folder: Path) -> FolderFiles:
    """Tell labels from transcripts among the tables that were found."""
    told: dict[_Table, list[Path]] = {kind: [] for kind in _Table}
    for path in (*files.tables, *files.labels):
        told[_table(path, folder)].append(path)
    at_top = [path for path in told[_Table.TRANSCRIPT] if path.parent == folder]
    elsewhere = [path for path in told[_Table.TRANSCRIPT] if path.parent != folder]
    return replace(
        files,
        transcripts=tuple(sorted((*files.transcripts, *at_top))),
        tables=(),
        labels=tuple(told[_Table.LABELS]),
        oddities=(
            *files.oddities,
            *(oddity_at(path, folder, OddityCode.SUBFOLDER) for path in elsewhere),
            *(oddity_at(path, folder, OddityCode.NOT_A_LABEL_FILE) for path in told[_Table.OTHER]),
        ),
    )


def _table(path: Path, folder: Path) -> _Table:
    if path == folder / LABELS_FILE:
        return _Table.LABELS if path.is_file() else _Table.OTHER
    beginning = beginning_of(path)
    try:
        text = "" if beginning is None else _text(beginning)
    except FileRefused:
        text = ""
    header = next(iter(text.splitlines()), "")
    for separator in _SEPARATORS:
        names = _cells(header, separator)
        if len(names) > 1 and Meaning.WORDS in map(meaning_of, names):
            return _Table.TRANSCRIPT
        if len(names) > 1 and names_labels(names):
            return _Table.LABELS
    may_be_interview = not text.strip() or _SENTENCE.search(text)
    return _Table.TRANSCRIPT if may_be_interview else _Table.OTHER


def _text(beginning: bytes) -> str:
    """Decode bytes of which the last ones may be a part of a character."""
    if b"\x00" not in beginning:
        try:
            return codecs.getincrementaldecoder("utf-8-sig")().decode(beginning)
        except UnicodeDecodeError:
            pass
    return decode(beginning[: len(beginning) // 2 * 2]).text


def _cells(header: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=separator), [])
    except csv.Error:
        return []
