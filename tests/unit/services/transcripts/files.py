"""What the tests of the readers share."""

from pathlib import Path
from typing import Final

from ai_psychiatrist.services.transcripts.utterances import FileReading, ReadingNote

FILES: Final = Path(__file__).parents[3] / "data" / "transcripts"


def text_of(name: str) -> str:
    return (FILES / name).read_bytes().decode("utf-8")


def said(reading: FileReading) -> list[tuple[str | None, str]]:
    return [(one.label, one.words) for one in reading.utterances]


def words(reading: FileReading) -> list[str]:
    return [one.words for one in reading.utterances]


def notes(reading: FileReading) -> list[tuple[ReadingNote, int | None]]:
    return [(noted.note, noted.line) for noted in reading.notes]
