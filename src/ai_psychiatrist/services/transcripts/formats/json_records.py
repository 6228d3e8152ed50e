"""Reads the JSON of a file and the fields of its objects, strictly and within bounds."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.services.transcripts.formats.gathering import Gathering, speaker_name
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused
from ai_psychiatrist.validation.reply.json_decoder import decode
from ai_psychiatrist.validation.reply.limits import ParseLimits

_LIMITS: Final = ParseLimits(keeps_non_finite=True)
_MOST_OBJECTS: Final = 1_000_000
_MOST_VALUES: Final = 4_000_000
"""Both count the marks in words, too: what a parser makes of them is a hundred times as large."""
_NAMES_SPEAKER: Final = re.compile(r"speaker|spk", re.IGNORECASE)
_SPEAKER_FIELDS: Final = frozenset(
    "speaker speakers speaker_confidence speaker_info speaker_labels speaker_options "
    "speaker_turn_next speakers_expected".split()
)
_HALF_CHARACTER: Final = re.compile(r"\\u[dD][89a-fA-F]")


def read_json_value(text: str, line: int | None = None) -> object:
    """Return the value that a text is.

    Raises `NotJson` for a text that is none, and `FileRefused` for one that is nested too deeply,
    too large, holds half a character or an object with two values of one name.
    """
    if text.count("{") + text.count("[") > _MOST_OBJECTS or text.count(",") > _MOST_VALUES:
        raise FileRefused(FileFault.TOO_LARGE, line)
    try:
        return decode(text, _LIMITS)
    except OutputRejected:
        is_text = _HALF_CHARACTER.search(text) is None
        fault = FileFault.BROKEN_ROW if is_text else FileFault.NOT_TEXT
        raise FileRefused(fault, line) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An object, and the number of the record that it is part of.

    Each method raises `FileRefused` for a value of another type; an absent one counts as null.
    """

    fields: Mapping[str, object] = field(repr=False)
    number: int

    def refused(self) -> FileRefused:
        """Return the refusal of this record."""
        return FileRefused(FileFault.BROKEN_ROW, self.number)

    def text(self, name: str) -> str:
        """Return a string that has to be there."""
        value = self.optional_text(name)
        if value is None:
            raise self.refused()
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a string, or `None` for null."""
        value = self.fields.get(name)
        if value is None or isinstance(value, str):
            return value
        raise self.refused()

    def label(self, name: str) -> str | None:
        """Return a speaker's name, `None` for null and for a blank one.

        Refuses a record that names its speaker in a way that is not known: nobody would say it.
        """
        for field_name in self.fields:
            if field_name not in _SPEAKER_FIELDS and _NAMES_SPEAKER.match(field_name):
                raise self.refused()
        return speaker_name(self.optional_text(name))

    def numbered_label(self, name: str) -> str | None:
        """Return a speaker's name or whole number as text, `None` for null."""
        value = self.fields.get(name)
        return str(value) if type(value) is int else self.label(name)

    def seconds(self, name: str, gathering: Gathering, *, per_second: int = 1) -> float | None:
        """Return a time; `None` for null and, noted, for one that no recording has."""
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused()
        return gathering.seconds(value, self.number, per_second=per_second)

    def record(self, name: str) -> "Record":
        """Return an object that has to be there."""
        return _record(self.fields.get(name), self.number)

    def parts(self, name: str) -> Iterator["Record"]:
        """Yield the objects of a list, all with this record's number; none for null."""
        for value in self._items(name):
            yield _record(value, self.number)

    def records(self, name: str) -> Iterator["Record"]:
        """Yield the objects of a list, numbered from 1; none for null."""
        return records_of(self._items(name))

    def _items(self, name: str) -> list[object]:
        value = self.fields.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.refused()
        return value


def records_of(items: list[object]) -> Iterator[Record]:
    """Yield the objects of a list, numbered from 1; raises `FileRefused` at anything else."""
    for number, value in enumerate(items, start=1):
        yield _record(value, number)


def _record(value: object, number: int) -> Record:
    if not isinstance(value, dict):
        raise FileRefused(FileFault.BROKEN_ROW, number)
    return Record(fields=value, number=number)
