"""Opens a file with one interview a line, its labels next to its words."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import (
    DataIssue,
    Dataset,
    DatasetKind,
    DatasetUnit,
    IssueCode,
    Labels,
)
from ai_psychiatrist.evaluation.datasets.label_columns import (
    FILE_ID,
    PERSON_ID,
    SCORES,
    SECOND_ITEMS,
    SPLIT,
    TRAIT,
    UNKNOWN,
    column_meanings,
    column_places,
    item_scores,
)
from ai_psychiatrist.evaluation.datasets.label_files import CODES_HINT, missing_hint
from ai_psychiatrist.evaluation.datasets.label_tables import unused
from ai_psychiatrist.evaluation.datasets.labels import (
    are_codes_unclear,
    checked_labels,
    none_among_words,
)
from ai_psychiatrist.evaluation.datasets.names import identifier_of, split_name
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.texts import MOST_BYTES, Texts, TextSource, check_of
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, open_regular, reason_of
from ai_psychiatrist.services.transcripts.formats.chat_json import DIALOGUES, is_turn
from ai_psychiatrist.services.transcripts.utterances import FileFault

_ID_FIELDS: Final = ("unit_id", "id", "sample_id")
_PERSON: Final = "participant_id"
_ITEM_FIELDS: Final = ("items", "phq8_items")
_LABEL_FIELDS: Final = frozenset({*_ITEM_FIELDS, "second_items"})
_OF_INTERVIEWS: Final = frozenset({*DIALOGUES, "text"})
_NO_SCORES: Final[Mapping[str, object]] = dict.fromkeys(Item, ())
"""Scores in a form that is not known: unreadable, not absent."""
_NO_INTERVIEW: Final = frozenset(
    {FileFault.UNKNOWN_FORM, FileFault.BROKEN_ROW, FileFault.NOT_TEXT, FileFault.WRONG_HEADER}
)
"""Why a line is none; what else is wrong with one is wrong with an interview."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _LabelledUnit:
    unit: DatasetUnit
    line: int
    scores: Mapping[str, object] = field(repr=False)
    traits: Mapping[str, str] = field(repr=False)


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

    Raises `InputError` when it cannot be read, and when two fields of a line mean the same score.
    """
    texts = Texts(options)
    try:
        found = list(_labelled_units(path, texts))
    except OSError as error:
        raise InputError(
            f"{path.name!r} cannot be read: {reason_of(error)}", field="PATH"
        ) from None
    return texts.dataset(path, DatasetKind.JSONL, _with_labels(path, found, texts))


def _with_labels(path: Path, found: list[_LabelledUnit], texts: Texts) -> list[DatasetUnit]:
    options = texts.options.scores
    every = {one.unit.unit_id: [one.scores] for one in found}
    if options.codes is None and are_codes_unclear(every):
        texts.issues.append(
            DataIssue(
                where=path.name, code=IssueCode.CODES_UNCLEAR, count=len(found), hint=CODES_HINT
            )
        )
        return [one.unit for one in found]
    if issue := none_among_words([one.scores for one in found], where=path.name):
        texts.issues.append(issue)
    hint = missing_hint((one.scores for one in found), options)
    read = [(one, *checked_labels(one.scores, options)) for one in found]
    has_none = all(labels is None for _, labels, _ in read)
    units: list[DatasetUnit] = []
    for one, labels, codes in read:
        for code in codes:
            is_absent = code is IssueCode.LABEL_WITHOUT_SCORES
            if not (is_absent and has_none):
                texts.issues.append(
                    DataIssue(
                        where=one.unit.unit_id,
                        code=IssueCode.LABEL_MISSING if is_absent else code,
                        line=one.line,
                        hint=hint if code is IssueCode.VALUE_OUT_OF_RANGE else None,
                    )
                )
        full: Labels | None = None if labels is None else replace(labels, columns=one.traits)
        units.append(replace(one.unit, labels=full))
    if has_none and units:
        texts.note(".", IssueCode.NO_LABELS, count=len(units))
    return units


def _labelled_units(path: Path, texts: Texts) -> Iterator[_LabelledUnit]:
    size, start = path.stat().st_size, 0
    unknown: dict[str, int] = {}
    with open_regular(path) as file:
        for number, line in enumerate(iter(lambda: _line(file), b""), start=1):
            fields = _fields(line)
            source = TextSource(path=path, check=check_of(line), start=start, length=len(line))
            is_as_written = fields is None or _is_json(line)
            if not is_as_written:
                source = replace(source, cell=orjson.dumps(fields))
            meanings = _meanings(fields or {})
            unit = _unit(fields, meanings, number, source, texts) if line.strip() else None
            if unit is not None:
                unknown = dict.fromkeys(_unknown_fields(meanings), number) | unknown
                yield unit
            _add_digests(fields, meanings, number, line, texts)
            start += len(line)
            texts.options.on_progress(start, size)
    if unknown:
        code, names = IssueCode.FIELDS_UNKNOWN, sorted(unknown, key=unknown.__getitem__)
        found = unused(code, names, where=path.name, line=unknown[names[0]])
        texts.issues.append(found)


def _meanings(fields: Mapping[str, object]) -> dict[str, str]:
    """Return what each field of a line means."""
    return dict(zip(fields, column_meanings(list(fields)), strict=True))


def _unknown_fields(meanings: Mapping[str, str]) -> list[str]:
    """Return the fields whose meaning is not known; what a recogniser writes is its own affair."""
    if _OF_INTERVIEWS.isdisjoint(meanings):
        return []
    known = {*_OF_INTERVIEWS, *_ID_FIELDS, *_LABEL_FIELDS, "speakers"}
    return [name for name, what in meanings.items() if what == UNKNOWN and name not in known]


def _unit(
    fields: Mapping[str, object] | None,
    meanings: Mapping[str, str],
    number: int,
    source: TextSource,
    texts: Texts,
) -> _LabelledUnit | None:
    reading = None if fields is None else texts.reading(source, source.content())
    is_none = isinstance(reading, TranscriptUnreadable) and reading.fault in _NO_INTERVIEW
    if fields is None or reading is None or is_none:
        texts.note(source.path.name, IssueCode.LINE_UNREADABLE, line=number)
        return None
    # `participant_id` names who spoke, perhaps in several lines.
    further = [
        name for name, what in meanings.items() if what in (FILE_ID, PERSON_ID) and name != _PERSON
    ]
    identifiers = (_participant(fields.get(name)) for name in (*_ID_FIELDS, *further))
    known = next((one for one in identifiers if one is not None), None)
    unit_id = f"line-{number}" if known is None else str(known)
    if known is None:
        texts.note(unit_id, IssueCode.ID_MISSING, line=number)
    if unit_id in texts.sources:
        texts.note(unit_id, IssueCode.ID_REPEATED, line=number)
        return None
    texts.add(unit_id, source, reading, where=unit_id, line=number)
    given = fields.get(_PERSON)
    participant = _participant(given)
    if participant is None and given not in (None, ""):
        texts.note(unit_id, IssueCode.PARTICIPANT_UNUSABLE, line=number)
    traits = {name: _short(fields[name]) for name, what in meanings.items() if what == TRAIT}
    return _LabelledUnit(
        unit=DatasetUnit(
            unit_id=unit_id,
            labels=None,
            participant_id=participant,
            split=split_name(fields.get(SPLIT)),
        ),
        line=number,
        scores=_scores(fields, meanings, number),
        traits={name: value for name, value in traits.items() if value is not None},
    )


def _add_digests(
    fields: Mapping[str, object] | None,
    meanings: Mapping[str, str],
    number: int,
    line: bytes,
    texts: Texts,
) -> None:
    """Keep what a model is shown and what is known of the scores apart."""
    if fields is None:
        texts.digest.add(str(number), line)
        return
    is_label = {
        name: name in _LABEL_FIELDS or meaning in (*SCORES, SPLIT, TRAIT)
        for name, meaning in meanings.items()
    }
    for digest, wanted in ((texts.digest, False), (texts.labels_digest, True)):
        part = {name: value for name, value in fields.items() if is_label[name] is wanted}
        if part:
            digest.add(str(number), orjson.dumps(part, option=orjson.OPT_SORT_KEYS))


def _line(file: BinaryIO) -> bytes:
    line = file.readline(MOST_BYTES + 1)
    if len(line) > MOST_BYTES:
        raise FileTooLarge
    return line


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return False
    return True


def _fields(line: bytes) -> Mapping[str, object] | None:
    plain = line.removeprefix(b"\xef\xbb\xbf")
    try:
        fields = orjson.loads(plain)
    except orjson.JSONDecodeError:
        fields = _with_nan(plain) if b"NaN" in plain else None
    return fields if isinstance(fields, dict) else None


def _with_nan(line: bytes) -> object:
    """Read a line of Python's own JSON, which writes NaN for what is missing."""
    try:
        found: object = json.loads(line, parse_constant={"NaN": None}.__getitem__)
    except (ValueError, KeyError, RecursionError):
        return None
    return found


def _participant(value: object) -> int | str | None:
    if isinstance(value, str):
        return identifier_of(value)
    # Tables with a blank among numbers write all of them so: 7.0.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _short(value: object) -> str | None:
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return identifier_of(str(value)) if is_plain else None


def _scores(
    fields: Mapping[str, object], meanings: Mapping[str, str], number: int
) -> dict[str, object]:
    """Take the scores of a line: by name, or the items as a list of eight in the scale's order."""
    items = next((fields[name] for name in _ITEM_FIELDS if fields.get(name) is not None), {})
    second = _items(fields.get("second_items") or {})
    names = list(fields)
    places = column_places(names, [*meanings.values()], where=f"line {number}")
    return {
        **{meaning: fields[names[at]] for meaning, at in places.items() if meaning in SCORES},
        **_items(items),
        **{SECOND_ITEMS[Item(item)]: score for item, score in second.items()},
    }


def _items(given: object) -> Mapping[str, object]:
    if isinstance(given, list) and len(given) == len(Item):
        return dict(zip([*Item], given, strict=True))
    if not isinstance(given, dict):
        return _NO_SCORES
    try:
        scores = item_scores(given)
    except InputError:
        return _NO_SCORES
    return _NO_SCORES if scores is None else scores
