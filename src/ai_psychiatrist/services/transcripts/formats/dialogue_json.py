"""Reads interviews as this program and data sets write them in JSON, whole or a turn a line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ai_psychiatrist.services.transcripts.file_lines import MOST_UTTERANCES
from ai_psychiatrist.services.transcripts.formats.gathering import Gathering
from ai_psychiatrist.services.transcripts.formats.json_records import (
    Record,
    read_json_value,
    records_of,
)
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    PlainText,
)
from ai_psychiatrist.validation.reply.json_decoder import NotJson

ROLES: Final = frozenset({"participant", "interviewer", "other"})
"""Whom a file may say that a speaker is."""

DIALOGUES: Final = ("turns", "messages", "conversations")
_SPEAKERS: Final = ("speaker", "role")
_NAME: Final = "name"
"""Of who speaks, beside a role; one role of two names is no speaker."""
_NAMES_SPEAKER: Final = re.compile(r"speaker|role\Z|spk", re.IGNORECASE)
_WORDS: Final = ("text", "content")
_INTERVIEWS: Final = (
    "interview_id",
    "session_id",
    "conversation_id",
    "dialogue_id",
    "transcript_id",
    "participant_id",
    "unit_id",
)


def read_dialogue(
    fields: Mapping[str, object], *, number: int = 1, form: Form = Form.DIALOGUE_JSON
) -> FileReading | PlainText:
    """Read an object that is one interview: its turns, messages, exchanges of turns, or its text.

    Turns are numbered from 1 in refusals and notes; `number` is that of the object itself. Raises
    `FileRefused` for an object in another form, or in two of them.
    """
    whole = Record(fields=fields, number=number)
    names = [name for name in DIALOGUES if fields.get(name) is not None]
    if len(names) > 1:
        raise FileRefused(FileFault.UNKNOWN_FORM, number)
    speakers = _roles(whole)
    if not names:
        text = fields.get("text")
        if not isinstance(text, str) or _has_speakers_elsewhere(fields):
            raise FileRefused(FileFault.UNKNOWN_FORM, number)
        return PlainText(form=form, text=text, speakers=speakers)
    turns = _exchanged(whole) if names == ["conversations"] else whole.records(names[0])
    return _gathered(turns, form, speakers)


def _has_speakers_elsewhere(fields: Mapping[str, object]) -> bool:
    """Tell whether a list beside the text says who said what, in a form that is not known."""
    return any(
        isinstance(part, dict) and any(map(_NAMES_SPEAKER.match, part))
        for value in fields.values()
        if isinstance(value, list)
        for part in value
    )


def read_list(items: list[object]) -> FileReading | PlainText:
    """Read a list of turns, or of one interview; raises `FileRefused` for anything else."""
    return _read_records(list(records_of(items)), Form.DIALOGUE_JSON)


def read_jsonl(text: str) -> FileReading | PlainText:
    """Read a file of one turn a line, or of one interview on one line.

    Raises `FileRefused` for lines of several interviews, and for a line in another form.
    """
    records: list[Record] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if len(records) == MOST_UTTERANCES:
            raise FileRefused(FileFault.TOO_LARGE, number)
        records.append(_record(line, number))
    return _read_records(records, Form.JSONL)


def _record(line: str, number: int) -> Record:
    try:
        value = read_json_value(line, number)
    except NotJson:
        raise FileRefused(FileFault.BROKEN_ROW, number) from None
    if not isinstance(value, dict):
        raise FileRefused(FileFault.BROKEN_ROW, number)
    return Record(fields=value, number=number)


def is_turn(fields: Mapping[str, object]) -> bool:
    """Tell a turn from a whole interview: it has words, and says who speaks."""
    if any(fields.get(name) is not None for name in DIALOGUES):
        return False
    has_words = any(name in fields for name in _WORDS)
    return has_words and any(name in fields for name in _SPEAKERS)


def _read_records(records: Sequence[Record], form: Form) -> FileReading | PlainText:
    interviews = [record for record in records if not is_turn(record.fields)]
    if not interviews:
        _refuse_several(records)
        return _gathered(iter(records), form, ())
    if len(interviews) < len(records):
        raise FileRefused(FileFault.UNKNOWN_FORM, interviews[0].number)
    readings = [
        read_dialogue(record.fields, number=record.number, form=form) for record in records[:2]
    ]
    if len(readings) > 1:
        raise FileRefused(FileFault.SEVERAL_INTERVIEWS, records[1].number)
    return readings[0]


def _refuse_several(turns: Sequence[Record]) -> None:
    for name in _INTERVIEWS:
        for turn in turns:
            if turn.fields.get(name) != turns[0].fields.get(name):
                raise FileRefused(FileFault.SEVERAL_INTERVIEWS, turn.number)


def _exchanged(whole: Record) -> Iterator[Record]:
    """Yield the turns of all exchanges, numbered through from 1."""
    exchanges = whole.fields["conversations"]
    if not isinstance(exchanges, list):
        raise whole.refused()
    turns: list[object] = []
    for exchange in exchanges:
        if not isinstance(exchange, list):
            raise FileRefused(FileFault.BROKEN_ROW, len(turns) + 1)
        turns += exchange
    return records_of(turns)


def _gathered(
    turns: Iterator[Record], form: Form, speakers: tuple[tuple[str, str], ...]
) -> FileReading:
    gathering = Gathering(form)
    names: dict[str | None, object] = {}
    for turn in turns:
        speaker, words = _only(turn, _SPEAKERS), _only(turn, _WORDS)
        if words is None or speaker is None:
            raise turn.refused()
        name = turn.fields.get(_NAME)
        if names.setdefault(turn.label(speaker), name) != name:
            raise turn.refused()
        gathering.add(
            turn.label(speaker),
            turn.text(words),
            line=turn.number,
            start=turn.seconds("start", gathering),
            end=turn.seconds("end", gathering),
        )
    return gathering.reading(speakers)


def _only(turn: Record, names: tuple[str, ...]) -> str | None:
    """Return which of the names a turn has; raises `FileRefused` where it has several."""
    found = [name for name in names if name in turn.fields]
    if len(found) > 1:
        raise turn.refused()
    return found[0] if found else None


def _roles(whole: Record) -> tuple[tuple[str, str], ...]:
    if whole.fields.get("speakers") is None:
        return ()
    speakers = whole.record("speakers").fields
    roles: list[tuple[str, str]] = []
    for label, role in speakers.items():
        if not isinstance(role, str) or role not in ROLES:
            raise whole.refused()
        roles.append((label, role))
    return tuple(roles)
