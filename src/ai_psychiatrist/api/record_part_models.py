"""What a caller gets of the parts of a stored assessment."""

from ai_psychiatrist.domain.evidence import Frequency, Quote, UnreadAnswer, UnverifiedQuote
from ai_psychiatrist.domain.phq8 import NotExaminedCause, UnknownReason
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.results.frozen_table import FrozenTable
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.results.risk_result import RiskResult
from ai_psychiatrist.reviews.archive.records import Record


class TurnResult(Result):
    """One speaker's stretch of the transcript; offsets are code points, the end exclusive."""

    turn: int
    """From 0."""
    speaker: Speaker
    """Whose words it holds."""
    label: str | None
    """The speaker as the transcript names them."""
    start: int
    """Where the turn begins, its label included."""
    words_start: int
    """Where the spoken words begin."""
    end: int
    """The character after the last."""
    seconds: float | None
    """When it begins in the recording; null without times."""


class StoredTranscriptResult(Result):
    """The interview of a stored assessment."""

    assessment_id: str
    """The assessment that it was made into."""
    text: str
    """The text that offsets count in."""
    turns: tuple[TurnResult, ...]
    """All of it, speaker by speaker."""
    risk: RiskResult
    """Signs of danger with their words; while there is no result, those that rules find."""


class EvidenceItemResult(Result):
    """What one item's score stands on."""

    label: str
    """The item in words."""
    score: int | None
    """0-3, or null for unknown."""
    unknown_reason: UnknownReason | None
    """Why there is no score; null where there is one."""
    not_examined_cause: NotExaminedCause | None = None
    """Why nothing was read, where the reason is `not_examined`."""
    unread_answer: UnreadAnswer | None = None
    """The question for the item and the answer from which nothing was read."""
    evidence: tuple[Quote, ...]
    """The participant's words about the item, each with its place."""
    unverified_quotes: tuple[UnverifiedQuote, ...]
    """Quotes that were refused, with the reason."""
    frequency: Frequency
    """How often the symptom is there, as the evidence says it."""
    warnings: tuple[str, ...]
    """Names of the rules that speak against the model's answer."""


class EvidenceResult(Result):
    """What the scores of an assessment stand on."""

    assessment_id: str
    """Whose evidence it is."""
    items: FrozenTable[str, EvidenceItemResult]
    """By the item's key; empty where no item was scored."""


class SubjectResult(Result):
    """A subject of stored assessments."""

    subject_id: str
    """Random; as lists of assessments name the subject."""
    subject: str | None
    """As the caller named it; null without a name."""
    assessments: int
    """How many of this subject are stored."""


def transcript_result(record: Record, risk: RiskResult) -> StoredTranscriptResult:
    """Return the interview of a record and the signs of danger in it."""
    return StoredTranscriptResult(
        assessment_id=record.id,
        text=record.transcript.text,
        turns=tuple(
            TurnResult(
                turn=turn.index,
                speaker=turn.speaker,
                label=turn.label,
                start=turn.start,
                words_start=turn.words_start,
                end=turn.end,
                seconds=turn.start_seconds,
            )
            for turn in record.transcript.turns
        ),
        risk=risk,
    )
