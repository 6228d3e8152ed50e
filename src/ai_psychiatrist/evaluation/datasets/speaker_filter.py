"""Keeps the turns of a transcript that a user wants to have assessed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.evaluation.datasets.dataset import SpeakerFilter
from ai_psychiatrist.services.transcripts.lines import on_one_line
from ai_psychiatrist.services.transcripts.rendering import rendered
from ai_psychiatrist.services.transcripts.utterances import Utterance

_OWN_LABEL = "Participant"


def filtered(transcript: Transcript, speakers: SpeakerFilter) -> Transcript:
    """Return a transcript of the turns that are kept; as it is where all words are one person's."""
    if speakers is SpeakerFilter.BOTH or transcript.speakers_assumed:
        return transcript
    spoken = [turn for turn in transcript.turns if transcript.words(turn).strip()]
    kept = list(_kept(spoken, speakers))
    return rendered(
        [_utterance(transcript, turn) for turn in kept],
        {label: turn.speaker for turn in kept if (label := _label(turn)) is not None},
        replace(transcript.source, is_rendered=True),
    )


def _kept(turns: Sequence[Turn], speakers: SpeakerFilter) -> Iterator[Turn]:
    for at, turn in enumerate(turns):
        is_next_to_answer = at + 1 < len(turns) and turns[at + 1].speaker is Speaker.PARTICIPANT
        if turn.speaker is Speaker.PARTICIPANT or (
            speakers is SpeakerFilter.QUESTION_CONTEXT and is_next_to_answer
        ):
            yield turn


def _utterance(transcript: Transcript, turn: Turn) -> Utterance:
    return Utterance(
        label=_label(turn),
        words=on_one_line(transcript.words(turn)),
        start_seconds=turn.start_seconds,
        end_seconds=turn.end_seconds,
    )


def _label(turn: Turn) -> str | None:
    """Return the turn's label; a participant who is given all words has none in the file."""
    return _OWN_LABEL if turn.label is None and turn.speaker is Speaker.PARTICIPANT else turn.label
