"""The forms of a transcript: what tells each by its content or by the ending of its file's name."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ai_psychiatrist.services.transcripts.encoding import decode_text, given_text, refuse_foreign
from ai_psychiatrist.services.transcripts.formats.captions import read_subtitles
from ai_psychiatrist.services.transcripts.formats.chat import is_chat, read_chat
from ai_psychiatrist.services.transcripts.formats.chat_json import (
    is_turn,
    read_dialogue,
    read_jsonl,
    read_list,
)
from ai_psychiatrist.services.transcripts.formats.daic_woz import (
    DEFAULT_POLICY,
    RowPolicy,
    read_daic_woz,
    read_e_daic,
)
from ai_psychiatrist.services.transcripts.formats.documents import ARCHIVE, read_paragraphs
from ai_psychiatrist.services.transcripts.formats.json_records import Record, read_json_value
from ai_psychiatrist.services.transcripts.formats.recognisers import (
    is_of_sentences,
    read_recognised,
)
from ai_psychiatrist.services.transcripts.formats.tables import read_any_table
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Noted,
    PlainText,
    ReadingNote,
)
from ai_psychiatrist.validation.reply.json_decoder import NotJson

_TIME: Final = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_SPAN: Final = rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}"
_WEBVTT: Final = re.compile(r"WEBVTT(?:[ \t]++(?P<words>[^\r\n]*))?(?=[\r\n]|\Z)")
_CUE: Final = re.compile(rf"^{_SPAN}", re.MULTILINE)
_SRT: Final = re.compile(rf"(?:[ \t]*\d{{1,9}}[ \t]*(?:\r\n|\n|\r))?{_SPAN}")
_SBV: Final = re.compile(r"\d{1,3}:\d{2}:\d{2}\.\d{1,3},\d{1,3}:\d{2}:\d{2}\.\d{1,3}[ \t]*[\r\n]")
_WHO_IS_WHO: Final = re.compile(r"\Aspeakers[ \t]*:[^\r\n]*[\r\n]\s*", re.IGNORECASE)
_JSON: Final = re.compile(r"(?:\[\s*)*+\{\s*[\"}]|(?:\[\s*){3}|\[\s*\"[^\"]*\"\s*,")
"""How JSON begins, and hardly a sentence."""
_SESSION: Final = re.compile(r"(?:\A|[/\\])(\d{1,9})_transcript\b", re.IGNORECASE)


def _begins_as(pattern: re.Pattern[str], begun: str) -> bool:
    """Whether a text begins so, behind a line that says who is who."""
    found = pattern.match(_WHO_IS_WHO.sub("", begun, count=1))
    words = found and found.groupdict().get("words")
    return found is not None and (not words or _CUE.search(begun) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """A format that is recognised by the start of its text."""

    ending: str
    begins: Callable[[str], bool]
    """Of a text without blanks in front."""
    read: Callable[[str], FileReading]
    is_by_ending: bool = True
    """Whether a text that begins otherwise is read so if its file's name ends so."""


def _captions(ending: str, form: Form, begins: re.Pattern[str]) -> _Known:
    return _Known(
        ending=ending,
        begins=partial(_begins_as, begins),
        read=partial(read_subtitles, form=form),
    )


_BY_BEGINNING: Final = (
    _captions(".vtt", Form.WEBVTT, _WEBVTT),
    _captions(".srt", Form.SRT, _SRT),
    _captions(".sbv", Form.SBV, _SBV),
    _Known(ending=".cha", begins=is_chat, read=read_chat, is_by_ending=False),
)
_DOCUMENT_ENDING: Final = ".docx"
_TEXT_ENDINGS: Final = (".txt", ".text")
_JSON_ENDING: Final = ".json"
LINE_ENDINGS: Final = (".jsonl", ".ndjson")
"""Of files with a JSON object on each line."""
TABLE_ENDINGS: Final = (".csv", ".tsv")
_OF_RECORDS: Final = (_JSON_ENDING, *LINE_ENDINGS, *TABLE_ENDINGS)
_OF_ONE_INTERVIEW: Final = (
    _TEXT_ENDINGS[0],
    _DOCUMENT_ENDING,
    TABLE_ENDINGS[0],
    _JSON_ENDING,
    *(known.ending for known in _BY_BEGINNING),
)
NAMED_ENDINGS: Final = f"{', '.join(_OF_ONE_INTERVIEW[:-1])} or {_OF_ONE_INTERVIEW[-1]}"
"""Those of one interview, as a sentence names them."""
ENDINGS: Final = frozenset({*_OF_ONE_INTERVIEW, *_TEXT_ENDINGS, *_OF_RECORDS})
"""Of all files that may be transcripts, in small letters, with their dot."""


def read_content(
    content: bytes | str, *, name: str = "", rows: RowPolicy = DEFAULT_POLICY
) -> FileReading | PlainText:
    """Read a transcript in any form that is known; plain text is given back for its labels.

    `name`: of the file; it numbers a session of DAIC-WOZ, and says what its writer took for JSON, a
    table or subtitles. Raises `FileRefused` for what cannot be read without losing words.
    """
    refuse_foreign(content, name=name)
    if isinstance(content, bytes) and content.startswith(ARCHIVE):
        return read_paragraphs(content)
    decoded = decode_text(content) if isinstance(content, bytes) else given_text(content)
    reading = _read(decoded.text, name, rows)
    assumed = (Noted(note=ReadingNote.ENCODING_ASSUMED),) if decoded.is_assumed else ()
    return replace(reading, encoding=decoded.encoding, notes=(*assumed, *reading.notes))


def _read(text: str, name: str, rows: RowPolicy) -> FileReading | PlainText:
    begun = text.lstrip()
    refuse_foreign(begun, name="")
    for known in _BY_BEGINNING:
        if known.begins(begun):
            return known.read(text)
    if begun.startswith(("{", "[")):
        return _read_json(text, begun, name)
    return _read_rows(text, name, rows)


def _read_json(text: str, begun: str, name: str) -> FileReading | PlainText:
    """Read JSON; what only begins like it is plain text, unless nothing but JSON begins so."""
    is_json = _JSON.match(begun) is not None or name.casefold().endswith(
        (_JSON_ENDING, *LINE_ENDINGS)
    )
    try:
        value = read_json_value(text)
    except (FileRefused, NotJson) as error:
        if not is_json:
            return PlainText(form=Form.TEXT, text=text)
        if isinstance(error, FileRefused):
            raise
        value = None
    if value is None:
        return read_jsonl(text)
    if isinstance(value, list) and not is_of_sentences(value):
        return read_list(value)
    fields = value if isinstance(value, dict) else {"sentences": value}
    return read_recognised(Record(fields=fields, number=1)) or (
        read_jsonl(text) if is_turn(fields) else read_dialogue(fields)
    )


def _read_rows(text: str, name: str, rows: RowPolicy) -> FileReading | PlainText:
    session = _SESSION.search(name)
    number = int(session[1]) if session else None
    table = (
        read_daic_woz(text, session=number, policy=rows)
        or read_e_daic(text)
        or read_any_table(text)
    )
    if table is not None:
        return table
    plain = name.casefold()
    if plain.endswith(_OF_RECORDS):
        raise FileRefused(FileFault.UNKNOWN_FORM)
    named = (one for one in _BY_BEGINNING if one.is_by_ending and plain.endswith(one.ending))
    known = next(named, None)
    return known.read(text) if known else PlainText(form=Form.TEXT, text=text)
