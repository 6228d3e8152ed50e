"""Who said what, line by line: speakers told apart, filtered, and written as `Speaker: words`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.domain.transcript import Speaker, SpeakerLabels
from ai_psychiatrist.evaluation.datasets.dataset import SpeakerFilter
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode

_LINE_ENDS: Final = re.compile(r"[\r\n]+")
_SEPARATORS: Final = re.compile(r"[\s_-]+")
_NUMBER: Final = re.compile(r" \d+\Z")
_CLINICIANS: Final = frozenset({"guest clinician", "nurse", "provider", "physician"})
_OTHERS: Final = frozenset({"guest", "guest family", "patient guest", "family", "relative"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one speaker said, on one line."""

    speaker: Speaker
    """`UNKNOWN` for somebody who is neither: never taken for the participant."""
    words: str = field(repr=False)
    label: str = ""
    """The label to write instead of the speaker's usual one, such as `Ellie`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSpeaker:
    """Whom a label of a file stands for, and what is odd about it."""

    speaker: Speaker
    oddity: OddityCode | None = None


@lru_cache(maxsize=256)
def known_speaker(label: str, labels: SpeakerLabels) -> KnownSpeaker:
    """Tell whom a label stands for; guests and unknown labels are not the participant."""
    plain = _SEPARATORS.sub(" ", label.strip().casefold())
    speakers = labels.speakers()
    speaker = speakers.get(plain) or speakers.get(label.strip().casefold())
    if speaker is not None:
        return KnownSpeaker(speaker=speaker)
    numberless = _NUMBER.sub("", plain)
    if numberless in _CLINICIANS:
        return KnownSpeaker(speaker=Speaker.INTERVIEWER)
    is_other = numberless in _OTHERS
    return KnownSpeaker(
        speaker=Speaker.UNKNOWN,
        oddity=OddityCode.SPEAKER_OTHER if is_other else OddityCode.SPEAKER_UNKNOWN,
    )


def on_one_line(words: str) -> str:
    """Join the lines of a text with spaces: a line break would let words pass for a label."""
    parts = (part.strip() for part in _LINE_ENDS.split(words))
    return " ".join(part for part in parts if part)


def oddity_of_speakers(lines: Sequence[Line]) -> OddityCode | None:
    """Tell why lines are no interview: nobody says a word, or no participant does."""
    if not any(line.words for line in lines):
        return OddityCode.NO_WORDS
    if not any(line.speaker is Speaker.PARTICIPANT and line.words for line in lines):
        return OddityCode.NO_PARTICIPANT
    return None


def render(lines: Sequence[Line], speakers: SpeakerFilter) -> str:
    """Write the lines that a filter keeps. Raises `TranscriptUnreadable` when none is left."""
    kept = [line for line in _filtered(lines, speakers) if line.words]
    if not any(line.speaker is Speaker.PARTICIPANT for line in kept):
        msg = "the transcript holds no words of a participant"
        raise TranscriptUnreadable(msg)
    return written(kept)


def written(lines: Sequence[Line]) -> str:
    """Write lines with their labels."""
    return "\n".join(f"{line.label or _LABELS[line.speaker]}: {line.words}" for line in lines)


# A label that no reader of transcripts knows would make the words part of the turn before.
_LABELS: Final = {
    Speaker.INTERVIEWER: "Interviewer",
    Speaker.PARTICIPANT: "Participant",
    Speaker.UNKNOWN: "Interviewer",
}


def _filtered(lines: Sequence[Line], speakers: SpeakerFilter) -> Iterator[Line]:
    for at, line in enumerate(lines):
        is_next_to_answer = at + 1 < len(lines) and lines[at + 1].speaker is Speaker.PARTICIPANT
        if (
            speakers is SpeakerFilter.BOTH
            or line.speaker is Speaker.PARTICIPANT
            or (speakers is SpeakerFilter.QUESTION_CONTEXT and is_next_to_answer)
        ):
            yield line
