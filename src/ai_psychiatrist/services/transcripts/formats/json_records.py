"""Reads the JSON of a file and the fields of its objects, strictly and within bounds."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.services.transcripts.formats.gathering import Gathering, speaker_name
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused, ReadingNote
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

    Each method raises `FileRefused` for a value of another type. Null counts as missing, and so
    does NaN, which some programs write in its place.
    """

    fields: Mapping[str, object] = field(repr=False)
    number: int
    gathering: Gathering = field(default_factory=Gathering, repr=False)
    """Where unreadable times are noted, and what is said is added to."""

    def refused(self) -> FileRefused:
        """Return the refusal of this record."""
        return FileRefused(FileFault.BROKEN_ROW, self.number)

    def value(self, name: str) -> object:
        """Return the value of a field, `None` for a missing one."""
        value = self.fields.get(name)
        return None if isinstance(value, float) and math.isnan(value) else value

    def text(self, name: str) -> str:
        """Return a string, "" for a missing one; the field itself has to be there."""
        if name not in self.fields:
            raise self.refused()
        return self.optional_text(name) or ""

    def optional_text(self, name: str) -> str | None:
        """Return a string, or `None` for a missing one."""
        value = self.value(name)
        if value is None or isinstance(value, str):
            return value
        raise self.refused()

    def label(self, *names: str) -> str | None:
        """Return a speaker's name or whole number as text, by the first of the fields that has one.

        Refuses a record that names its speaker in a field that is not known: the words would
        have no speaker.
        """
        for field_name in self.fields:
            if field_name not in {*names, *_SPEAKER_FIELDS} and _NAMES_SPEAKER.match(field_name):
                raise self.refused()
        for name in names:
            value = self.value(name)
            label = str(value) if type(value) is int else speaker_name(self.optional_text(name))
            if label is not None:
                return label
        return None

    def seconds(self, name: str, *, per_second: int = 1) -> float | None:
        """Return a time, a number or written; `None` for a missing one.

        A time that no recording has is `None`, too, and noted. `per_second`: how much of the number
        a second is.
        """
        value = self.value(name) if name in self.fields else None
        if value is None:
            # NaN is no time, and a program that writes it has lost one.
            if self.fields.get(name) is not None:
                self.gathering.note(ReadingNote.TIME_UNREADABLE, self.number)
            return None
        if isinstance(value, str):
            return self.gathering.written_seconds(value, self.number, per_second=per_second)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused()
        return self.gathering.seconds(value, self.number, per_second=per_second)

    def record(self, name: str) -> "Record":
        """Return an object that has to be there."""
        return self._part(self.fields.get(name), self.number)

    def parts(self, name: str) -> Iterator["Record"]:
        """Yield the objects of a list, all with this record's number; none for a missing one."""
        for value in self._items(name):
            yield self._part(value, self.number)

    def records(self, name: str) -> Iterator["Record"]:
        """Yield the objects of a list, numbered from 1; none for a missing one."""
        for number, value in enumerate(self._items(name), start=1):
            yield self._part(value, number)

    def _items(self, name: str) -> list[object]:
        value = self.value(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.refused()
        return value

    def _part(self, value: object, number: int) -> "Record":
        if not isinstance(value, dict):
            raise FileRefused(FileFault.BROKEN_ROW, number)
        return Record(fields=value, number=number, gathering=self.gathering)


def records_of(items: list[object]) -> list[Record]:
    """Return the objects of a list, numbered from 1; raises `FileRefused` at anything else."""
    return list(Record(fields={"": items}, number=1).records(""))
