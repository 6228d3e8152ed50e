"""Who is who in a transcript, shown before anything is assessed."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ai_psychiatrist.domain.errors import SpeakersUnknown
from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.domain.transcript import Note, Speaker, Transcript
from ai_psychiatrist.services.transcripts.speaker_labels import EVERYBODY, SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

_MOST_LABELS: Final = 20
_MOST_SAID: Final = 2
_MOST_CHARACTERS: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PreviewedSpeaker(Shape):
    """A label, whom it stands for, and how that speaker begins."""

    label: str | None
    """As the transcript has it; null for words without one, `*` for all words."""
    role: Speaker | None
    """Null where it has to be said."""
    turns: int
    """How many turns this speaker has."""
    said: tuple[str, ...]
    """The first two turns, each cut off after 160 characters."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Preview(Shape):
    """How a transcript would be read."""

    form: str
    """Such as text, webvtt, whisper or docx; detected from the content."""
    turns: int
    """How many turns there are in all."""
    speakers: tuple[PreviewedSpeaker, ...]
    """At most 20, in the order in which they first speak."""
    notes: tuple[Note, ...]
    """What was assumed, left out or odd."""
    speakers_assumed: bool
    """True when no label names anybody, so that all words count as the participant's."""
    is_open: bool
    """True when it has to be said who the participant is, in `speakers` of the assessment."""
    reason: str = ""
    """Why, and what to do; empty where nothing is open."""


def preview(
    content: bytes | str,
    labels: SpeakerLabels,
    *,
    name: str = "",
    most_characters: float = math.inf,
) -> Preview:
    """Read a transcript and return who is who, or who might be where it is not known.

    Raises what `read_transcript` raises, but for speakers that are unknown.
    """
    read = partial(read_transcript, content, name=name, most_characters=most_characters)
    try:
        known = read(labels)
    except SpeakersUnknown as error:
        shown = read(replace(labels, given=tuple(_anybody(error.labels))))
        return replace(_of(shown, roles={}), is_open=True, reason=str(error))
    return _of(known, roles={turn.label: turn.speaker for turn in known.turns})


def _anybody(found: tuple[str, ...]) -> Iterator[tuple[str, Speaker]]:
    """Take the first for the participant, only so that the words can be read."""
    first, *others = found or (EVERYBODY,)
    yield first, Speaker.PARTICIPANT
    yield from ((label, Speaker.OTHER) for label in others)


def _of(transcript: Transcript, *, roles: Mapping[str | None, Speaker]) -> Preview:
    said: dict[str | None, list[str]] = {}
    for turn in transcript.turns:
        said.setdefault(turn.label, []).append(transcript.words(turn).strip())
    is_unlabelled = not roles and set(said) == {None}
    return Preview(
        form=transcript.source.form,
        turns=len(transcript.turns),
        speakers=tuple(
            PreviewedSpeaker(
                label=EVERYBODY if is_unlabelled else label,
                role=roles.get(label),
                turns=len(words),
                said=tuple(map(_cut, words[:_MOST_SAID])),
            )
            for label, words in list(said.items())[:_MOST_LABELS]
        ),
        notes=transcript.source.notes,
        speakers_assumed=transcript.speakers_assumed,
        is_open=False,
    )


def _cut(words: str) -> str:
    return words if len(words) <= _MOST_CHARACTERS else f"{words[: _MOST_CHARACTERS - 1]}…"
