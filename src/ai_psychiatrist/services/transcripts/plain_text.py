"""Cuts a text into turns at the lines that open with a speaker's label."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.transcript import AS_TEXT, MAX_TURNS, Source, Speaker, Transcript, Turn
from ai_psychiatrist.services.transcripts.label_lines import LabelledLine, labelled_lines
from ai_psychiatrist.services.transcripts.label_words import is_name
from ai_psychiatrist.services.transcripts.labels import (
    DEFAULT_LABELS,
    EVERYBODY,
    Roles,
    SpeakerLabels,
    given_roles,
    speakers_of,
)
from ai_psychiatrist.services.transcripts.line_openings import opens_alike
from ai_psychiatrist.services.transcripts.refusals import empty, nobody_named, too_many_turns
from ai_psychiatrist.services.transcripts.speakers_line import speakers_named
from ai_psychiatrist.services.transcripts.utterances import FileFault

_HEADER: Final = re.compile(
    r"\ufeff?\s{0,200}(?:#[ \t]*)?(speakers[ \t]*:[^\r\n=]{1,200}=[^\r\n]*)", re.IGNORECASE
)
_CHANGES: Final = re.compile(r"^[^\S\r\n]*(?:>>|[–—][^\S\r\n]*[^\s\d–—-])", re.MULTILINE)
_CHANGES_OF_CAPTIONS: Final = re.compile(
    r"^[^\S\r\n]*(?:>>|[–—-][^\S\r\n]*[^\s\d–—-])", re.MULTILINE
)
_CAPTIONS: Final = frozenset({"webvtt", "srt", "sbv"})
"""Forms in which a hyphen at the beginning of a line is no mark of a list."""


def parse_transcript(
    text: str, labels: SpeakerLabels = DEFAULT_LABELS, *, source: Source = AS_TEXT
) -> Transcript:
    """Cut a text into turns.

    A line that a label opens starts a turn, any other line continues it. A first line
    `speakers: LABEL = participant, LABEL = interviewer` says who is who, unless `labels` do. Text
    without labels is one participant's own words. Raises `SpeakersUnknown` where labels do not
    tell who the participant is, and `TranscriptUnreadable` when the text is blank, holds lone
    surrogates, no words of the participant, or more than `MAX_TURNS` turns.
    """
    refuse_unusable(text)
    roles, after_header = speakers_header(text)
    # Read alone, a text has only what stands in it: its own first line counts, an option does not.
    reads_alone = labels.are_built_in
    if roles and not labels.given:
        labels = replace(labels, given=roles)
    if _is_everybodys(labels):
        return _one_speaker(text, after_header, source, is_assumed=False)
    lines = labelled_lines(text, labels, start=after_header)
    if not lines and not labels.given:
        if _changes_speaker(text, source):
            raise nobody_named("it marks that speakers change")
        if opens_alike(text):
            raise nobody_named("its lines open as if they had labels")
        return _one_speaker(text, after_header, source, is_assumed=True)
    speakers = speakers_of([line.label for line in lines], labels)
    if not labels.given and _is_head_line(text, lines, speakers):
        raise nobody_named("it only has one of the participant's in its head")
    turns = tuple(_turns(text, lines, speakers))
    if len(turns) > MAX_TURNS:
        raise too_many_turns()
    return checked(
        Transcript(
            text=text,
            turns=turns,
            speakers_assumed=False,
            reads_alone=reads_alone,
            source=source,
        )
    )


def speakers_header(text: str) -> tuple[Roles, int]:
    """Read a first line that says who is who; return its roles and the offset of its end.

    Raises `InputError` for a line that begins so and names no role.
    """
    found = _HEADER.match(text)
    if found is None:
        return (), 0
    named = speakers_named(found[1])
    if not named:
        msg = "speakers: write the first line as speakers: LABEL = participant, LABEL = interviewer"
        raise InputError(msg, field="speakers")
    return given_roles(dict(named), field="speakers"), found.end()


def refuse_unusable(text: str) -> None:
    """Raise `TranscriptUnreadable` for a text without words and for one that is no Unicode."""
    if not text.strip("\ufeff \t\r\n\v\f\u00a0\u200b"):
        raise empty()
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        msg = "the transcript holds a lone surrogate; send it as valid Unicode text"
        raise TranscriptUnreadable(msg, fault=FileFault.NOT_TEXT) from None


def checked(transcript: Transcript) -> Transcript:
    """Return a transcript in which the participant says something; else raise."""
    if not any(transcript.words(turn).strip() for turn in transcript.participant_turns()):
        msg = "the transcript has speaker labels but no words of the participant"
        raise TranscriptUnreadable(msg, fault=FileFault.NO_PARTICIPANT)
    return transcript


def _is_head_line(text: str, lines: Sequence[LabelledLine], speakers: dict[str, Speaker]) -> bool:
    """Return whether all of the participant's begins with a head such as `Participant: P07`."""
    own = [at for at, line in enumerate(lines) if speakers[line.label] is Speaker.PARTICIPANT]
    if len(own) != 1 or Speaker.INTERVIEWER in map(speakers.get, speakers):
        return False
    at = own[0]
    end = lines[at + 1].start if at + 1 < len(lines) else len(text)
    first, *others = text[lines[at].words_start : end].splitlines() or [""]
    stands_apart = bool(others) and not others[0].strip()
    return stands_apart and is_name(first.strip()) and sum(map(bool, others)) > 1


def _changes_speaker(text: str, source: Source) -> bool:
    """Return whether marks tell that somebody else goes on, without a word of who."""
    marks = _CHANGES_OF_CAPTIONS if source.form in _CAPTIONS else _CHANGES
    return sum(1 for _ in islice(marks.finditer(text), 2)) > 1


def _is_everybodys(labels: SpeakerLabels) -> bool:
    return labels.given == ((EVERYBODY, Speaker.PARTICIPANT),)


def _one_speaker(text: str, start: int, source: Source, *, is_assumed: bool) -> Transcript:
    turns = [Turn(index=0, speaker=Speaker.UNKNOWN, start=0, words_start=0, end=start)]
    whole = Turn(
        index=bool(start),
        speaker=Speaker.PARTICIPANT,
        start=start,
        words_start=start,
        end=len(text),
    )
    return checked(
        Transcript(
            text=text,
            turns=(*turns, whole) if start else (whole,),
            speakers_assumed=is_assumed,
            reads_alone=is_assumed,
            source=source,
        )
    )


def _turns(
    text: str, lines: Sequence[LabelledLine], speakers: dict[str, Speaker]
) -> Iterator[Turn]:
    first = lines[0].start
    index = 0
    if text[:first].strip("\ufeff \t\r\n"):
        yield Turn(index=0, speaker=Speaker.UNKNOWN, start=0, words_start=0, end=first)
        index = 1
    for at, line in enumerate(lines):
        yield Turn(
            index=index + at,
            speaker=speakers[line.label],
            start=line.start if index or at else 0,
            words_start=line.words_start,
            end=lines[at + 1].start if at + 1 < len(lines) else len(text),
            label=line.label,
            start_seconds=line.seconds,
        )
