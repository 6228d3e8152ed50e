"""Finds the files of a DAIC-WOZ or E-DAIC folder, whichever way its archives were unpacked."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode

_DEEPEST: Final = 4
"""How many folders may lie between the dataset's and a transcript."""
_TRANSCRIPT: Final = re.compile(r"(\d{1,9})_transcript\.csv", re.IGNORECASE)
_ARCHIVE: Final = re.compile(r"(\d{1,9})_P\.(?:tar|tar\.gz|tgz|zip)", re.IGNORECASE)
_SESSION_FOLDER: Final = re.compile(r"(\d{1,9})_P(?:\.tar)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFiles:
    """What was found, in a fixed order."""

    transcripts: dict[int, tuple[Path, ...]]
    label_files: tuple[Path, ...]
    has_archives: bool
    oddities: tuple[Oddity, ...]

    @property
    def is_empty(self) -> bool:
        """Whether neither transcripts nor archives of sessions are here."""
        return not self.transcripts and not self.has_archives


def find_corpus_files(folder: Path) -> CorpusFiles:
    """Look for transcripts up to four folders deep, for labels at the top and in `labels`.

    Raises `InputError` for a folder that cannot be looked into.
    """
    transcripts: dict[int, list[Path]] = {}
    archives: dict[int, list[Path]] = {}
    stubs: list[Path] = []
    labels: list[Path] = []
    for path in _files(folder):
        transcript, archive = _TRANSCRIPT.fullmatch(path.name), _ARCHIVE.fullmatch(path.name)
        if path.name.startswith("._"):
            stubs += [path] if path.suffix.casefold() == ".csv" else []
        elif transcript:
            transcripts.setdefault(int(transcript[1]), []).append(path)
        elif archive:
            archives.setdefault(int(archive[1]), []).append(path)
        elif path.suffix.casefold() == ".csv" and _is_of_labels(path.parent, folder):
            labels.append(path)
    packed = [path for at, paths in archives.items() if at not in transcripts for path in paths]
    found = {at: tuple(paths) for at, paths in sorted(transcripts.items())}
    return CorpusFiles(
        transcripts=found,
        label_files=tuple(labels),
        has_archives=bool(archives),
        oddities=(
            *(_oddity(path, folder, OddityCode.ARCHIVE) for path in packed),
            *(_oddity(path, folder, OddityCode.APPLE_DOUBLE) for path in stubs),
            *_misplaced(found, folder),
        ),
    )


def _files(folder: Path) -> Iterator[Path]:
    """Yield all files in a fixed order; links are followed, as corpora are often linked to."""
    for place, folders, files in os.walk(folder, followlinks=True, onerror=_refuse):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(folders) if depth < _DEEPEST else []
        yield from (Path(place) / name for name in sorted(files))


def _refuse(error: OSError) -> NoReturn:
    msg = f"the folder {Path(error.filename).name!r} cannot be read: {error.strerror}"
    raise InputError(msg, field="PATH") from None


def _is_of_labels(parent: Path, folder: Path) -> bool:
    return parent == folder or (parent.parent == folder and parent.name.casefold() == "labels")


def _misplaced(found: dict[int, tuple[Path, ...]], folder: Path) -> Iterator[Oddity]:
    for participant_id, paths in found.items():
        for path in paths:
            session = _SESSION_FOLDER.fullmatch(path.parent.name)
            if session and int(session[1]) != participant_id:
                yield _oddity(path, folder, OddityCode.FOLDER_NAME_DIFFERS)


def _oddity(path: Path, folder: Path, code: OddityCode) -> Oddity:
    return Oddity(where=path.relative_to(folder).as_posix(), code=code)
