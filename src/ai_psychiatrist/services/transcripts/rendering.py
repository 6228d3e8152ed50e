"""Writes what a file holds as a text with labels, and a transcript as models are shown it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from ai_psychiatrist.domain.transcript import MAX_TURNS, Source, Speaker, Transcript, Turn
from ai_psychiatrist.services.transcripts.label_candidates import is_name
from ai_psychiatrist.services.transcripts.label_lines import opens_like_label
from ai_psychiatrist.services.transcripts.lines import LINE_END
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
    """Write one line `Label: words` for each utterance; without a label its speaker is unknown.

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
    return _rendered_turns(transcript, transcript.turns)


# A long transcript in parts

_OVERLAP_TURNS: Final = 4
"""Two questions and their answers; an answer then never stands without its question."""
_OVERLAPS_IN_A_PART: Final = 8
"""How many overlaps, at the least, are as long as a part."""
_CUT: Final = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]|\n+")
"""The end of a sentence or a line."""


def parts_for_models(transcript: Transcript, most_characters: int) -> tuple[str, ...]:
    """Return a long transcript in parts of about the same length, as models are shown them.

    None where all of it fits into one. A part ends with a turn, and the next one begins up to four
    turns earlier. A turn that leaves no room for the one before it is cut, after a sentence, or
    else between words. `most_characters`: of the transcript's text in one part.
    """
    length = len(transcript.text)
    if length <= most_characters:
        return ()
    overlap = most_characters // _OVERLAPS_IN_A_PART
    longest = most_characters - overlap
    size = -(-length // -(-length // longest)) + overlap
    turns = [
        one for turn in transcript.turns for one in _pieces(transcript, turn, longest, overlap)
    ]
    parts: list[str] = []
    end = 0
    while end < len(turns):
        before = range(max(0, end - _OVERLAP_TURNS), end)
        reach = turns[end].start - overlap
        first = next((one for one in before if turns[one].start >= reach), end)
        end += 1
        while end < len(turns) and turns[end].end - turns[first].start <= size:
            end += 1
        # Labels are written anew: a first line of the text that explains them is in one part alone.
        pieces = groupby(turns[first:end], key=lambda one: one.index)
        whole = (replace(first, end=[first, *others][-1].end) for _, (first, *others) in pieces)
        parts.append(_rendered_turns(transcript, whole))
    return tuple(parts)


def _pieces(transcript: Transcript, turn: Turn, longest: int, most: int) -> Iterator[Turn]:
    """Yield a turn, or pieces of at most so many characters of one that is too long."""
    if turn.end - turn.start <= longest:
        yield turn
        return
    start, begin = turn.start, turn.words_start
    while begin < turn.end:
        end = min(begin + most, turn.end)
        if end < turn.end:
            window = transcript.text[begin:end]
            cuts = [found.end() for found in _CUT.finditer(window)] or [window.rfind(" ") + 1]
            end = begin + (cuts[-1] or most)
        yield replace(turn, start=start, words_start=begin, end=end)
        start = begin = end


def _rendered_turns(transcript: Transcript, turns: Iterable[Turn]) -> str:
    said = (turn for turn in turns if transcript.words(turn).strip())
    return "\n".join(line for turn in said for line in _lines(transcript, turn))


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
