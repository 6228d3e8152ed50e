"""Caption files (WebVTT, SRT, SBV): cues with times, and voices where the file names them."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Final

from webvtt import Caption, sbv, srt, vtt
from webvtt.errors import MalformedCaptionError, MalformedFileError
from webvtt.models import Timestamp

from ai_psychiatrist.services.transcripts.lines import (
    MOST_SECONDS,
    MOST_UTTERANCES,
    lines_of,
    on_one_line,
    speakers_named,
)
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Noted,
    ReadingNote,
    Roles,
    Utterance,
)

_MOST_CUES: Final = MOST_UTTERANCES // 2
"""Of one second each, these are more than a day."""
_SBV_TIMES: Final = re.compile(r"\s*\d+:\d+:\d+\.\d+\s*,\s*\d+:\d+:\d+\.\d+\s*")
_SBV_BREAK: Final = re.compile(r"\[br\]", re.IGNORECASE)
_COMMENTS: Final = ("NOTE", "STYLE", "REGION")
_VOICE: Final = re.compile(r"<(/?)v(?!\w)([^<>]*)(>?)", re.IGNORECASE)
_NAME: Final = re.compile(r"(?:\.\S*)?(?:\s+(\S.*))?\s*", re.DOTALL)
_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG: Final = re.compile(
    r"</?(?:[bcius]|ruby|rt)(?:\.[^\s<>]*)?\s*>|</?(?:lang|font)(?:[.\s][^<>]*)?>"
    r"|<(?:\d+:)?\d+:\d+\.\d+>",
    re.IGNORECASE,
)
_STYLE: Final = re.compile(r"\{\\[^{}]*\}")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_SPEAKER_MARK: Final = re.compile(r"(?:[-–—‐]|>>|&gt;&gt;)+")
_OTHER_SPEAKER: Final = re.compile(r"(?<=\n)[^\S\n]*[-–—‐]|>>|&gt;&gt;")
_BLANK: Final = "\u200b\u200e\u200f\ufeff"


class _Line(str):
    """A line that knows its place in the file; the library hands on the lines that it is given."""

    __slots__ = ("number",)
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceSpan:
    """Words of one voice on one line; a voice that is named may say nothing."""

    voice: str | None = field(repr=False)
    words: str = field(repr=False)
    line: int | None
    """On which of the lines of the cue they begin, from 0; then, on which of the file's."""
    cue: int = 0


def read_subtitles(text: str, form: Form) -> FileReading:
    """Read the cues of a file in order; labels are the names of voices.

    `form`: WebVTT, SRT or SBV. A line of a cue without a voice is nobody's and keeps its labels
    and dashes. Lines that belong to no cue are noted. Who is who may be said in the header or a
    note of WebVTT, and in the first line of the others. Raises `FileRefused` for another form,
    and where no cue has words.
    """
    lines = [_Line(line) for line in lines_of(text)]
    for number, line in enumerate(lines, start=1):
        line.number = number
    lines = _from_words(lines)
    if sum(_is_times(line, form) for line in lines) > _MOST_CUES:
        raise FileRefused(FileFault.TOO_LARGE)
    speakers = _named(lines[0]) if lines and form is not Form.WEBVTT else ()
    lines = _from_words(lines[1:] if speakers else lines)
    if not lines:
        raise FileRefused(FileFault.NO_WORDS)
    captions = _captions(lines, form)
    spans = list(islice(_spans(captions, form), MOST_UTTERANCES + 1))
    if len(spans) > MOST_UTTERANCES:
        raise FileRefused(FileFault.TOO_LARGE)
    comments, lost = _outside_cues(lines, captions, form)
    if not any(span.words for span in spans):
        fault = FileFault.SUBTITLES_REFUSED if lost else FileFault.NO_WORDS
        raise FileRefused(fault, lost[0] if lost else None)
    times = [(_seconds(one.start_time), _seconds(one.end_time)) for one in captions]
    notes = [*_of_cues(captions, spans), *_of_spans(spans, times)]
    notes += (Noted(note=ReadingNote.WORDS_WITHOUT_TIMES, line=number) for number in lost)
    return FileReading(
        form=form,
        utterances=tuple(
            Utterance(
                label=span.voice,
                words=span.words,
                start_seconds=times[span.cue][0],
                end_seconds=times[span.cue][1],
            )
            for span in spans
            if span.words
        ),
        notes=tuple(notes),
        speakers=(*speakers, *(pair for line in comments for pair in _named(line))),
    )


def _from_words(lines: list[_Line]) -> list[_Line]:
    """Leave out the blank lines that a file begins with."""
    first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    return lines[first:]


def _is_times(line: str, form: Form) -> bool:
    """Tell the line that begins a cue, malformed times too, from words with an arrow."""
    if form is Form.SBV:
        return _SBV_TIMES.fullmatch(line) is not None
    before, arrow, _ = line.partition("-->")
    return bool(arrow) and ":" in before and len(before.split()) == 1


def _named(line: str) -> Roles:
    return speakers_named(line.removeprefix("WEBVTT").removeprefix("NOTE").lstrip(" \t-:"))


def _captions(lines: Sequence[_Line], form: Form) -> Sequence[Caption]:
    try:
        match form:
            case Form.WEBVTT:
                return vtt.parse(lines).captions
            case Form.SRT:
                return srt.parse([lines[0].strip(), *lines[1:]])
            case _:
                return sbv.parse(lines)
    except (MalformedFileError, MalformedCaptionError, ValueError):
        raise FileRefused(FileFault.SUBTITLES_REFUSED, lines[0].number) from None


def _number(line: str) -> int | None:
    return line.number if isinstance(line, _Line) else None


def _spans(captions: Sequence[Caption], form: Form) -> Iterator[VoiceSpan]:
    for cue, caption in enumerate(captions):
        text = caption.raw_text
        for span in voice_spans(_SBV_BREAK.sub("<br>", text) if form is Form.SBV else text):
            lines = caption.lines
            number = _number(lines[span.line or 0]) if lines else None
            yield replace(span, cue=cue, line=number)


def _seconds(time: Timestamp) -> float | None:
    seconds = time.in_milliseconds() / 1000
    return seconds if seconds <= MOST_SECONDS else None


def _of_cues(captions: Sequence[Caption], spans: Sequence[VoiceSpan]) -> Iterator[Noted]:
    with_words = {span.cue for span in spans if span.words}
    for index, caption in enumerate(captions):
        if caption.lines and index not in with_words:
            yield Noted(note=ReadingNote.BLANK_WORDS, line=_number(caption.lines[0]))
    if any(_VOICE.search(caption.raw_text) for caption in captions):
        for span in spans:
            if span.voice is None:
                yield Noted(note=ReadingNote.WORDS_WITHOUT_SPEAKER, line=span.line)


def _of_spans(
    spans: Sequence[VoiceSpan], times: Sequence[tuple[float | None, float | None]]
) -> Iterator[Noted]:
    with_words = {span.cue for span in spans if span.words}
    for span in spans:
        if None in times[span.cue]:
            yield Noted(note=ReadingNote.TIME_UNREADABLE, line=span.line)
        if not span.words and span.cue in with_words:
            yield Noted(note=ReadingNote.BLANK_WORDS, line=span.line)
    for one, other in pairwise(span for span in spans if span.words):
        is_next = other.cue == one.cue + 1
        if is_next and (one.voice, one.words) == (other.voice, other.words):
            yield Noted(note=ReadingNote.REPEATED_WORDS, line=other.line)


def _outside_cues(
    lines: Sequence[_Line], captions: Sequence[Caption], form: Form
) -> tuple[list[str], list[int]]:
    """Return the lines of comments, and the numbers of lines with words that are in no cue."""
    kept = {_number(line) for caption in captions for line in caption.lines}
    comments: list[str] = []
    lost: list[int] = []
    is_first, in_comment = True, form is Form.WEBVTT
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.strip() or _is_times(line, form):
            is_first, in_comment = not line.strip(), False
            continue
        is_name = _is_times(following, form) and (is_first or line.strip().isdecimal())
        in_comment = in_comment or (
            is_first and form is Form.WEBVTT and line.split()[0] in _COMMENTS
        )
        is_first = False
        if in_comment:
            comments.append(line)
        elif line.number not in kept and not is_name:
            lost.append(line.number)
    return comments, lost


def voice_spans(text: str) -> Iterator[VoiceSpan]:
    """Yield the words of a cue in order, each line without a voice on its own.

    A voice lasts to its end tag, to the next voice, to the end of the cue, or to a line that
    begins with the mark of another speaker. A voice tag without a name or without its end names
    nobody, and what a tag without an end holds is kept as words. Tags and styles that are no
    words are dropped, entities decoded.
    """
    voice: str | None = None
    start = line = 0
    for tag in _VOICE.finditer(text):
        closing, name, end = tag.groups()
        named = _NAME.fullmatch(name) if end else None
        following = _plain(named[1] or "") if named and not closing else ""
        if voice is None and not following and named is None:
            continue
        yield from _of_voice(text[start : tag.start()], voice, line)
        line += text.count("\n", start, tag.start())
        voice = following or None
        start = tag.end() if named else tag.start()
        line += text.count("\n", tag.start(), start)
    yield from _of_voice(text[start:], voice, line)


def _of_voice(text: str, voice: str | None, line: int) -> Iterator[VoiceSpan]:
    other = 0
    if voice is not None:
        other = _other_speaker(text)
        yield VoiceSpan(voice=voice, words=_plain(text[:other]), line=line)
        line += text.count("\n", 0, other)
    for at, words in enumerate(text[other:].split("\n"), start=line):
        for part in _BREAK.split(words):
            if plain := _plain(part):
                yield VoiceSpan(voice=None, words=plain, line=at)


def _other_speaker(text: str) -> int:
    """Return where the words of a voice stop being its own."""
    first = len(text) - len(text.lstrip())
    own_mark = _SPEAKER_MARK.match(text, first)
    other = _OTHER_SPEAKER.search(text, own_mark.end() if own_mark else first)
    return other.start() if other else len(text)


def _plain(written: str) -> str:
    """Return words without markup, on one line; "" for those of which nothing is seen."""
    if not written:
        return ""
    bare = _TAG.sub("", _STYLE.sub("", _BREAK.sub(" ", written)))
    words = _ENTITY.sub(lambda entity: html.unescape(entity[0]), bare)
    words = on_one_line(words)
    return words if words.strip(_BLANK) else ""
