"""Queries and results of the routes of stored assessments."""

from dataclasses import fields
from datetime import datetime
from typing import Annotated, Final, Literal, TypeAlias

from fastapi import Query
from pydantic import Field

from ai_psychiatrist.api.requests import PageInQuery
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.domain.evidence import Frequency, Quote, UnreadAnswer, UnverifiedQuote
from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, Severity, UnknownReason
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel, RiskReport
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.blindness import hidden_phases
from ai_psychiatrist.store.listing import Rated, RecordListRequest, Sort
from ai_psychiatrist.store.records import ListedRecord

_NEVER_HIDDEN: Final = frozenset({"status", "danger", "to_read", "models"})
"""Figures without a score."""

BandName: TypeAlias = Literal["minimal", "mild", "moderate", "moderately_severe", "severe"]


class ListInQuery(PageInQuery):
    """Which part of the list is wanted."""

    sort: Sort = Field(
        default=Sort.CREATED,
        description="What comes first: the newest, unread danger, or the highest.",
    )
    band: BandName | None = Field(
        default=None, description="Only totals that may lie in this band."
    )
    unknown: int | None = Field(
        default=None, ge=0, le=len(Item), description="Only with at least so many unknown items."
    )
    danger: RiskLevel | None = Field(
        default=None, description="Only with signs of danger of at least this level."
    )
    state: RecordState | None = Field(default=None, description="Only in this state.")
    rated: Rated | None = Field(
        default=None, description="Only without ratings, with any, with yours, or without yours."
    )
    unread: bool = Field(
        default=False,
        description="Only with statements of danger that were not confirmed as read.",
    )
    subject_id: str | None = Field(
        default=None, max_length=64, description="Only of this subject, by its random id."
    )
    blind: bool = Field(
        default=False,
        description="Leave out scores of what you have not rated, so that you still can, blind.",
    )

    def wanted(self, principal: Principal) -> RecordListRequest:
        """Return the page as the store takes it."""
        return RecordListRequest(
            subject_id=self.subject_id,
            rater=principal.id,
            limit=self.limit,
            cursor=self.cursor,
            sort=self.sort,
            band=None if self.band is None else Severity[self.band.upper()],
            unknown=self.unknown,
            danger=self.danger,
            state=self.state,
            rated=self.rated,
            unread=self.unread,
            hidden=hidden_phases(principal, stays_blind=self.blind),
        )


ListOfQuery: TypeAlias = Annotated[ListInQuery, Query()]


class RecordResult(Result):
    """A stored assessment in a list."""

    assessment_id: str
    """What its routes ask for."""
    created_at: datetime
    """When it was begun."""
    subject_id: str
    """Random; the same for all assessments of one subject."""
    state: RecordState
    """How far it is."""
    status: str | None
    """`complete`, or `partial` where a part of the result is missing; null while there is none."""
    danger: RiskLevel | None
    """The gravest level of danger, in interviews about it as well; never hidden."""
    to_read: int | None
    """How many statements of danger a person is to read now, in interviews as well; never
    hidden."""
    unread: int | None
    """How many of those nobody has confirmed to have read; never hidden."""
    hidden: bool
    """Whether scores are null because you are to rate first, or asked for it with `blind`."""
    total_min: int | None
    """The total if every unknown item were 0; like all figures below null where scores are hidden
    or items were not scored."""
    total_max: int | None
    """The total if every unknown item were 3."""
    interview_total_min: int | None
    """`total_min` with the answers of the interviews about it that are done; null without."""
    interview_total_max: int | None
    """`total_max` with those answers."""
    severity_lower: Severity | None
    """The band of the smallest possible total: 0 minimal to 4 severe."""
    severity_upper: Severity | None
    """The band of the largest possible total."""
    unknown_items: int | None
    """How many items have no score."""
    width: int | None
    """How far the ends of the interval of the total lie apart; null without a belief."""
    models: tuple[str, ...]
    """Those that answered, by their names in the settings."""
    raters: int
    """How many have committed their ratings."""
    phase: ReviewPhase
    """How far you are with rating it."""


class RecordPageResult(Result):
    """A part of the list of stored assessments."""

    assessments: tuple[RecordResult, ...]
    """In the order that was asked for."""
    next: str | None
    """To be sent as `cursor` for the part after it; null at the end."""
    total: int
    """How many the whole list has."""


def record_result(listed: ListedRecord) -> RecordResult:
    """Return a line of the list; scores that are hidden are null."""
    summary = listed.summary
    names = {one.name for one in fields(summary.figures)} & RecordResult.model_fields.keys()
    figures = {name: getattr(summary.figures, name) for name in names}
    figures["interview_total_min"], figures["interview_total_max"] = listed.interview_total or (
        None,
        None,
    )
    if listed.is_hidden:
        figures |= dict.fromkeys(figures.keys() - _NEVER_HIDDEN)
    return RecordResult.model_validate(
        {
            "assessment_id": summary.id,
            "created_at": summary.created_at,
            "subject_id": summary.subject_id,
            "state": summary.state,
            "raters": summary.raters,
            "phase": listed.phase,
            "hidden": listed.is_hidden,
            **figures,
            "danger": listed.danger,
            "to_read": listed.to_read,
            "unread": listed.unread,
        }
    )


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
    risk: RiskReport
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
    items: dict[str, EvidenceItemResult]
    """By the item's key; empty where no item was scored."""


class SubjectResult(Result):
    """A subject of stored assessments."""

    subject_id: str
    """Random; as lists of assessments name the subject."""
    subject: str | None
    """As the caller named it; null without a name."""
    assessments: int
    """How many of this subject are stored."""
