"""Cuts a text into turns at the lines that open with a speaker's label."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.errors import InputError, TranscriptUnreadable
from ai_psychiatrist.domain.transcript import (
    AS_TEXT,
    MAX_TURNS,
    Note,
    Source,
    Speaker,
    Transcript,
    Turn,
)
from ai_psychiatrist.services.transcripts.heads import (
    head_end,
    is_head,
    is_said_otherwise,
    lines_of_turns,
)
from ai_psychiatrist.services.transcripts.label_candidates import LabelledLine
from ai_psychiatrist.services.transcripts.label_lines import labelled_lines, last_words_of
from ai_psychiatrist.services.transcripts.lines import (
    LINE_END,
    has_words,
    speakers_named,
    without_invisible,
)
from ai_psychiatrist.services.transcripts.own_words import (
    SENTENCE_ENDS,
    SUBJECT,
    Setting,
    speech_spans,
)
from ai_psychiatrist.services.transcripts.refusals import several_unnamed, too_many_turns
from ai_psychiatrist.services.transcripts.several_voices import (
    opens_alike,
    opens_with_names,
    sign_of_several,
)
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    EVERYBODY,
    Roles,
    SpeakerLabels,
    assumptions,
    given_roles,
    known_labels,
    label_key,
    speakers_of,
)
from ai_psychiatrist.services.transcripts.utterances import FileFault, Form, ReadingNote

_HEADER: Final = re.compile(
    r"\ufeff?\s{0,200}(?:#[ \t]*)?(speakers[ \t]*:[^\r\n=]{1,200}=[^\r\n]*)", re.IGNORECASE
)
_SHARE: Final = 0.9
"""Of the lines that have a label, where one without it hardly goes on with a turn."""
_SHARE_OF_CAPTIONS: Final = 0.65
_FEWEST_OF_MESSAGES: Final = 3
"""Turns of the participant's of several lines, where lines without a label are the custom."""
_CAPTIONS: Final = frozenset({Form.WEBVTT, Form.SRT, Form.SBV})
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
    if (seen := without_invisible(text)) is not None:
        read = parse_transcript(seen.text, labels, source=source)
        turns = tuple(seen.placed(turn) for turn in read.turns)
        return replace(read, text=text, turns=turns)
    roles, after_header = speakers_header(text)
    # Read alone, a text has only what stands in it: its own first line counts, an option does not.
    reads_alone = labels == DEFAULT_LABELS
    if roles and not labels.given:
        labels = replace(labels, given=roles)
    if labels.given == ((EVERYBODY, Speaker.PARTICIPANT),):
        return _one_speaker(text, after_header, source, is_assumed=False)
    after_head = head_end(text, after_header, labels)
    lines = labelled_lines(text, labels, start=after_head)
    if not lines and not labels.given:
        _refuse_several(text[after_header:].splitlines(), source)
        return _one_speaker(text, after_header, source, is_assumed=True)
    found = [line.label for line in lines]
    speakers = speakers_of(found, labels)
    written = lines_of_turns(text, lines)
    _refuse_head(text, lines, written, speakers, is_given=bool(labels.given))
    setting = _setting(text, lines, written, speakers, labels, source)
    cut = enumerate(_turns(text, lines, speakers, setting))
    turns = tuple(replace(turn, index=index) for index, turn in cut)
    if len(turns) > MAX_TURNS:
        raise too_many_turns()
    return checked_transcript(
        Transcript(
            text=text,
            turns=turns,
            speakers_assumed=False,
            reads_alone=reads_alone,
            source=_with_notes(source, text, lines, turns, assumptions(found, speakers, labels)),
        )
    )


def _with_notes(
    source: Source,
    text: str,
    lines: Sequence[LabelledLine],
    turns: Sequence[Turn],
    assumed: Mapping[ReadingNote, set[str]],
) -> Source:
    """Add what was assumed about the speakers, and what was given to none of them."""
    aside = [
        turn
        for turn in turns
        if turn.speaker is Speaker.UNKNOWN and has_words(text[turn.start : turn.end])
    ]
    first = lines[0].start
    found = {
        ReadingNote.TIME_UNREADABLE: [line.start for line in lines if line.has_lost_time],
        ReadingNote.HEAD_SET_ASIDE: [turn.start for turn in aside if turn.start < first],
        ReadingNote.WORDS_SET_ASIDE: [turn.start for turn in aside if turn.start >= first],
        **{
            code: [line.start for line in lines if line.label in names]
            for code, names in assumed.items()
        },
    }
    notes = tuple(
        Note(code=code, count=len(starts), line=_line_of(text, starts[0]))
        for code, starts in found.items()
        if starts
    )
    return replace(source, notes=(*source.notes, *notes)) if notes else source


def _line_of(text: str, offset: int) -> int:
    """Return the line, from 1, in which something begins behind its blanks."""
    begun = offset + len(text[offset:]) - len(text[offset:].lstrip())
    return sum(1 for _ in LINE_END.finditer(text, 0, begun)) + 1


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
    if not has_words(text):
        msg = "the transcript is empty; send the text of the interview"
        raise TranscriptUnreadable(msg)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        msg = "the transcript holds a lone surrogate; send it as valid Unicode text"
        raise TranscriptUnreadable(msg, fault=FileFault.NOT_TEXT) from None


def checked_transcript(transcript: Transcript) -> Transcript:
    """Return a transcript in which the participant says something; else raise."""
    if not any(has_words(transcript.words(turn)) for turn in transcript.participant_turns()):
        msg = "the transcript has speaker labels but no words of the participant"
        raise TranscriptUnreadable(msg, fault=FileFault.NO_PARTICIPANT)
    return transcript


def _refuse_head(
    text: str,
    lines: Sequence[LabelledLine],
    written: Sequence[Sequence[str]],
    speakers: Mapping[str, Speaker],
    *,
    is_given: bool,
) -> None:
    """Refuse labels of which the participant's is a head's, or that are not those of all lines."""
    if not is_given and is_said_otherwise(text[: lines[0].start], speakers):
        raise several_unnamed("its head says that a label is another's")
    if not is_given and is_head(written, lines, speakers):
        raise several_unnamed("it only has one of the participant's in its head")
    behind = [line for turn in written for line in turn[1:] if line.strip()]
    if opens_with_names([line for line in behind if SUBJECT.match(line.strip()) is None]):
        raise several_unnamed("lines within its turns open as if they had labels")


def _refuse_several(lines: Sequence[str], source: Source) -> None:
    """Refuse a text without labels that is not one person's prose."""
    sign = sign_of_several(lines, is_of_captions=source.form in _CAPTIONS)
    if sign is not None:
        raise several_unnamed(sign)
    if opens_alike(lines):
        raise several_unnamed("its lines open as if they had labels")


def _one_speaker(text: str, start: int, source: Source, *, is_assumed: bool) -> Transcript:
    turns = [Turn(index=0, speaker=Speaker.UNKNOWN, start=0, words_start=0, end=start)]
    whole = Turn(
        index=int(start > 0),
        speaker=Speaker.PARTICIPANT,
        start=start,
        words_start=start,
        end=len(text),
    )
    return checked_transcript(
        Transcript(
            text=text,
            turns=(*turns, whole) if start else (whole,),
            speakers_assumed=is_assumed,
            reads_alone=is_assumed,
            source=source,
        )
    )


def _turns(
    text: str,
    lines: Sequence[LabelledLine],
    speakers: Mapping[str, Speaker],
    setting: Setting,
) -> Iterator[Turn]:
    first = lines[0].start
    is_preamble = bool(text[:first].strip("\ufeff \t\r\n"))
    if is_preamble:
        yield Turn(index=0, speaker=Speaker.UNKNOWN, start=0, words_start=0, end=first)
    ends = [*(line.start for line in lines[1:]), len(text)]
    for index, (line, end) in enumerate(zip(lines, ends, strict=True), start=is_preamble):
        speaker = speakers[line.label]
        start = line.start if is_preamble or line is not lines[0] else 0
        turn = Turn(
            index=index,
            speaker=speaker,
            start=start,
            words_start=line.words_start,
            end=end,
            label=line.label,
            start_seconds=line.seconds,
        )
        yield from _cut(text, turn, setting) if speaker is Speaker.PARTICIPANT else [turn]


def _cut(text: str, turn: Turn, setting: Setting) -> Iterator[Turn]:
    """Take out of the participant's turn what is not the participant's."""
    for span in speech_spans(text, turn.words_start, turn.end, setting):
        is_first = span.start == turn.words_start
        if not span.is_own and is_first:
            yield replace(turn, end=span.start)
        if span.is_own and is_first:
            yield turn if span.end == turn.end else replace(turn, end=span.end)
        elif span.is_own:
            yield replace(
                turn,
                start=span.start,
                words_start=span.start,
                end=span.end,
                start_seconds=None,
            )
        else:
            yield Turn(
                index=0,
                speaker=Speaker.UNKNOWN,
                start=span.start,
                words_start=span.start,
                end=span.end,
            )


def _setting(
    text: str,
    lines: Sequence[LabelledLine],
    written: Sequence[Sequence[str]],
    speakers: Mapping[str, Speaker],
    labels: SpeakerLabels,
    source: Source,
) -> Setting:
    own = {label_key(name) for name, who in speakers.items() if who is Speaker.PARTICIPANT}
    met = {label_key(name) for name in speakers}
    known = {key for key in known_labels(labels) if len(key) > 1}
    is_of_captions = source.form in _CAPTIONS
    with_words = sum(1 for line in LINE_END.split(text[lines[0].start :]) if line.strip())
    is_alone = met == own and len(lines) > 1
    share = _SHARE_OF_CAPTIONS if is_of_captions else _SHARE
    return Setting(
        names=frozenset((met | last_words_of(met) | known) - own),
        own=frozenset(own),
        is_of_captions=is_of_captions,
        is_labelled_throughout=len(lines) >= share * with_words,
        is_alone=is_alone,
        is_of_messages=not is_alone and _is_of_messages(lines, written, speakers),
    )


def _is_of_messages(
    lines: Sequence[LabelledLine],
    written: Sequence[Sequence[str]],
    speakers: Mapping[str, Speaker],
) -> bool:
    """Return whether both speakers say several sentences a turn, each on a line of its own."""
    turns: Counter[Speaker] = Counter()
    for line, said in zip(lines, written, strict=True):
        full = [one.strip() for one in said if one.strip()]
        begun = (
            not one[0].islower() and before.endswith(SENTENCE_ENDS)
            for before, one in pairwise(full)
        )
        turns[speakers[line.label]] += any(begun)
    own = turns.pop(Speaker.PARTICIPANT, 0)
    return own >= _FEWEST_OF_MESSAGES and sum(turns.values()) > 0
