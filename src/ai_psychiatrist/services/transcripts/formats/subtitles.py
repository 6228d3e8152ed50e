"""Subtitle files: cues with times, voices where the file names them, and no line lost unsaid."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from webvtt import Caption, sbv, srt, vtt
from webvtt.errors import MalformedCaptionError, MalformedFileError
from webvtt.models import Timestamp

from ai_psychiatrist.services.transcripts.file_lines import MOST_UTTERANCES, lines_of
from ai_psychiatrist.services.transcripts.formats.cue_text import has_voices, voice_spans
from ai_psychiatrist.services.transcripts.speakers_line import speakers_named
from ai_psychiatrist.services.transcripts.times import MOST_SECONDS
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Noted,
    ReadingNote,
    Utterance,
)

_MOST_CUES: Final = MOST_UTTERANCES // 2
"""Of one second each, these are more than a day."""
_SBV_TIMES: Final = re.compile(r"\s*\d+:\d+:\d+\.\d+\s*,\s*\d+:\d+:\d+\.\d+\s*")
_SBV_BREAK: Final = re.compile(r"\[br\]", re.IGNORECASE)
_COMMENTS: Final = ("NOTE", "STYLE", "REGION")


def read_subtitles(text: str, form: Form) -> FileReading:
    """Read the cues of a file in order; labels are the names of voices.

    `form`: WebVTT, SRT or SBV. A line of a cue without a voice is nobody's and keeps its labels
    and dashes. Lines that belong to no cue are noted. Who is who may be said in the header or a
    note of WebVTT, and in the first line of the others. Raises `FileRefused` for another form,
    and where no cue has words.
    """
    lines = _numbered(lines_of(text))
    if sum(_is_times(line, form) for line in lines) > _MOST_CUES:
        raise FileRefused(FileFault.TOO_LARGE)
    speakers = _named(lines[0]) if lines and form is not Form.WEBVTT else ()
    lines = _from_words(lines[1:] if speakers else lines)
    if not lines:
        raise FileRefused(FileFault.NO_WORDS)
    captions = _captions(lines, form)
    placed = list(_placed(captions, form))
    comments, lost = _outside_cues(lines, captions, form)
    if not any(piece.words for piece in placed):
        raise _without_words(lost)
    notes = [*_of_cues(captions, placed), *_of_pieces(placed)]
    notes += (Noted(note=ReadingNote.WORDS_WITHOUT_TIMES, line=number) for number in lost)
    return FileReading(
        form=form,
        utterances=tuple(piece.utterance() for piece in placed if piece.words),
        notes=tuple(notes),
        speakers=(*speakers, *(pair for line in comments for pair in _named(line))),
    )


def _without_words(lost: Sequence[int]) -> FileRefused:
    if lost:
        return FileRefused(FileFault.SUBTITLES_REFUSED, lost[0])
    return FileRefused(FileFault.NO_WORDS)


class _Line(str):
    """A line that knows its place in the file; the library hands on the lines that it is given."""

    __slots__ = ("number",)
    number: int


def _numbered(written: Sequence[str]) -> list[_Line]:
    lines = [_Line(words) for words in written]
    for number, line in enumerate(lines, start=1):
        line.number = number
    return _from_words(lines)


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


def _named(line: str) -> tuple[tuple[str, str], ...]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Words, if any, of one voice in one cue."""

    cue: int
    line: int | None
    voice: str | None = field(repr=False)
    words: str = field(repr=False)
    start_seconds: float | None
    end_seconds: float | None

    def utterance(self) -> Utterance:
        return Utterance(
            label=self.voice,
            words=self.words,
            start_seconds=self.start_seconds,
            end_seconds=self.end_seconds,
        )


def _placed(captions: Sequence[Caption], form: Form) -> Iterator[_Piece]:
    count = 0
    for index, caption in enumerate(captions):
        text = caption.raw_text
        for span in voice_spans(_SBV_BREAK.sub("<br>", text) if form is Form.SBV else text):
            count += 1
            if count > MOST_UTTERANCES:
                raise FileRefused(FileFault.TOO_LARGE)
            yield _Piece(
                cue=index,
                line=_number(caption.lines[span.line]) if caption.lines else None,
                voice=span.voice,
                words=span.words,
                start_seconds=_seconds(caption.start_time),
                end_seconds=_seconds(caption.end_time),
            )


def _seconds(time: Timestamp) -> float | None:
    seconds = time.in_milliseconds() / 1000
    return seconds if seconds <= MOST_SECONDS else None


def _of_cues(captions: Sequence[Caption], placed: Sequence[_Piece]) -> Iterator[Noted]:
    with_words = {piece.cue for piece in placed if piece.words}
    for index, caption in enumerate(captions):
        if caption.lines and index not in with_words:
            yield Noted(note=ReadingNote.BLANK_WORDS, line=_number(caption.lines[0]))
    if any(has_voices(caption.raw_text) for caption in captions):
        for piece in placed:
            if piece.voice is None:
                yield Noted(note=ReadingNote.WORDS_WITHOUT_SPEAKER, line=piece.line)


def _of_pieces(placed: Sequence[_Piece]) -> Iterator[Noted]:
    with_words = {piece.cue for piece in placed if piece.words}
    for piece in placed:
        if piece.start_seconds is None or piece.end_seconds is None:
            yield Noted(note=ReadingNote.TIME_UNREADABLE, line=piece.line)
        if not piece.words and piece.cue in with_words:
            yield Noted(note=ReadingNote.BLANK_WORDS, line=piece.line)
    for one, other in pairwise(piece for piece in placed if piece.words):
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
        in_comment = in_comment or (is_first and form is Form.WEBVTT and _is_comment(line))
        is_first = False
        if in_comment:
            comments.append(line)
        elif line.number not in kept and not is_name:
            lost.append(line.number)
    return comments, lost


def _is_comment(line: str) -> bool:
    return line.split(maxsplit=1)[0] in _COMMENTS
