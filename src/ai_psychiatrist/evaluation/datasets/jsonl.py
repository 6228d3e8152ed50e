"""Opens a file with one interview a line: turns, plain text, or question-and-answer exchanges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import SpeakerLabels
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, DatasetUnit
from ai_psychiatrist.evaluation.datasets.identifiers import identifier_of, split_name
from ai_psychiatrist.evaluation.datasets.labels import RawLabels, label_columns, read_labels
from ai_psychiatrist.evaluation.datasets.lines import (
    Line,
    known_speaker,
    oddity_of_speakers,
    on_one_line,
    render,
)
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode, tallied
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.plain_text import plain_text_oddity, rendered_plain_text
from ai_psychiatrist.evaluation.datasets.sources import (
    MOST_BYTES,
    DatasetDigest,
    TextSource,
    check_of,
    unreadable,
)
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, open_regular, told

_ID_FIELDS: Final = ("unit_id", "id", "sample_id")
_ITEM_FIELDS: Final = ("items", "phq8_items")


class _NoInterview(Exception):
    """A line is not JSON, or holds no interview in a form that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interview:
    """One line, read: its text or its lines, and what is odd about its speakers."""

    fields: Mapping[str, object] = field(repr=False)
    text: str | None = field(default=None, repr=False)
    lines: tuple[Line, ...] = field(default=(), repr=False)
    found: tuple[OddityCode, ...] = ()


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
            read_text=_JsonlTexts(self._sources, self._options),
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
        try:
            interview = _interview(line, self._options.labels)
        except _NoInterview:
            self._note(self._path.name, OddityCode.LINE_UNREADABLE, number)
            return None
        unit_id = _identifier(interview.fields)
        if unit_id is None:
            unit_id = f"line-{number}"
            self._note(unit_id, OddityCode.ID_MISSING, number)
        if unit_id in self._sources:
            self._note(unit_id, OddityCode.ID_REPEATED, number)
            return None
        self._oddities += tallied(unit_id, ((code, number) for code in interview.found))
        source = TextSource(path=self._path, check=check_of(line), start=start, length=len(line))
        self._sources[unit_id] = source if _is_usable(interview) else None
        return self._with_labels(unit_id, interview.fields, number)

    def _with_labels(self, unit_id: str, fields: Mapping[str, object], number: int) -> DatasetUnit:
        reading = read_labels(_raw_labels(fields))
        for code in reading.oddities:
            is_absent = code is OddityCode.LABEL_WITHOUT_SCORES
            self._note(unit_id, OddityCode.LABEL_MISSING if is_absent else code, number)
        participant = fields.get("participant_id")
        return DatasetUnit(
            unit_id=unit_id,
            labels=reading.labels,
            participant_id=participant if type(participant) is int else None,
            split=split_name(fields.get("split")),
        )

    def _note(self, where: str, code: OddityCode, line: int) -> None:
        self._oddities.append(Oddity(where=where, code=code, line=line))


class _JsonlTexts:
    """Reads the line of one unit again."""

    def __init__(self, sources: Mapping[str, TextSource | None], options: ReadingOptions) -> None:
        self._sources = sources
        self._options = options

    def __call__(self, unit_id: str) -> str:
        source = self._sources[unit_id]
        if source is None:
            raise unreadable(unit_id)
        interview = _interview(source.content(), self._options.labels)
        if interview.text is None:
            return render(interview.lines, self._options.speakers)
        return rendered_plain_text(interview.text, self._options)


def _line(file: BinaryIO) -> bytes:
    line = file.readline(MOST_BYTES + 1)
    if len(line) > MOST_BYTES:
        raise FileTooLarge
    return line


def _interview(line: bytes, labels: SpeakerLabels) -> _Interview:
    try:
        fields = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        raise _NoInterview from None
    if not isinstance(fields, dict):
        raise _NoInterview
    text = fields.get("text")
    if isinstance(text, str) and "turns" not in fields:
        oddity = plain_text_oddity(text, labels)
        return _Interview(fields=fields, text=text, found=(oddity,) if oddity else ())
    return _spoken(fields, list(_turns(fields)), labels)


def _turns(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield (label, words). Raises `_NoInterview` for a turn of another form."""
    turns = fields.get("turns")
    if turns is None:
        turns = [
            turn for exchange in _list(fields.get("conversations")) for turn in _list(exchange)
        ]
    for turn in _list(turns):
        if not isinstance(turn, dict):
            raise _NoInterview
        label, words = turn.get("speaker", turn.get("role")), turn.get("text")
        if not isinstance(label, str) or not isinstance(words, str):
            raise _NoInterview
        yield label, words


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise _NoInterview
    return value


def _spoken(
    fields: Mapping[str, object], turns: Sequence[tuple[str, str]], labels: SpeakerLabels
) -> _Interview:
    known = {label: known_speaker(label, labels) for label, _ in turns}
    lines = tuple(
        Line(speaker=known[label].speaker, words=on_one_line(words)) for label, words in turns
    )
    odd = [known[label].oddity for label, _ in turns]
    blank = [OddityCode.BLANK_WORDS for line in lines if not line.words]
    unusable = oddity_of_speakers(lines)
    found = (*(code for code in odd if code), *blank, *((unusable,) if unusable else ()))
    return _Interview(fields=fields, lines=lines, found=found)


def _is_usable(interview: _Interview) -> bool:
    return not {OddityCode.NO_WORDS, OddityCode.NO_PARTICIPANT} & set(interview.found)


def _identifier(fields: Mapping[str, object]) -> str | None:
    for name in _ID_FIELDS:
        value = fields.get(name)
        if isinstance(value, str) and (identifier := identifier_of(value)):
            return identifier
        if type(value) is int:
            return str(value)
    return None


def _raw_labels(fields: Mapping[str, object]) -> RawLabels:
    """Take the scores of a line: items by name or as a list of eight in the scale's order."""
    items = next((fields[name] for name in _ITEM_FIELDS if fields.get(name) is not None), {})
    if isinstance(items, list):
        scores = dict(zip(Item, items, strict=True)) if len(items) == len(Item) else _NO_SCORES
    elif isinstance(items, dict):
        scores = _named(items)
    else:
        scores = _NO_SCORES
    return RawLabels(items=scores, total=fields.get("total"), binary=fields.get("binary"))


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
