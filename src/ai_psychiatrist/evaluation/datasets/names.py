"""Names: what a file of a dataset is by its own, and which unit a file or a row of a table means.

Identifiers are shown and logged, so that words which were said must not pass for one.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Final

from ai_psychiatrist.services.transcripts.formats.known import (
    ENDINGS,
    NAMED_ENDINGS,
    TABLE_ENDINGS,
)

SPEAKERS_FILE: Final = "speakers.csv"
LABELS_FILE: Final = "labels.csv"
MAYBE_TABLE_SUFFIXES: Final = frozenset({".txt", ".text", ".dat", ".tab"})
"""Of transcripts or of nothing that is read, unless the header is one of labels."""

LONGEST: Final = 100
"""Characters of an identifier."""
_SPLIT: Final = re.compile(r"[\w-]{1,32}")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_LAST: Final = 10**9
"""Behind every number of a session."""
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9])0+(?=[0-9])")

WHAT_A_DATASET_IS: Final = (
    "a dataset is a DAIC-WOZ or E-DAIC folder (with ID_P/ID_TRANSCRIPT.csv or label files), a "
    f".jsonl file with one interview a line, a folder of {NAMED_ENDINGS} files at its top, or one "
    "such file"
)

TRANSCRIPT: Final = re.compile(r"(\d{1,9})_transcript\.csv", re.IGNORECASE)
"""The names of a session's files and folder, with its number as their group."""
ARCHIVE: Final = re.compile(r"(\d{1,9})_P\.(?:tar|tar\.gz|tgz|zip)", re.IGNORECASE)
FOLDER: Final = re.compile(r"(\d{1,9})_P(?:\.tar)?", re.IGNORECASE)
_FEATURES: Final = re.compile(
    r"\d{1,9}_(?:clnf|covarep|formant|audio|opensmile|openface|bow|cnn|densenet|vgg|egemaps|mfcc)"
    r"(?![a-z]).*|.*_clnf(?![a-z]).*",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"(?:readme|licen[cs]e|copying|changelog|citation|codebook)(?![a-z]).*|.*documentation.*",
    re.IGNORECASE,
)
_OF_NO_TRANSCRIPT: Final = frozenset(
    ".md .markdown .wav .mp3 .m4a .flac .ogg .oga .opus .aac .wma .aiff .mp4 .mov .avi .mkv .webm "
    ".m4v .wmv .png .jpg .jpeg .gif .svg .tif .tiff .bmp .heic".split()
)
_OF_A_SYSTEM: Final = frozenset({"thumbs.db", "desktop.ini", "documents.zip", "util.zip"})
"""What Windows leaves in folders, and what DAIC-WOZ has beside its sessions."""


class Named(StrEnum):
    """What a file at the top of a folder is, as far as its name tells."""

    STUB = "stub"
    """What a Mac puts into archives beside each file."""
    SPEAKERS = "speakers"
    TABLE = "table"
    """Labels or a transcript: its header tells."""
    TRANSCRIPT = "transcript"
    NO_TRANSCRIPT = "no_transcript"
    """Recordings, features, what is hidden, and what is written about a dataset."""
    UNKNOWN = "unknown"
    """A document in a form that is not read, or anything else."""


def named(name: str) -> Named:
    """Classify a file that is not a session's."""
    plain = name.casefold()
    suffix = PurePath(plain).suffix
    if name.startswith("._"):
        return Named.STUB
    if plain == SPEAKERS_FILE:
        return Named.SPEAKERS
    is_apart = plain.startswith(".") or plain in _OF_A_SYSTEM or suffix in _OF_NO_TRANSCRIPT
    if is_apart or _FEATURES.fullmatch(plain) or _ABOUT.fullmatch(plain):
        return Named.NO_TRANSCRIPT
    if suffix in TABLE_ENDINGS:
        return Named.TABLE
    return Named.TRANSCRIPT if suffix in ENDINGS else Named.UNKNOWN


def session_of(pattern: re.Pattern[str], name: str) -> int | None:
    """Return the session whose transcript, archive or folder has this name."""
    found = pattern.fullmatch(name)
    return int(found[1]) if found else None


def identifier_of(text: str) -> str | None:
    """Return a unit's identifier, `None` for what is empty, long, or holds more than one line."""
    stripped = text.strip()
    is_usable = 0 < len(stripped) <= LONGEST and stripped.isprintable()
    return stripped if is_usable else None


def split_name(value: object) -> str | None:
    """Return the name of a split, `None` for anything but one short word."""
    return value if isinstance(value, str) and _SPLIT.fullmatch(value) else None


def without_folders(written: str) -> str:
    """Return the name at the end of a path, in whichever system's way of writing."""
    return written.replace("\\", "/").rpartition("/")[2] or written


def loose_key(unit_id: str) -> str:
    """Return an identifier without what spreadsheets change: leading zeros, `.0`, case, ending."""
    stem = unit_id.casefold().removesuffix(".0")
    suffix = PurePath(stem).suffix
    is_ending = suffix in ENDINGS or suffix in _OF_NO_TRANSCRIPT
    plain = stem.removesuffix(suffix) if is_ending else stem
    return _LEADING_ZEROS.sub("", plain.removesuffix("_p").strip())


class UnitNames:
    """Finds the unit that a file is, and the one that a row of a table means."""

    def __init__(self, sessions: Mapping[int, Sequence[Path]], others: Sequence[Path]) -> None:
        """`others`: files of an interview each."""
        numbered = {str(number): paths for number, paths in sessions.items()}
        self._others = _others(others, taken=numbered)
        self.files: dict[str, Sequence[Path]] = {**numbered, **self._others}
        """Of each unit, in order; several only where a session is there more than once."""
        self._by_file = {path.name: at for at, paths in self.files.items() for path in paths}
        self._has_participants = bool(sessions) or not self._others

    def of_file(self, written: str) -> str | None:
        """Return the unit of a file's name, with or without its ending, or a session's number."""
        name = written.strip().rpartition("/")[2]
        known = self._by_file.get(name, name)
        return next((at for at in (known, _participant(name)) if at in self.files), None)

    def of_label(self, written: str) -> str:
        """Return the unit of a row of labels, there or not; "" for what can be none."""
        known = self._by_file.get(without_folders(written), written)
        if known in self._others:
            return known
        number = _participant(written) if self._has_participants else ""
        return number or (written if self._others else "")

    def is_unit(self, unit_id: str) -> bool:
        """Tell whether there is a transcript of a unit."""
        return unit_id in self.files

    def number(self, unit_id: str) -> int | None:
        """Return the number of a participant of a corpus."""
        is_participant = self._has_participants and unit_id not in self._others
        return int(unit_id) if is_participant and _NUMBER.fullmatch(unit_id) else None

    def order(self, unit_id: str) -> tuple[int, str]:
        """Return what units are sorted by: numbers of participants first, then names."""
        number = self.number(unit_id)
        return (_LAST, unit_id) if number is None else (number, "")


def _others(paths: Sequence[Path], *, taken: Iterable[str]) -> dict[str, Sequence[Path]]:
    """Return identifier → file; what is the stem of several files, or a session's, is none's."""
    stems = Counter(path.stem for path in paths)
    unusable = {*taken, *(path.name for path in paths)}
    unusable |= {stem for stem, count in stems.items() if count > 1}
    return {path.name if path.stem in unusable else path.stem: [path] for path in paths}


def _participant(written: str) -> str:
    """Return the number of a participant in its one spelling; "" for what is no number."""
    number = written.strip().removesuffix("_P").removesuffix(".0")
    return str(int(number)) if _NUMBER.fullmatch(number) else ""
