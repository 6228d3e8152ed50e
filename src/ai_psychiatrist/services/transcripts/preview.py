"""Who is who in a transcript, shown before anything is assessed."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.domain.errors import SpeakersUnknown
from ai_psychiatrist.domain.transcript import Note, Speaker, Transcript
from ai_psychiatrist.services.transcripts.speaker_labels import EVERYBODY, SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

_MOST_LABELS: Final = 20
_MOST_SAID: Final = 2
_MOST_CHARACTERS: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedSpeaker:
    """A label, whom it stands for, and how that speaker begins."""

    label: str | None = field(repr=False)
    """As the transcript has it; `None` for words without one, `*` for all words."""
    role: Speaker | None
    """`None` where somebody has to say."""
    turns: int
    said: tuple[str, ...] = field(repr=False)
    """The first two turns, each cut off after 160 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """How a transcript would be read."""

    form: str
    turns: int
    speakers: tuple[PreviewedSpeaker, ...]
    """At most 20, in the order in which they first speak."""
    notes: tuple[Note, ...]
    speakers_assumed: bool
    is_open: bool
    """Whether somebody has to say who the participant is."""
    reason: str = ""
    """Why, and what to do."""


def preview(
    content: bytes | str,
    labels: SpeakerLabels,
    *,
    name: str = "",
    field: str = "transcript_text",
    most_characters: float = math.inf,
) -> Preview:
    """Read a transcript and tell who is who, or who might be where nobody has said so.

    Raises what `read_transcript` raises, but for speakers that are unknown.
    """
    try:
        known = read_transcript(
            content, labels, name=name, field=field, most_characters=most_characters
        )
    except SpeakersUnknown as error:
        labels = replace(labels, given=tuple(_anybody(error.labels)))
        shown = read_transcript(
            content, labels, name=name, field=field, most_characters=most_characters
        )
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
