"""Conversations in JSON: of this program, chat models and data sets, whole or a turn a line."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.services.transcripts.formats.gathering import Gathering
from ai_psychiatrist.services.transcripts.formats.json_records import (
    Record,
    read_json_value,
    records_of,
)
from ai_psychiatrist.services.transcripts.lines import MOST_UTTERANCES
from ai_psychiatrist.services.transcripts.speaker_labels import GIVEN_ROLES
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    PlainText,
    Roles,
)
from ai_psychiatrist.validation.reply.json_decoder import NotJson

DIALOGUES: Final = ("turns", "messages", "conversations")
_SPEAKERS: Final = frozenset({"speaker", "role", "from"})
_NAME: Final = "name"
"""Of who speaks, alone or with a role; of one role with several names each is a speaker."""
_NAMES_SPEAKER: Final = re.compile(r"speaker|role\Z|spk", re.IGNORECASE)
_WORDS: Final = frozenset({"text", "content", "value"})
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
    return _gathered(_turns(whole, names[0]), form, speakers)


def _has_speakers_elsewhere(fields: Mapping[str, object]) -> bool:
    """Return whether another list says who said what, in a form that is not known."""
    return any(
        isinstance(part, dict) and any(map(_NAMES_SPEAKER.match, part))
        for value in fields.values()
        if isinstance(value, list)
        for part in value
    )


def read_list(items: list[object]) -> FileReading | PlainText:
    """Read a list of turns, or of one interview; raises `FileRefused` for anything else."""
    return _read_records(records_of(items), Form.DIALOGUE_JSON)


def read_jsonl(text: str) -> FileReading | PlainText:
    """Read a file of one turn a line, or of one interview on one line.

    Raises `FileRefused` for lines of several interviews, and for a line in another form.
    """
    gathering = Gathering()
    records: list[Record] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if len(records) == MOST_UTTERANCES:
            raise FileRefused(FileFault.TOO_LARGE, number)
        try:
            value = read_json_value(line, number)
        except NotJson:
            value = None
        if not isinstance(value, dict):
            raise FileRefused(FileFault.BROKEN_ROW, number)
        records.append(Record(fields=value, number=number, gathering=gathering))
    return _read_records(records, Form.JSONL)


def is_turn(fields: Mapping[str, object]) -> bool:
    """Tell a turn from a whole interview: it has words, and says who speaks."""
    if any(fields.get(name) is not None for name in DIALOGUES):
        return False
    return not _WORDS.isdisjoint(fields) and not _SPEAKERS.isdisjoint(fields)


def _read_records(records: Sequence[Record], form: Form) -> FileReading | PlainText:
    interviews = [record for record in records if not is_turn(record.fields)]
    if not interviews or _are_named(records):
        _refuse_several(records)
        return _gathered(records, form, ())
    if len(interviews) < len(records):
        raise FileRefused(FileFault.UNKNOWN_FORM, interviews[0].number)
    readings = [
        read_dialogue(record.fields, number=record.number, form=form) for record in records[:2]
    ]
    if len(readings) > 1:
        raise FileRefused(FileFault.SEVERAL_INTERVIEWS, records[1].number)
    return readings[0]


def _are_named(records: Sequence[Record]) -> bool:
    """Tell turns that only a name says the speakers of: names recur, and those of files do not."""
    if any(_NAME not in one.fields or _WORDS.isdisjoint(one.fields) for one in records):
        return False
    return 1 < len({str(one.fields[_NAME]) for one in records}) < len(records)


def _refuse_several(turns: Sequence[Record]) -> None:
    for name in _INTERVIEWS:
        for turn in turns:
            if turn.fields.get(name) != turns[0].fields.get(name):
                raise FileRefused(FileFault.SEVERAL_INTERVIEWS, turn.number)


def _turns(whole: Record, name: str) -> list[Record]:
    """Return the turns of a list, or of all exchanges in it, numbered through from 1."""
    listed = whole.fields[name]
    holds_turns = not isinstance(listed, list) or not listed or isinstance(listed[0], dict)
    if name != "conversations" or not isinstance(listed, list) or holds_turns:
        return list(whole.records(name))
    turns: list[object] = []
    for exchange in listed:
        if not isinstance(exchange, list):
            raise FileRefused(FileFault.BROKEN_ROW, len(turns) + 1)
        turns += exchange
    return records_of(turns)


def _gathered(turns: Sequence[Record], form: Form, speakers: Roles) -> FileReading:
    gathering = turns[0].gathering if turns else Gathering()
    fields = [_only(turn, _SPEAKERS) for turn in turns]
    has_names_alone = not any(fields)
    names: dict[str | None, set[object]] = {}
    said: list[tuple[Record, str | None, str]] = []
    for turn, speaker in zip(turns, fields, strict=True):
        field, words = _NAME if has_names_alone else speaker, _only(turn, _WORDS)
        # A conversation names its speakers: a number there is one of something else.
        if words is None or field is None or isinstance(turn.fields.get(field, 0), int):
            raise turn.refused()
        label = turn.label(field)
        names.setdefault(label, set()).add(turn.optional_text(_NAME))
        said.append((turn, label, _words(turn, words)))
    for turn, label, words in said:
        is_shared = len(names[label]) > 1
        if is_shared and None in names[label]:
            raise turn.refused()
        gathering.add(
            turn.label(_NAME) if is_shared else label,
            words,
            line=turn.number,
            start=turn.seconds("start"),
            end=turn.seconds("end"),
        )
    return gathering.reading(form, speakers)


def _words(turn: Record, name: str) -> str:
    """Return what is said, by itself or in parts, all of which have to be text."""
    if not isinstance(turn.fields[name], list):
        return turn.text(name)
    return "\n".join(part.text("text") for part in turn.parts(name))


def _only(turn: Record, names: frozenset[str]) -> str | None:
    """Return which of the names a turn has; raises `FileRefused` where it has several."""
    found = [name for name in names if name in turn.fields]
    if len(found) > 1:
        raise turn.refused()
    return found[0] if found else None


def _roles(whole: Record) -> Roles:
    if whole.fields.get("speakers") is None:
        return ()
    speakers = whole.record("speakers").fields
    roles: list[tuple[str, str]] = []
    for label, role in speakers.items():
        if not isinstance(role, str) or role not in GIVEN_ROLES:
            raise whole.refused()
        roles.append((label, role))
    return tuple(roles)
