"""A transcript: a text cut into turns that keep their character offsets, speakers and times."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.shape import Shape

MAX_TURNS: Final = 20_000
"""How many turns a transcript has at most."""


class Speaker(StrEnum):
    """Whose words a turn holds."""

    INTERVIEWER = "interviewer"
    PARTICIPANT = "participant"
    OTHER = "other"
    """Somebody who is named and is neither; never evidence."""
    UNKNOWN = "unknown"
    """Words that no label names a speaker for; never evidence."""


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
    label: str | None = field(default=None, repr=False)
    """The speaker's name as the transcript gives it."""
    start_seconds: float | None = None
    """When it begins in the recording, where the transcript says so."""
    end_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something odd or assumed about what was read."""

    code: str
    """What was odd or assumed: a value of `services.transcripts.utterances.ReadingNote`."""
    count: int
    """How often."""
    line: int | None
    """The first line concerned, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a transcript was read from."""

    form: str = "text"
    """A value of `services.transcripts.utterances.Form`, or the name of a speech service."""
    encoding: str | None = None
    """`None` for what came as text."""
    notes: tuple[Note, ...] = ()
    is_rendered: bool = False
    """Whether the text was made from the file, so that offsets do not count in the file itself."""


AS_TEXT: Final = Source()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The text of an interview, as received or rendered from a file, and its turns."""

    text: str = field(repr=False)
    turns: tuple[Turn, ...]
    speakers_assumed: bool
    """True when the text carries no label, so that all of it counts as the participant's."""
    reads_alone: bool = True
    """Whether the text, read with the built-in labels alone, gives these turns again."""
    source: Source = AS_TEXT

    def words(self, turn: Turn) -> str:
        """Return the words of a turn without its label."""
        return self.text[turn.words_start : turn.end]

    def participant_turns(self) -> Iterator[Turn]:
        """Yield the participant's turns in order."""
        return (turn for turn in self.turns if turn.speaker is Speaker.PARTICIPANT)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpeakerAccount(Shape):
    """Whom a label of the transcript stands for."""

    label: str | None
    """As the transcript has it; null for words that no label names a speaker for."""
    role: Speaker
    """Whose words they count as."""
    turns: int
    """How many turns have the label."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TranscriptAccount(Shape):
    """How a transcript was read, without its words."""

    form: str
    """Such as text, webvtt, whisper or docx; told by the content."""
    encoding: str | None
    """Of a file; null for what was sent as text."""
    turns: int
    """How many turns there are."""
    parts: int = 1
    """In how many overlapping parts models read it; 1 for one that they read whole."""
    turn_seconds: tuple[float | None, ...]
    """When each turn begins in the recording; empty for a transcript without times."""
    speakers: tuple[SpeakerAccount, ...]
    """In the order in which they first speak."""
    notes: tuple[Note, ...]
    """What was assumed, left out or odd."""


def account_of(transcript: Transcript, *, parts: int = 1) -> TranscriptAccount:
    """Return how a transcript was read. `parts`: in how many by models."""
    turns = Counter((turn.label, turn.speaker) for turn in transcript.turns)
    seconds = tuple(turn.start_seconds for turn in transcript.turns)
    return TranscriptAccount(
        form=transcript.source.form,
        encoding=transcript.source.encoding,
        turns=len(transcript.turns),
        parts=parts,
        turn_seconds=() if set(seconds) == {None} else seconds,
        speakers=tuple(
            SpeakerAccount(label=label, role=role, turns=count)
            for (label, role), count in turns.items()
        ),
        notes=transcript.source.notes,
    )


def exchange(asked: str, said: str) -> Transcript:
    """Return a question and what is said to it, one behind the other and without labels.

    The turns are laid out here: parsed, an answer could open a turn of the interviewer.
    """
    at, end = len(asked), len(asked) + len(said)
    question = Turn(index=0, speaker=Speaker.INTERVIEWER, start=0, words_start=0, end=at)
    answer = Turn(index=1, speaker=Speaker.PARTICIPANT, start=at, words_start=at, end=end)
    return Transcript(
        text=f"{asked}{said}", turns=(question, answer), speakers_assumed=False, reads_alone=False
    )
