"""Opens a file with one interview a line, its labels beside its words."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, DatasetUnit
from ai_psychiatrist.evaluation.datasets.identifiers import identifier_of, split_name
from ai_psychiatrist.evaluation.datasets.labels import SECOND_ITEMS, checked_labels, label_columns
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.texts import MOST_BYTES, Texts, TextSource, check_of
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, open_regular, reason_of
from ai_psychiatrist.services.transcripts.formats.chat_json import is_turn
from ai_psychiatrist.services.transcripts.utterances import FileFault

_ID_FIELDS: Final = ("unit_id", "id", "sample_id")
_ITEM_FIELDS: Final = ("items", "phq8_items")
_NO_SCORES: Final[Mapping[str, object]] = dict.fromkeys(Item, ())
"""Scores in a form that is not known: unreadable, not absent."""
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
    texts = Texts(options)
    try:
        units = [unit for unit in _units(path, texts) if unit is not None]
    except OSError as error:
        raise InputError(
            f"{path.name!r} cannot be read: {reason_of(error)}", field="PATH"
        ) from None
    if units and all(unit.labels is None for unit in units):
        missing = OddityCode.LABEL_MISSING
        texts.oddities = [oddity for oddity in texts.oddities if oddity.code is not missing]
        texts.oddities.append(Oddity(where=".", code=OddityCode.NO_LABELS, count=len(units)))
    return texts.dataset(path, DatasetKind.JSONL, units)


def _units(path: Path, texts: Texts) -> Iterator[DatasetUnit | None]:
    size, start = path.stat().st_size, 0
    with open_regular(path) as file:
        for number, line in enumerate(iter(lambda: _line(file), b""), start=1):
            if line.strip():
                place = TextSource(path=path, check=check_of(line), start=start, length=len(line))
                yield _unit(line, number, place, texts)
            texts.digest(str(number), line)
            start += len(line)
            texts.options.on_progress(start, size)


def _unit(line: bytes, number: int, place: TextSource, texts: Texts) -> DatasetUnit | None:
    def note(where: str, code: OddityCode) -> None:
        texts.oddities.append(Oddity(where=where, code=code, line=number))

    fields = _fields(line)
    reading = None if fields is None else texts.reading(place, line)
    is_none = isinstance(reading, TranscriptUnreadable) and reading.fault in _NO_INTERVIEW
    if fields is None or reading is None or is_none:
        note(place.path.name, OddityCode.LINE_UNREADABLE)
        return None
    unit_id = _identifier(fields)
    if unit_id is None:
        unit_id = f"line-{number}"
        note(unit_id, OddityCode.ID_MISSING)
    if unit_id in texts.sources:
        note(unit_id, OddityCode.ID_REPEATED)
        return None
    texts.add(unit_id, place, reading, where=unit_id, line=number)
    labels, codes = checked_labels(_scores(fields))
    for code in codes:
        is_absent = code is OddityCode.LABEL_WITHOUT_SCORES
        note(unit_id, OddityCode.LABEL_MISSING if is_absent else code)
    given = fields.get("participant_id")
    participant = _participant(given)
    if participant is None and given not in (None, ""):
        note(unit_id, OddityCode.PARTICIPANT_UNUSABLE)
    return DatasetUnit(
        unit_id=unit_id,
        labels=labels,
        participant_id=participant,
        split=split_name(fields.get("split")),
    )


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
    given = (_participant(fields.get(name)) for name in _ID_FIELDS)
    return next((str(identifier) for identifier in given if identifier is not None), None)


def _participant(value: object) -> int | str | None:
    if isinstance(value, str):
        return identifier_of(value)
    # Tables with a blank among numbers write all of them so: 7.0.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _scores(fields: Mapping[str, object]) -> dict[str, object]:
    """Take the scores of a line: items by name or as a list of eight in the scale's order."""
    items = next((fields[name] for name in _ITEM_FIELDS if fields.get(name) is not None), {})
    second = _items(fields.get("second_items") or {})
    return {
        **_items(items),
        **{SECOND_ITEMS[Item(item)]: score for item, score in second.items()},
        "total": fields.get("total"),
        "binary": fields.get("binary"),
    }


def _items(given: object) -> Mapping[str, object]:
    if isinstance(given, list) and len(given) == len(Item):
        return dict(zip([*Item], given, strict=True))
    if not isinstance(given, dict):
        return _NO_SCORES
    names = list(given)
    try:
        columns = label_columns(names, where="items")
    except InputError:
        return _NO_SCORES
    items: dict[str, object] = {
        item: given[names[columns[item]]] for item in Item if item in columns
    }
    return items if len(items) == len(names) else _NO_SCORES
