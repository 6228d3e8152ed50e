"""Reads one transcript of DAIC-WOZ or E-DAIC by the form that its header shows."""

from dataclasses import dataclass, field
from typing import Final, Literal

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.evaluation.datasets.e_daic import is_e_daic, read_recognised
from ai_psychiatrist.evaluation.datasets.lines import Line, oddity_of_speakers
from ai_psychiatrist.evaluation.datasets.oddities import OddityCode
from ai_psychiatrist.services.daic_woz import ELLIE, RowPolicy, RowsUnreadable, read_session

CorpusKind = Literal["daic-woz", "e-daic"]

_APPLE_DOUBLE: Final = b"\x00\x05\x16\x07"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusTranscript:
    """What one file holds; without lines it cannot be used, and the last finding says why."""

    lines: tuple[Line, ...] = field(default=(), repr=False)
    found: tuple[tuple[OddityCode, int | None], ...]
    kind: CorpusKind | None = None
    """`None` for a file whose header shows neither form."""


def read_corpus_transcript(
    content: bytes, participant_id: int, *, policy: RowPolicy, kind: CorpusKind | None
) -> CorpusTranscript:
    """Read a file of either form, or of the `kind` that is asked for."""
    if content.startswith(_APPLE_DOUBLE):
        return CorpusTranscript(found=((OddityCode.APPLE_DOUBLE_AS_TRANSCRIPT, None),))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return CorpusTranscript(found=((OddityCode.NOT_TEXT, None),))
    shown: CorpusKind = "e-daic" if is_e_daic(text) else "daic-woz"
    try:
        if (kind or shown) == "e-daic":
            return _checked(_recognised(text))
        return _checked(_session(text, participant_id, policy))
    except RowsUnreadable as unreadable:
        code = OddityCode(unreadable.fault.value)
        of_kind = None if code is OddityCode.WRONG_HEADER else shown
        return CorpusTranscript(found=((code, unreadable.line),), kind=of_kind)


def _recognised(text: str) -> CorpusTranscript:
    speech = read_recognised(text)
    return CorpusTranscript(lines=speech.lines, found=speech.found, kind="e-daic")


def _session(text: str, participant_id: int, policy: RowPolicy) -> CorpusTranscript:
    session = read_session(text, participant_id=participant_id, policy=policy)
    lines = tuple(
        Line(
            speaker=Speaker.INTERVIEWER if row.speaker == ELLIE else Speaker.PARTICIPANT,
            words=row.words,
            label=row.speaker,
        )
        for row in session.rows
    )
    found = tuple((OddityCode(noted.note.value), noted.line) for noted in session.notes)
    return CorpusTranscript(lines=lines, found=found, kind="daic-woz")


def _checked(transcript: CorpusTranscript) -> CorpusTranscript:
    oddity = oddity_of_speakers(transcript.lines)
    if oddity is None:
        return transcript
    return CorpusTranscript(found=(*transcript.found, (oddity, None)), kind=transcript.kind)
