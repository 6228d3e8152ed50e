"""Finds the files of a folder: sessions of a corpus anywhere, other interviews at its top."""

import os
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Final, NoReturn

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import CORPORA, DatasetKind
from ai_psychiatrist.evaluation.datasets.file_names import (
    ARCHIVE,
    FOLDER,
    LABELS_FILE,
    TRANSCRIPT,
    Named,
    named,
    session_of,
)
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.table_headers import TableContent, content_of_table
from ai_psychiatrist.infrastructure.given_files import is_inside

_DEEPEST: Final = 4
"""How many folders may lie between the dataset's and a transcript."""
_LABELS_FOLDER: Final = "labels"
_OF_ARCHIVES: Final = "__MACOSX"


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
    odd: Counter[tuple[Path, OddityCode]] = field(default_factory=Counter)

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
                    self.odd[path / name, OddityCode.SUBFOLDER] += 1
                folders.clear()
            folders.sort()
            for name in sorted(names):
                self._take(path / name, place)
        self._finish()

    def name(self, path: Path) -> str:
        """Return the name of a file within the folder."""
        return path.relative_to(self.folder).as_posix()

    def oddities(self) -> list[Oddity]:
        """Return what is odd about the files, folder by folder where they are not looked at."""
        return [
            Oddity(where=self.name(path), code=code, count=count)
            for (path, code), count in self.odd.items()
        ]

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
            self.odd[path, OddityCode.APPLE_DOUBLE] += 1
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
            code = OddityCode.SUBFOLDER if is_other else OddityCode.OTHER_FILE
            self.odd[path.parent, code] += 1

    def _take_at_top(self, path: Path, kind: Named) -> None:
        if kind is Named.NO_TRANSCRIPT:
            self.odd[path, OddityCode.OTHER_FILE] += 1
        elif kind is Named.UNKNOWN:
            self.odd[path, OddityCode.OTHER_FORM] += 1
        elif not is_inside(self.folder, path):
            self.odd[path, OddityCode.LINK_LEADS_OUT] += 1
        elif kind is Named.SPEAKERS:
            self.speakers = self.speakers or path
        elif kind is Named.TABLE:
            self._take_table(path)
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
            self.odd[path, OddityCode.NOT_A_LABEL_FILE] += 1
        else:
            self._take_transcript(path)

    def _take_transcript(self, path: Path) -> None:
        if path.parent != self.folder:
            self.odd[path, OddityCode.SUBFOLDER] += 1
        elif self.kind in CORPORA:
            self.odd[path, OddityCode.NOT_OF_KIND] += 1
        else:
            self.transcripts.append(path)

    def _finish(self) -> None:
        """Name the sessions that are packed only, or in another's folder."""
        for number, paths in self.archives.items():
            if number not in self.sessions:
                self.odd.update((path, OddityCode.ARCHIVE) for path in paths)
        self.sessions = dict(sorted(self.sessions.items()))
        for number, paths in self.sessions.items():
            for path in paths:
                if session_of(FOLDER, path.parent.name) not in {None, number}:
                    self.odd[path, OddityCode.FOLDER_NAME_DIFFERS] += 1


def _refuse(error: OSError) -> NoReturn:
    msg = f"the folder {Path(error.filename).name!r} cannot be read: {error.strerror}"
    raise InputError(msg, field="PATH") from None
