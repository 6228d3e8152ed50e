"""Finds the files of a folder: sessions of a corpus anywhere, other interviews at its top."""

import csv
import os
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Final, NoReturn

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import CORPORA, DataIssue, DatasetKind, IssueCode
from ai_psychiatrist.evaluation.datasets.label_tables import Header, headers_of
from ai_psychiatrist.evaluation.datasets.names import (
    ARCHIVE,
    FOLDER,
    LABELS_FILE,
    MAYBE_TABLE_SUFFIXES,
    TRANSCRIPT,
    Named,
    named,
    session_of,
)
from ai_psychiatrist.infrastructure.given_files import is_inside, open_regular
from ai_psychiatrist.services.transcripts.encoding import decode_text
from ai_psychiatrist.services.transcripts.formats.tables import Meaning, meaning_of
from ai_psychiatrist.services.transcripts.utterances import FileRefused

_DEEPEST: Final = 4
"""How many folders may lie between the dataset's and a transcript."""
_LABELS_FOLDER: Final = "labels"
_OF_ARCHIVES: Final = "__MACOSX"
_BEGINNING_BYTES: Final = 1 << 14
_OF_TALK: Final = frozenset({Meaning.SPEAKER, Meaning.START, Meaning.END})
_BETWEEN_CELLS: Final = re.compile(r"[\s,;|\"']+")
_SEVERAL: Final = 4
_SENTENCE: Final = re.compile(r"[^\W\d_]+[^\S\r\n]+[^\W\d_]+[^\S\r\n]+[^\W\d_]+")


class TableContent(Enum):
    """What a table holds."""

    LABELS = auto()
    TRANSCRIPT = auto()
    """Or what cannot be read, and may be one."""
    OTHER = auto()
    """Neither, and no sentence at its beginning."""


class _Place(Enum):
    """What kind of folder a file lies in."""

    TOP = auto()
    LABELS = auto()
    SESSION = auto()
    APART = auto()
    """Hidden, or what a Mac's archives leave."""
    OTHER = auto()


@dataclass(slots=True, kw_only=True)
class FolderFiles:
    """The files of a folder, in a fixed order."""

    folder: Path
    kind: DatasetKind | None = None
    """What is looked for; `None` for whatever is there."""
    sessions: dict[int, list[Path]] = field(default_factory=dict)
    """The transcripts of each session of DAIC-WOZ or E-DAIC."""
    archives: dict[int, list[Path]] = field(default_factory=dict)
    transcripts: list[Path] = field(default_factory=list)
    """Other interviews, one a file, by their names."""
    labels: list[Path] = field(default_factory=list)
    speakers: Path | None = None
    odd: Counter[tuple[Path, IssueCode]] = field(default_factory=Counter)

    def find(self) -> None:
        """Look for transcripts of sessions up to four folders deep, for all else at the top.

        Links are followed, as corpora are often linked to. Raises `InputError` for a folder that
        cannot be looked into.
        """
        for where, folders, names in os.walk(self.folder, followlinks=True, onerror=_refuse):
            path = Path(where)
            place = self._place(path)
            if len(path.relative_to(self.folder).parts) == _DEEPEST:
                not_hidden = [name for name in sorted(folders) if not name.startswith(".")]
                for name in not_hidden if place is _Place.OTHER else ():
                    self.odd[path / name, IssueCode.SUBFOLDER] += 1
                folders.clear()
            folders.sort()
            for name in sorted(names):
                self._take(path / name, place)
        for number, paths in self.archives.items():
            if number not in self.sessions:
                self.odd.update((path, IssueCode.ARCHIVE) for path in paths)
        self.sessions = dict(sorted(self.sessions.items()))
        for number, paths in self.sessions.items():
            for path in paths:
                if session_of(FOLDER, path.parent.name) not in {None, number}:
                    self.odd[path, IssueCode.FOLDER_NAME_DIFFERS] += 1

    def name(self, path: Path) -> str:
        """Return the name of a file within the folder."""
        return path.relative_to(self.folder).as_posix()

    def issues(self) -> list[DataIssue]:
        """Return the issues of the files, folder by folder where they are not looked at."""
        return [
            DataIssue(where=self.name(path), code=code, count=count)
            for (path, code), count in self.odd.items()
        ]

    def take_unknown(self, units: Collection[str]) -> list[Path]:
        """Return tables without any known column that name several units, and list them no more.

        They may hold labels all the same: without a header, or turned on their side.
        """
        unknown = [path for path, code in self.odd if code is IssueCode.NOT_A_LABEL_FILE]
        found = [path for path in unknown if _names_several(_beginning(path), units)]
        for path in found:
            del self.odd[path, IssueCode.NOT_A_LABEL_FILE]
        return found

    def _place(self, path: Path) -> _Place:
        parts = path.relative_to(self.folder).parts
        if not parts:
            return _Place.TOP
        if any(part.startswith(".") or part == _OF_ARCHIVES for part in parts):
            return _Place.APART
        has_sessions = self.kind is not DatasetKind.TEXT
        if has_sessions and any(session_of(FOLDER, part) is not None for part in parts):
            return _Place.SESSION
        is_for_labels = len(parts) == 1 and parts[0].casefold() == _LABELS_FOLDER
        return _Place.LABELS if is_for_labels else _Place.OTHER

    def _take(self, path: Path, place: _Place) -> None:
        kind = named(path.name)
        has_sessions = self.kind is not DatasetKind.TEXT
        if kind is Named.STUB:
            self.odd[path, IssueCode.APPLE_DOUBLE] += 1
        elif has_sessions and (at := session_of(TRANSCRIPT, path.name)) is not None:
            self.sessions.setdefault(at, []).append(path)
        elif has_sessions and (at := session_of(ARCHIVE, path.name)) is not None:
            self.archives.setdefault(at, []).append(path)
        elif place is _Place.TOP:
            self._take_at_top(path, kind)
        elif place is _Place.LABELS and kind is Named.TABLE:
            self._take_table(path)
        else:
            is_other = place in {_Place.LABELS, _Place.OTHER} and kind is not Named.NO_TRANSCRIPT
            self.odd[path.parent, IssueCode.SUBFOLDER if is_other else IssueCode.OTHER_FILE] += 1

    def _take_at_top(self, path: Path, kind: Named) -> None:
        if kind is Named.NO_TRANSCRIPT:
            self.odd[path, IssueCode.OTHER_FILE] += 1
        elif not is_inside(self.folder, path) and kind is not Named.UNKNOWN:
            self.odd[path, IssueCode.LINK_LEADS_OUT] += 1
        elif kind is Named.SPEAKERS:
            self.speakers = self.speakers or path
        elif kind is Named.TABLE:
            self._take_table(path)
        elif path.suffix.casefold() in MAYBE_TABLE_SUFFIXES and holds_labels(path):
            self.labels.append(path)
        elif kind is Named.UNKNOWN:
            self.odd[path, IssueCode.OTHER_FORM] += 1
        else:
            self._take_transcript(path)

    def _take_table(self, path: Path) -> None:
        if path == self.folder / LABELS_FILE:
            content = TableContent.LABELS if path.is_file() else TableContent.OTHER
        else:
            content = content_of_table(path)
        if content is TableContent.LABELS:
            self.labels.append(path)
        elif content is TableContent.OTHER:
            self.odd[path, IssueCode.NOT_A_LABEL_FILE] += 1
        else:
            self._take_transcript(path)

    def _take_transcript(self, path: Path) -> None:
        if path.parent != self.folder:
            self.odd[path, IssueCode.SUBFOLDER] += 1
        elif self.kind in CORPORA:
            self.odd[path, IssueCode.NOT_OF_KIND] += 1
        else:
            self.transcripts.append(path)


def _refuse(error: OSError) -> NoReturn:
    msg = f"the folder {Path(error.filename).name!r} cannot be read: {error.strerror}"
    raise InputError(msg, field="PATH") from None


def holds_labels(path: Path) -> bool:
    """Tell a table of identifiers and scores by its first bytes."""
    found = _headers(_beginning(path))
    return any(header.has_identifiers and header.has_scores for header in found)


def content_of_table(path: Path) -> TableContent:
    """Tell labels from a transcript by the first bytes of a table."""
    text = _beginning(path)
    for header in _headers(text):
        said = {meaning_of(name) for name in header.names}
        is_scored = header.has_scores and header.has_identifiers
        if Meaning.WORDS in said and not (is_scored and said.isdisjoint(_OF_TALK)):
            return TableContent.TRANSCRIPT
        # "Name" may be a speaker or a person; nobody scores what is said.
        is_of_persons = header.has_items and Meaning.WORDS not in said
        if is_scored or (header.is_of_labels and (is_of_persons or said.isdisjoint(_OF_TALK))):
            return TableContent.LABELS
    if not text.strip() or _SENTENCE.search(text):
        return TableContent.TRANSCRIPT
    # Its scores may have names that are not known: to be said, and not passed over.
    is_of_units = any(header.has_identifiers for header in _headers(text))
    return TableContent.LABELS if is_of_units else TableContent.OTHER


def _headers(text: str) -> list[Header]:
    try:
        return list(headers_of(text))
    except csv.Error:
        return []


def _names_several(text: str, units: Collection[str]) -> bool:
    cells = {*_BETWEEN_CELLS.split(text)}
    return 2 * sum(unit in cells for unit in units) >= max(len(units), _SEVERAL)


def _beginning(path: Path) -> str:
    """Decode the first lines of a file, enough for a header; "" when that cannot be done."""
    try:
        with open_regular(path) as file:
            head = file.read(_BEGINNING_BYTES)
        # The last line of them may end within a character.
        is_cut, is_wide = len(head) == _BEGINNING_BYTES, b"\x00" in head
        whole = head[: head.rfind(b"\n") + 1] if is_cut and not is_wide else head
        return decode_text(whole or head).text
    except (OSError, FileRefused):
        return ""
