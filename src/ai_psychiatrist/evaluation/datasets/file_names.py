"""Tells by its name alone what a file of a dataset is."""

import re
from enum import StrEnum
from pathlib import PurePath
from typing import Final

SPEAKERS_FILE: Final = "speakers.csv"
LABELS_FILE: Final = "labels.csv"
LINE_SUFFIXES: Final = frozenset({".jsonl", ".ndjson"})
TABLE_SUFFIXES: Final = frozenset({".csv", ".tsv"})
TRANSCRIPT_SUFFIXES: Final = frozenset(
    {".txt", ".text", ".json", ".vtt", ".srt", ".sbv", ".docx", ".cha"}
    | LINE_SUFFIXES
    | TABLE_SUFFIXES
)

WHAT_A_DATASET_IS: Final = (
    "a dataset is a DAIC-WOZ or E-DAIC folder (with ID_P/ID_TRANSCRIPT.csv or label files), a "
    ".jsonl file with one interview a line, a folder of .txt, .docx, .csv, .json, .vtt, .srt or "
    ".sbv files at its top, or one such file"
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
    """Tell what a file is that is no session's."""
    plain = name.casefold()
    suffix = PurePath(plain).suffix
    if name.startswith("._"):
        return Named.STUB
    if plain == SPEAKERS_FILE:
        return Named.SPEAKERS
    is_apart = plain.startswith(".") or plain in _OF_A_SYSTEM or suffix in _OF_NO_TRANSCRIPT
    if is_apart or _FEATURES.fullmatch(plain) or _ABOUT.fullmatch(plain):
        return Named.NO_TRANSCRIPT
    if suffix in TABLE_SUFFIXES:
        return Named.TABLE
    return Named.TRANSCRIPT if suffix in TRANSCRIPT_SUFFIXES else Named.UNKNOWN


def session_of(pattern: re.Pattern[str], name: str) -> int | None:
    """Return the session whose transcript, archive or folder has this name."""
    found = pattern.fullmatch(name)
    return int(found[1]) if found else None
