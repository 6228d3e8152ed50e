"""The turns of a stored text, told again as they were when it was assessed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.evidence import Segment
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.transcript_result import TranscriptResult
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.rendering import WRITTEN_LABELS
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS, SpeakerLabels

_FIELD = "transcript_text"


def transcript_again(
    result: FullResult, text: str, labels: SpeakerLabels = DEFAULT_LABELS
) -> Transcript:
    """Cut the text of a result into the turns that it counts.

    `labels`: those of the settings that it was made with. Raises `InputError` where the text is
    not the one that was assessed.
    """
    found = next(
        (one for one in _readings(result.transcript, text, labels) if _agrees(result, one)), None
    )
    if found is None:
        msg = (
            f"{_FIELD}: this is not the text that was assessed, or who is who was told otherwise; "
            "give the text exactly as it was sent"
        )
        raise InputError(msg, field=_FIELD)
    return replace(found, turns=tuple(_timed(found.turns, result.transcript.turn_seconds)))


def _readings(read: TranscriptResult, text: str, labels: SpeakerLabels) -> Iterator[Transcript]:
    """Yield the ways in which a text can be read, the likeliest first."""
    named = tuple((one.label, one.role) for one in read.speakers if one.label)
    for given in (labels, replace(labels, given=named), replace(labels, given=(_everybody(),))):
        try:
            yield parse_transcript(text, given)
        except InputError:
            continue
    yield _line_by_line(text, read)


def _everybody() -> tuple[str, Speaker]:
    return "*", Speaker.PARTICIPANT


def _line_by_line(text: str, read: TranscriptResult) -> Transcript:
    """Read a text that was made from a file: a line an utterance."""
    roles = {one.label: one.role for one in read.speakers}
    shown = {one.role: one.label for one in read.speakers}
    turns: list[Turn] = []
    at = 0
    for index, line in enumerate(text.splitlines(keepends=True)):
        label, colon, _ = line.partition(": ")
        known = roles.get(label) or _ROLE_OF_LABEL.get(label) if colon else None
        role = known or Speaker.PARTICIPANT
        turns.append(
            Turn(
                index=index,
                speaker=role,
                start=at,
                words_start=at + len(label) + 2 if known else at,
                end=at + len(line),
                label=label if label in roles else shown.get(role),
            )
        )
        at += len(line)
    return Transcript(text=text, turns=tuple(turns), speakers_assumed=False)


_ROLE_OF_LABEL = {label: role for role, label in WRITTEN_LABELS.items()}


def _agrees(result: FullResult, transcript: Transcript) -> bool:
    read, turns = result.transcript, transcript.turns
    wanted: Counter[Speaker] = Counter()
    for one in read.speakers:
        wanted[one.role] += one.turns
    return (
        len(turns) == read.turns
        and Counter(turn.speaker for turn in turns) == wanted
        and _is_the_text(result, transcript)
    )


def _is_the_text(result: FullResult, transcript: Transcript) -> bool:
    """Whether every quote and every sign of danger is where the result has it."""
    return all(
        all(_is_within(part, transcript.turns) for part in parts)
        and _bare("".join(transcript.text[part.start : part.end] for part in parts)) == _bare(said)
        for parts, said in _said(result)
    )


def _said(result: FullResult) -> Iterator[tuple[Sequence[Segment], str]]:
    for sign in result.risk.signals:
        yield (Segment(turn=sign.turn, start=sign.start, end=sign.end),), sign.text
    items = None if result.quantitative is None else result.quantitative.items
    for item in (items or {}).values():
        yield from ((quote.segments, quote.text) for quote in item.evidence)


def _is_within(part: Segment, turns: Sequence[Turn]) -> bool:
    if not 0 <= part.turn < len(turns):
        return False
    turn = turns[part.turn]
    return turn.words_start <= part.start < part.end <= turn.end


def _bare(words: str) -> str:
    return "".join(words.split())


def _timed(turns: Sequence[Turn], seconds: Sequence[float | None]) -> Iterator[Turn]:
    for turn in turns:
        at = seconds[turn.index] if turn.index < len(seconds) else None
        yield turn if at is None else replace(turn, start_seconds=at)
