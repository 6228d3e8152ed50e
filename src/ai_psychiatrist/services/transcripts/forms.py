"""The way in for what a file holds: tells its form by its content, and reads it."""

import re
from dataclasses import replace
from typing import Final

from ai_psychiatrist.services.transcripts.encoding import DecodedText, decode_text, given_text
from ai_psychiatrist.services.transcripts.formats.daic_woz import (
    DEFAULT_POLICY,
    RowPolicy,
    is_daic_woz,
    read_daic_woz,
)
from ai_psychiatrist.services.transcripts.formats.dialogue_json import (
    is_turn,
    read_dialogue,
    read_jsonl,
    read_list,
)
from ai_psychiatrist.services.transcripts.formats.documents import ARCHIVE, read_paragraphs
from ai_psychiatrist.services.transcripts.formats.e_daic import is_e_daic, read_e_daic
from ai_psychiatrist.services.transcripts.formats.json_records import Record, read_json_value
from ai_psychiatrist.services.transcripts.formats.speech_json import speech_reader
from ai_psychiatrist.services.transcripts.formats.subtitles import read_subtitles
from ai_psychiatrist.services.transcripts.formats.tables import header_of, is_table, read_table
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
_FOREIGN: Final = re.compile(
    r"\{\\rtf|<!doctype|<html|<\?xml|%PDF-|\[Script Info\]|File type = \"ooTextFile", re.IGNORECASE
)
_JSON: Final = re.compile(r"(?:\[\s*)*+\{\s*[\"}]|(?:\[\s*){3}|\[\s*\"[^\"]*\"\s*,")
"""How JSON begins, and hardly a sentence."""
_SESSION: Final = re.compile(r"(?:\A|[/\\])(\d{1,9})_transcript\b", re.IGNORECASE)
_JSON_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
_TABLE_SUFFIXES: Final = (".csv", ".tsv")
_SUBTITLE_SUFFIXES: Final = {".vtt": Form.WEBVTT, ".srt": Form.SRT, ".sbv": Form.SBV}


def read_content(
    content: bytes | str, *, name: str = "", rows: RowPolicy = DEFAULT_POLICY
) -> FileReading | PlainText:
    """Read a transcript in any form that is known; plain text is given back for its labels.

    `name`: of the file; it numbers a session of DAIC-WOZ, and says what its writer took for JSON, a
    table or subtitles. Raises `FileRefused` for what cannot be read without losing words, and
    `ConfigurationError` for a form whose library is not installed.
    """
    if isinstance(content, bytes) and content.startswith(ARCHIVE):
        return read_paragraphs(content)
    decoded = decode_text(content) if isinstance(content, bytes) else given_text(content)
    return _with_encoding(_read(decoded.text, name, rows), decoded)


def _with_encoding(
    reading: FileReading | PlainText, decoded: DecodedText
) -> FileReading | PlainText:
    assumed = (Noted(note=ReadingNote.ENCODING_ASSUMED),) if decoded.is_assumed else ()
    return replace(reading, encoding=decoded.encoding, notes=(*assumed, *reading.notes))


def _read(text: str, name: str, rows: RowPolicy) -> FileReading | PlainText:
    begun = text.lstrip()
    if _FOREIGN.match(begun):
        raise FileRefused(FileFault.UNKNOWN_FORM)
    form = _subtitles(begun)
    if form is not None:
        return read_subtitles(text, form)
    if begun.startswith(("{", "[")):
        return _read_json(text, begun, name)
    return _read_rows(text, name, rows)


def _subtitles(begun: str) -> Form | None:
    begun = _WHO_IS_WHO.sub("", begun, count=1)
    webvtt = _WEBVTT.match(begun)
    if webvtt and (not webvtt["words"] or _CUE.search(begun)):
        return Form.WEBVTT
    if _SRT.match(begun):
        return Form.SRT
    return Form.SBV if _SBV.match(begun) else None


def _read_json(text: str, begun: str, name: str) -> FileReading | PlainText:
    """Read JSON; what only begins like it is plain text, unless nothing but JSON begins so."""
    is_json = _JSON.match(begun) is not None or name.casefold().endswith(_JSON_SUFFIXES)
    try:
        value = read_json_value(text)
    except FileRefused:
        if is_json:
            raise
        return PlainText(form=Form.TEXT, text=text)
    except NotJson:
        if is_json:
            return read_jsonl(text)
        return PlainText(form=Form.TEXT, text=text)
    if isinstance(value, list):
        return read_list(value)
    return _read_object(value, text)


def _read_object(value: object, text: str) -> FileReading | PlainText:
    if not isinstance(value, dict):
        raise FileRefused(FileFault.UNKNOWN_FORM)
    whole = Record(fields=value, number=1)
    reader = speech_reader(whole)
    if reader is not None:
        return reader(whole)
    return read_jsonl(text) if is_turn(value) else read_dialogue(value)


def _read_rows(text: str, name: str, rows: RowPolicy) -> FileReading | PlainText:
    if is_daic_woz(text):
        return read_daic_woz(text, session=_session(name), policy=rows)
    if is_e_daic(text):
        return read_e_daic(text)
    header = header_of(text)
    if header is not None and is_table(text, header):
        return read_table(text, header)
    if name.casefold().endswith((*_JSON_SUFFIXES, *_TABLE_SUFFIXES)):
        raise FileRefused(FileFault.UNKNOWN_FORM)
    form = _SUBTITLE_SUFFIXES.get(name.casefold()[-4:])
    return read_subtitles(text, form) if form else PlainText(form=Form.TEXT, text=text)


def _session(name: str) -> int | None:
    found = _SESSION.search(name)
    return int(found[1]) if found else None
