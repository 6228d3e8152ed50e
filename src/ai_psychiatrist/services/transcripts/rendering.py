"""Writes what a file holds as a text with labels, and a transcript as models are shown it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ai_psychiatrist.domain.transcript import MAX_TURNS, Source, Speaker, Transcript, Turn
from ai_psychiatrist.services.transcripts.label_lines import opens_like_label
from ai_psychiatrist.services.transcripts.label_words import is_name
from ai_psychiatrist.services.transcripts.line_ends import LINE_END
from ai_psychiatrist.services.transcripts.plain_text import checked_transcript
from ai_psychiatrist.services.transcripts.refusals import too_many_turns
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS, known_speaker
from ai_psychiatrist.services.transcripts.utterances import Utterance

WRITTEN_LABELS: Final = {
    Speaker.INTERVIEWER: "Interviewer",
    Speaker.PARTICIPANT: "Participant",
    Speaker.OTHER: "Other Speaker",
    Speaker.UNKNOWN: "Unknown Speaker",
}
"""What those are called whom no label of their own names."""


def rendered(
    utterances: Sequence[Utterance], speakers: Mapping[str, Speaker], source: Source
) -> Transcript:
    """Write one line `Label: words` for each utterance; nobody says what no label is given for.

    Raises `TranscriptUnreadable` for more than `MAX_TURNS` and without words of the participant.
    """
    if len(utterances) > MAX_TURNS:
        raise too_many_turns()
    shown = {
        label: _shown_label(label, Speaker.UNKNOWN if label is None else speakers[label])
        for label in {said.label for said in utterances}
    }
    lines: list[str] = []
    turns: list[Turn] = []
    at = 0
    for index, said in enumerate(utterances):
        speaker = Speaker.UNKNOWN if said.label is None else speakers[said.label]
        line = f"{shown[said.label]}: {said.words}"
        end = at + len(line) + (index + 1 < len(utterances))
        turns.append(
            Turn(
                index=index,
                speaker=speaker,
                start=at,
                words_start=at + len(shown[said.label]) + 2,
                end=end,
                label=said.label,
                start_seconds=said.start_seconds,
                end_seconds=said.end_seconds,
            )
        )
        lines.append(line)
        at = end
    return checked_transcript(
        Transcript(text="\n".join(lines), turns=tuple(turns), speakers_assumed=False, source=source)
    )


def rendered_for_models(transcript: Transcript) -> str:
    """Return the text with labels that tell who is who without knowing what the caller said."""
    if transcript.reads_alone:
        return transcript.text
    turns = (turn for turn in transcript.turns if transcript.words(turn).strip())
    return "\n".join(line for turn in turns for line in _lines(transcript, turn))


def _lines(transcript: Transcript, turn: Turn) -> Iterator[str]:
    label = _shown_label(turn.label, turn.speaker)
    first, *others = LINE_END.split(transcript.words(turn).strip())
    yield f"{label}: {first}"
    # What follows is the same speaker's, even where it looks like somebody else's label.
    yield from (f"{label}: {line}" if opens_like_label(line) else line for line in others)


def _shown_label(label: str | None, speaker: Speaker) -> str:
    """Return the file's label where it tells who speaks by itself."""
    if label is None or speaker is Speaker.UNKNOWN:
        return WRITTEN_LABELS[speaker]
    known = known_speaker(label, DEFAULT_LABELS)
    tells = known is speaker if speaker is not Speaker.OTHER else known in {None, Speaker.OTHER}
    return label if tells and is_name(label) and ":" not in label else WRITTEN_LABELS[speaker]
