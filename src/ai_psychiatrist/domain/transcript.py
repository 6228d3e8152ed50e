"""A transcript: the text exactly as received, cut into turns that keep their character offsets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final

from ai_psychiatrist.domain.errors import TranscriptUnreadable

INTERVIEWER_LABELS: Final = (
    "Ellie",
    "Interviewer",
    "Therapist",
    "Clinician",
    "Doctor",
    "Counsellor",
    "Counselor",
    "Psychologist",
    "Psychiatrist",
    "Assistant",
    "Agent",
    "I",
    "T",
    "D",
)
PARTICIPANT_LABELS: Final = ("Participant", "Patient", "Client", "Interviewee", "User", "P")

_LINE_START: Final = re.compile(r"(?:\A\ufeff?|\r\n|\n|\r)[^\S\r\n]*")
_LABEL: Final = re.compile(r"([^\s:：][^:：\r\n]{0,59}?)[^\S\r\n]{0,8}[:：][^\S\r\n]*")


MAX_TURNS: Final = 20_000
"""How many turns a transcript has at most."""


class Speaker(StrEnum):
    """Whose words a turn holds."""

    INTERVIEWER = "interviewer"
    PARTICIPANT = "participant"
    UNKNOWN = "unknown"
    """Text that stands before the first speaker label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerLabels:
    """The labels that start a turn; compared without case."""

    interviewer: tuple[str, ...] = INTERVIEWER_LABELS
    participant: tuple[str, ...] = PARTICIPANT_LABELS

    def speakers(self) -> dict[str, Speaker]:
        """Return label in case-folded form → speaker."""
        table = {label.casefold(): Speaker.INTERVIEWER for label in self.interviewer}
        table.update({label.casefold(): Speaker.PARTICIPANT for label in self.participant})
        return table


DEFAULT_LABELS: Final = SpeakerLabels()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One speaker's stretch of text; the turns of a transcript tile it from end to end.

    Offsets are code points into the transcript's text, start inclusive, end exclusive.
    """

    index: int
    speaker: Speaker
    start: int
    """Where the turn begins, its label included."""
    words_start: int
    """Where the spoken words begin, after the label."""
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The text of an interview as received, and its turns."""

    text: str = field(repr=False)
    turns: tuple[Turn, ...]
    speakers_assumed: bool
    """True when the text carries no known label, so that all of it counts as the participant's."""

    def words(self, turn: Turn) -> str:
        """Return the words of a turn without its label."""
        return self.text[turn.words_start : turn.end]

    def participant_turns(self) -> Iterator[Turn]:
        """Yield the participant's turns in order."""
        return (turn for turn in self.turns if turn.speaker is Speaker.PARTICIPANT)


def parse_transcript(text: str, labels: SpeakerLabels = DEFAULT_LABELS) -> Transcript:
    """Cut a text into turns.

    A line `label: words` starts a turn when the label is known; any other line continues the turn.
    Raises `TranscriptUnreadable` when the text is blank, holds lone surrogates, or has labelled
    turns of which none is the participant's, or more than `MAX_TURNS`.
    """
    _refuse_unusable(text)
    turns = tuple(_turns(text, labels.speakers()))
    if len(turns) > MAX_TURNS:
        msg = (
            f"the transcript has more than {MAX_TURNS:,} turns; join the lines that one speaker "
            "says one after the other"
        )
        raise TranscriptUnreadable(msg)
    if not turns:
        whole = Turn(index=0, speaker=Speaker.PARTICIPANT, start=0, words_start=0, end=len(text))
        return Transcript(text=text, turns=(whole,), speakers_assumed=True)
    transcript = Transcript(text=text, turns=turns, speakers_assumed=False)
    if not any(transcript.words(turn).strip() for turn in transcript.participant_turns()):
        msg = (
            "the transcript has speaker labels but no words of a participant; label the "
            f"participant's turns with one of {', '.join(labels.participant)}, or name the label "
            "that is used in TRANSCRIPT_PARTICIPANT_LABELS"
        )
        raise TranscriptUnreadable(msg)
    return transcript


def _refuse_unusable(text: str) -> None:
    if not text.strip("\ufeff \t\r\n\v\f\u00a0\u200b"):
        msg = "the transcript is empty; send the text of the interview"
        raise TranscriptUnreadable(msg)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        msg = "the transcript holds a lone surrogate; send it as valid Unicode text"
        raise TranscriptUnreadable(msg) from None


def _turns(text: str, speakers: dict[str, Speaker]) -> Iterator[Turn]:
    starts = list(islice(_labelled_lines(text, speakers), MAX_TURNS + 1))
    if not starts:
        return
    first = starts[0][0]
    index = 0
    if text[:first].strip("\ufeff \t\r\n"):
        yield Turn(index=0, speaker=Speaker.UNKNOWN, start=0, words_start=0, end=first)
        index = 1
    else:
        starts[0] = (0, *starts[0][1:])
    ends = [start for start, _, _ in starts[1:]] + [len(text)]
    for (start, words_start, speaker), end in zip(starts, ends, strict=True):
        yield Turn(index=index, speaker=speaker, start=start, words_start=words_start, end=end)
        index += 1


def _labelled_lines(text: str, speakers: dict[str, Speaker]) -> Iterator[tuple[int, int, Speaker]]:
    """Yield (offset of the line, offset of its words, speaker) for each line with a known label."""
    for line in _LINE_START.finditer(text):
        label = _LABEL.match(text, line.end())
        if label is None:
            continue
        speaker = speakers.get(label[1].casefold())
        if speaker is not None:
            yield line.end(), label.end(), speaker
