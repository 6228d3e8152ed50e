"""Opens a file with one interview a line, its labels beside its words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, DatasetUnit
from ai_psychiatrist.evaluation.datasets.identifiers import identifier_of, split_name
from ai_psychiatrist.evaluation.datasets.labels import RawLabels, label_columns, read_labels
from ai_psychiatrist.evaluation.datasets.oddities import Cost, Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.sources import (
    MOST_BYTES,
    DatasetDigest,
    TextSource,
    check_of,
)
from ai_psychiatrist.evaluation.datasets.unit_transcripts import (
    UnitTranscripts,
    oddities_of,
    oddity_of_refusal,
    read_unit,
)
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, open_regular, told
from ai_psychiatrist.services.transcripts.formats.dialogue_json import is_turn
from ai_psychiatrist.services.transcripts.utterances import FileFault

_ID_FIELDS: Final = ("unit_id", "id", "sample_id")
_ITEM_FIELDS: Final = ("items", "phq8_items")


_NO_INTERVIEW: Final = frozenset(
    {FileFault.UNKNOWN_FORM, FileFault.BROKEN_ROW, FileFault.NOT_TEXT, FileFault.WRONG_HEADER}
)
"""Why a line is none; what else is wrong with one is wrong with an interview."""


def holds_turns(path: Path) -> bool:
    """Tell a file of one interview, with a turn on each line, from one of an interview a line."""
    try:
        with open_regular(path) as file:
            first = next((line for line in iter(lambda: _line(file), b"") if line.strip()), b"")
    except OSError:
        return False
    fields = _fields(first)
    return fields is not None and is_turn(fields)


def open_jsonl(path: Path, options: ReadingOptions) -> Dataset:
    """Open a file; its lines are read one by one and their places kept.

    Raises `InputError` when it cannot be read.
    """
    return _Opening(path, options).dataset()


class _Opening:
    """Goes through a file once."""

    def __init__(self, path: Path, options: ReadingOptions) -> None:
        self._path = path
        self._options = options
        self._digest = DatasetDigest()
        self._oddities: list[Oddity] = []
        self._sources: dict[str, TextSource | None] = {}

    def dataset(self) -> Dataset:
        try:
            units = tuple(self._units())
        except OSError as error:
            msg = f"{self._path.name!r} cannot be read: {told(error)}"
            raise InputError(msg, field="PATH") from None
        if units and all(unit.labels is None for unit in units):
            absent = Oddity(where=".", code=OddityCode.NO_LABELS, count=len(units))
            missing = {OddityCode.LABEL_MISSING}
            self._oddities = [odd for odd in self._oddities if odd.code not in missing]
            self._oddities.append(absent)
        return Dataset(
            kind=DatasetKind.JSONL,
            path=self._path,
            units=units,
            oddities=tuple(self._oddities),
            digest=self._digest.hexdigest(self._options.digested(DatasetKind.JSONL)),
            speakers=self._options.speakers,
            unreadable=frozenset(at for at, source in self._sources.items() if source is None),
            read=UnitTranscripts(self._sources, self._options),
        )

    def _units(self) -> Iterator[DatasetUnit]:
        size = self._path.stat().st_size
        start = 0
        with open_regular(self._path) as file:
            for number, line in enumerate(iter(lambda: _line(file), b""), start=1):
                unit = self._unit(line, number, start) if line.strip() else None
                self._digest.add(str(number), line)
                start += len(line)
                self._options.on_progress(start, size)
                if unit is not None:
                    yield unit

    def _unit(self, line: bytes, number: int, start: int) -> DatasetUnit | None:
        fields = _fields(line)
        found = None if fields is None else self._looked_at(line, number)
        if fields is None or found is None:
            self._note(self._path.name, OddityCode.LINE_UNREADABLE, number)
            return None
        unit_id = _identifier(fields)
        if unit_id is None:
            unit_id = f"line-{number}"
            self._note(unit_id, OddityCode.ID_MISSING, number)
        if unit_id in self._sources:
            self._note(unit_id, OddityCode.ID_REPEATED, number)
            return None
        self._oddities += (replace(oddity, where=unit_id) for oddity in found)
        is_usable = not any(oddity.cost is Cost.UNIT for oddity in found)
        source = TextSource(path=self._path, check=check_of(line), start=start, length=len(line))
        self._sources[unit_id] = source if is_usable else None
        return self._with_labels(unit_id, fields, number)

    def _looked_at(self, line: bytes, number: int) -> Sequence[Oddity] | None:
        """Return what is odd about an interview, `None` for a line that is none."""
        try:
            transcript = read_unit(line, self._options, name="")
        except TranscriptUnreadable as error:
            is_none = error.fault in _NO_INTERVIEW
            return None if is_none else [oddity_of_refusal(error, "", number)]
        except InputError as error:
            return [oddity_of_refusal(error, "", number)]
        return list(oddities_of(transcript, "", number))

    def _with_labels(self, unit_id: str, fields: Mapping[str, object], number: int) -> DatasetUnit:
        reading = read_labels(_raw_labels(fields))
        for code in reading.oddities:
            is_absent = code is OddityCode.LABEL_WITHOUT_SCORES
            self._note(unit_id, OddityCode.LABEL_MISSING if is_absent else code, number)
        return DatasetUnit(
            unit_id=unit_id,
            labels=reading.labels,
            participant_id=_participant(fields.get("participant_id")),
            split=split_name(fields.get("split")),
        )

    def _note(self, where: str, code: OddityCode, line: int) -> None:
        self._oddities.append(Oddity(where=where, code=code, line=line))


def _line(file: BinaryIO) -> bytes:
    line = file.readline(MOST_BYTES + 1)
    if len(line) > MOST_BYTES:
        raise FileTooLarge
    return line


def _fields(line: bytes) -> Mapping[str, object] | None:
    try:
        fields = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None
    return fields if isinstance(fields, dict) else None


def _identifier(fields: Mapping[str, object]) -> str | None:
    for name in _ID_FIELDS:
        value = fields.get(name)
        if isinstance(value, str) and (identifier := identifier_of(value)):
            return identifier
        if type(value) is int:
            return str(value)
    return None


def _participant(value: object) -> int | str | None:
    if isinstance(value, str):
        return identifier_of(value)
    return value if type(value) is int else None


def _raw_labels(fields: Mapping[str, object]) -> RawLabels:
    """Take the scores of a line: items by name or as a list of eight in the scale's order."""
    items = next((fields[name] for name in _ITEM_FIELDS if fields.get(name) is not None), {})
    return RawLabels(
        items=_scores_of(items),
        second_items=_scores_of(fields.get("second_items") or {}),
        total=fields.get("total"),
        binary=fields.get("binary"),
    )


def _scores_of(items: object) -> Mapping[Item, object]:
    if isinstance(items, list):
        return dict(zip(Item, items, strict=True)) if len(items) == len(Item) else _NO_SCORES
    return _named(items) if isinstance(items, dict) else _NO_SCORES


_NO_SCORES: Final[dict[Item, object]] = dict.fromkeys(Item, ())
"""Scores in a form that is not known: unreadable, not absent."""


def _named(items: Mapping[str, object]) -> dict[Item, object]:
    names = list(items)
    try:
        columns = label_columns(names, where="items").items
    except InputError:
        return _NO_SCORES
    if len(columns) != len(names):
        return _NO_SCORES
    return {item: items[names[at]] for item, at in columns.items()}
