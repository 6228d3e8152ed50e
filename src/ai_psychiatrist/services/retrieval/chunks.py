"""Chunks: stretches of consecutive lines of one session, and what is read of each item in them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity, Timeframe
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.services.language.concepts import Status
from ai_psychiatrist.services.language.conversation import Conversation
from ai_psychiatrist.services.language.identification import examined_in
from ai_psychiatrist.services.language.mentions import Mention
from ai_psychiatrist.services.transcripts.lines import on_one_line
from ai_psychiatrist.services.transcripts.rendering import WRITTEN_LABELS


class Reading(IntFlag):
    """What the rules read of an item in a chunk; they read English alone."""

    NOTHING = 0
    NAMED = 1
    """The participant speaks of it, of themselves."""
    AFFIRMED = 2
    """And says that it is there, not only that it once was."""
    DENIED = 4
    """Or says that it is not."""
    POLAR = AFFIRMED | DENIED


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some lines of a session, each as `Speaker: words`."""

    text: str = field(repr=False)
    first_line: int
    """Of the session, from 0; empty lines do not count."""
    lines: int
    readings: Mapping[Item, Reading]
    """Items of which nothing was read are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    text: str
    is_participant: bool
    readings: tuple[tuple[Item, Reading], ...]
    """One a mention."""


_OF_POLARITY: Final = {Polarity.AFFIRMED: Reading.AFFIRMED, Polarity.DENIED: Reading.DENIED}


def chunks_of(transcript: Transcript, *, lines: int, step: int) -> Iterator[Chunk]:
    """Yield chunks of `lines` lines, one beginning every `step` lines; the last one ends the text.

    A line is a line of a turn that holds anything. Chunks without a word of the participant are
    left out: they cannot be a reference.
    """
    whole = tuple(_lines(transcript))
    last = max(0, len(whole) - lines)
    for first in (*range(0, last, step), last):
        part = whole[first : first + lines]
        if any(line.is_participant for line in part):
            readings: dict[Item, Reading] = {}
            for item, reading in (one for line in part for one in line.readings):
                readings[item] = readings.get(item, Reading.NOTHING) | reading
            yield Chunk(
                text="\n".join(line.text for line in part),
                first_line=first,
                lines=len(part),
                readings=readings,
            )


def _lines(transcript: Transcript) -> Iterator[_Line]:
    conversation = Conversation()
    unsupported = examined_in(transcript).wholly_unread
    for turn in transcript.turns:
        words = transcript.words(turn)
        is_participant = turn.speaker is Speaker.PARTICIPANT
        mentions: tuple[Mention, ...] = ()
        if is_participant:
            mentions = conversation.answer("" if turn.index in unsupported else words)
        else:
            conversation.ask(words)
        end = 0
        for line in words.splitlines(keepends=True):
            start, end = end, end + len(line)
            if line.strip():
                inside = [one for one in mentions if one.start < end and start < one.end]
                yield _Line(
                    text=f"{WRITTEN_LABELS[turn.speaker]}: {on_one_line(line)}",
                    is_participant=is_participant,
                    readings=tuple(_readings(inside)),
                )


def _readings(mentions: Iterable[Mention]) -> Iterator[tuple[Item, Reading]]:
    """Yield the reading of each mention in a line.

    What is only inferred does not speak against what is stated in the same line.
    """
    own = [one for one in mentions if one.status is not Status.OTHER]
    stated = {one.concept for one in own if one.is_stated and one.polarity in _OF_POLARITY}
    for one in own:
        reading = Reading.NAMED
        if one.timeframe is not Timeframe.PAST and (one.is_stated or one.concept not in stated):
            reading |= _OF_POLARITY.get(one.polarity, Reading.NOTHING)
        yield Item(one.concept), reading
