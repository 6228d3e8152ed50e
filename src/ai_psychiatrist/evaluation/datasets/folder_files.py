"""Finds the files of a folder: sessions of a corpus anywhere, other interviews at its top."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Final, NoReturn

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.file_names import (
    Named,
    named,
    session_of_archive,
    session_of_folder,
    session_of_transcript,
)
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode
from ai_psychiatrist.infrastructure.given_files import is_inside

_DEEPEST: Final = 4
"""How many folders may lie between the dataset's and a transcript."""
_LABELS_FOLDER: Final = "labels"
_OF_ARCHIVES: Final = "__MACOSX"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFiles:
    """What was found, in a fixed order."""

    sessions: dict[int, tuple[Path, ...]] = field(default_factory=dict)
    """The transcripts of each session of DAIC-WOZ or E-DAIC."""
    transcripts: tuple[Path, ...] = ()
    """Other interviews, one a file, by their names."""
    tables: tuple[Path, ...] = ()
    """At the top: labels, or transcripts as well."""
    labels: tuple[Path, ...] = ()
    """In a folder for labels."""
    speakers: Path | None = None
    has_archives: bool = False
    oddities: tuple[Oddity, ...] = ()


def find_files(folder: Path, *, has_sessions: bool = True) -> FolderFiles:
    """Look for transcripts of sessions up to four folders deep, for all else at the top.

    `has_sessions`: whether folders may be those of sessions. Raises `InputError` for a folder that
    cannot be looked into.
    """
    finding = _Finding(folder, has_sessions=has_sessions)
    finding.walk()
    return finding.files()


class _Place(Enum):
    """What kind of folder a file lies in."""

    TOP = auto()
    LABELS = auto()
    SESSION = auto()
    APART = auto()
    """Hidden, or what a Mac's archives leave."""
    OTHER = auto()


class _Finding:
    """Goes through a folder once; links are followed, as corpora are often linked to."""

    def __init__(self, folder: Path, *, has_sessions: bool) -> None:
        self._folder = folder
        self._has_sessions = has_sessions
        self._sessions: dict[int, list[Path]] = {}
        self._archives: dict[int, list[Path]] = {}
        self._at_top: dict[Named, list[Path]] = {}
        self._labels: list[Path] = []
        self._noted: list[Oddity] = []
        self._passed: Counter[tuple[Path, OddityCode]] = Counter()

    def walk(self) -> None:
        for where, folders, names in os.walk(self._folder, followlinks=True, onerror=_refuse):
            path = Path(where)
            place = self._place(path)
            if len(path.relative_to(self._folder).parts) == _DEEPEST:
                self._pass_folders(path, place, folders)
                folders.clear()
            folders.sort()
            for name in sorted(names):
                self._take(path / name, place)

    def files(self) -> FolderFiles:
        packed = [
            path
            for at, paths in self._archives.items()
            if at not in self._sessions
            for path in paths
        ]
        sessions = {at: tuple(paths) for at, paths in sorted(self._sessions.items())}
        passed = [self._oddity(*at, count) for at, count in self._passed.items()]
        archives = (self._oddity(path, OddityCode.ARCHIVE) for path in packed)
        misplaced = (
            self._oddity(path, OddityCode.FOLDER_NAME_DIFFERS) for path in self._misplaced()
        )
        return FolderFiles(
            sessions=sessions,
            transcripts=tuple(self._at_top.get(Named.TRANSCRIPT, ())),
            tables=tuple(self._at_top.get(Named.TABLE, ())),
            labels=tuple(self._labels),
            speakers=next(iter(self._at_top.get(Named.SPEAKERS, ())), None),
            has_archives=bool(self._archives),
            oddities=(*archives, *self._noted, *passed, *misplaced),
        )

    def _place(self, path: Path) -> _Place:
        parts = path.relative_to(self._folder).parts
        if not parts:
            return _Place.TOP
        if any(part.startswith(".") or part == _OF_ARCHIVES for part in parts):
            return _Place.APART
        if self._has_sessions and any(session_of_folder(part) is not None for part in parts):
            return _Place.SESSION
        is_for_labels = len(parts) == 1 and parts[0].casefold() == _LABELS_FOLDER
        return _Place.LABELS if is_for_labels else _Place.OTHER

    def _take(self, path: Path, place: _Place) -> None:
        kind = named(path.name)
        if kind is Named.STUB:
            self._note(path, OddityCode.APPLE_DOUBLE)
        elif self._has_sessions and (at := session_of_transcript(path.name)) is not None:
            self._sessions.setdefault(at, []).append(path)
        elif self._has_sessions and (at := session_of_archive(path.name)) is not None:
            self._archives.setdefault(at, []).append(path)
        elif place is _Place.TOP:
            self._take_at_top(path, kind)
        elif place is _Place.LABELS and kind is Named.TABLE:
            self._labels.append(path)
        else:
            is_other = place in {_Place.LABELS, _Place.OTHER} and kind is not Named.NO_TRANSCRIPT
            code = OddityCode.SUBFOLDER if is_other else OddityCode.OTHER_FILE
            self._passed[path.parent, code] += 1

    def _take_at_top(self, path: Path, kind: Named) -> None:
        if kind is Named.NO_TRANSCRIPT:
            self._note(path, OddityCode.OTHER_FILE)
        elif kind is Named.UNKNOWN:
            self._note(path, OddityCode.OTHER_FORM)
        elif not is_inside(self._folder, path):
            self._note(path, OddityCode.LINK_LEADS_OUT)
        else:
            self._at_top.setdefault(kind, []).append(path)

    def _pass_folders(self, path: Path, place: _Place, folders: list[str]) -> None:
        """Note folders that are too deep to be looked into."""
        for name in sorted(folders) if place is _Place.OTHER else ():
            if not name.startswith("."):
                self._passed[path / name, OddityCode.SUBFOLDER] += 1

    def _misplaced(self) -> Iterator[Path]:
        for number, paths in sorted(self._sessions.items()):
            for path in paths:
                if session_of_folder(path.parent.name) not in {None, number}:
                    yield path

    def _note(self, path: Path, code: OddityCode) -> None:
        self._noted.append(self._oddity(path, code))

    def _oddity(self, path: Path, code: OddityCode, count: int = 1) -> Oddity:
        return oddity_at(path, self._folder, code, count=count)


def oddity_at(path: Path, folder: Path, code: OddityCode, *, count: int = 1) -> Oddity:
    """Return what is odd about a file of a folder."""
    return Oddity(where=path.relative_to(folder).as_posix(), code=code, count=count)


def _refuse(error: OSError) -> NoReturn:
    msg = f"the folder {Path(error.filename).name!r} cannot be read: {error.strerror}"
    raise InputError(msg, field="PATH") from None
