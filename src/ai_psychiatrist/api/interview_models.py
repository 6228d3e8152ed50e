"""Results of the routes of interviews."""

from datetime import datetime
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AliasPath, BeforeValidator, Field

from ai_psychiatrist.agents.interview.outputs import AnalysisReply
from ai_psychiatrist.domain.assessment import NOTICE
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    EndReason,
    Fact,
    Goal,
    InterviewState,
    Message,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import (
    AnswerQuote,
    ItemOutcome,
    ItemSource,
    Proposal,
    SaidOfItem,
    UnansweredReason,
)
from ai_psychiatrist.domain.phq8 import Item, UnknownReason, total_of
from ai_psychiatrist.domain.risk import (
    RiskCategory,
    RiskLevel,
    RiskReport,
    RiskSource,
    risk_statement,
)
from ai_psychiatrist.interview.danger_statements import DangerStatement, danger_statements
from ai_psychiatrist.interview.record import (
    DangerPlace,
    DangerReading,
    Interview,
    Reopening,
    UnexaminedAnswer,
)
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.results.result import Result


def _by_item(items: object) -> object:
    return {one.item.value: one for one in items} if isinstance(items, tuple) else items


class OptionResult(Result):
    """One answer that may be chosen."""

    id: str
    """To be sent as option_id."""
    text: str
    """The words of the answer."""
    kind: AnswerKind
    """What choosing it means."""


class QuestionResult(Result):
    """The question that waits for an answer."""

    id: str
    """To be sent as question_id."""
    text: str
    """The question as it is put."""
    goal_id: str
    """The goal that it serves."""
    item: Item | None
    """The item that the answer scores, in a protocol of items."""
    options: tuple[OptionResult, ...]
    """Answers that may be chosen; may be empty.

    Of what is read back show those of the kinds `confirm` and `reject`.
    """
    allows_free_text: bool
    """Whether words of the person's own are taken."""
    is_clarifying: bool
    """Whether the last answer left open how often, so that this is asked once more."""
    purpose: QuestionPurpose
    """What the question is for: to ask, to read back, or one about the interview itself."""
    turn: int
    """The turn that its answer will be."""


class ItemOutcomeResult(Result):
    """One item: a score and where it comes from, or why there is none."""

    label: str = Field(validation_alias=AliasPath("item", "label"))
    """The item in words."""
    score: int | None = Field(ge=0, le=3)
    """0-3, or null for unknown."""
    source: ItemSource
    """Where the score comes from."""
    answer_turn: int | None
    """The turn of the answer that scored it."""
    quote: AnswerQuote | None
    """The words of that answer."""
    confirmed_turn: int | None
    """The turn in which the person confirmed what that answer was read as."""
    interview: str | None
    """SHA-256 of the id of the earlier interview about the same assessment that the answer is from,
    with its turns and quote; null for an answer in this one."""
    evidence: tuple[str, ...]
    """The quotes of the transcript, where the score comes from it."""
    unknown_reason: UnansweredReason | None
    """Why there is no score."""
    transcript_reason: UnknownReason | None
    """Why the transcript left it unknown, where there was an assessment."""
    said: tuple[SaidOfItem, ...]
    """All that was said to the item in the interview, with how it was read."""


Items: TypeAlias = Annotated[dict[str, ItemOutcomeResult] | None, BeforeValidator(_by_item)]


class TotalResult(Result):
    """What the total can be: a range while items are unknown."""

    total_score: int | None
    """Null while an item is unknown."""
    total_score_min: int
    """The total if every unknown item were 0."""
    total_score_max: int
    """The total if every unknown item were 3."""
    severity: int | None
    """0 minimal to 4 severe; null while an item is unknown."""
    severity_label: str | None
    """The severity in a word; null while an item is unknown."""
    severity_lower_bound: int
    """Severity at the lowest total, 0-4."""
    severity_upper_bound: int
    """Severity at the highest total, 0-4."""
    na_count: int
    """How many items are unknown."""

    @classmethod
    def of(cls, items: tuple[ItemOutcome, ...]) -> Self | None:
        """Return the total of the items, `None` in a protocol without items."""
        total = total_of(one.score for one in items)
        return cls.model_validate(total) if items else None


class DangerResult(Result):
    """Signs of danger in the answer that held the interview: for the operator."""

    level: RiskLevel
    """The highest level of the signs."""
    categories: tuple[RiskCategory, ...]
    """What kinds of danger are spoken of."""
    places: tuple[DangerPlace, ...]
    """Where the signs stand in the answers, in the order in which they were found."""
    source: RiskSource
    """Whether rules or a model found them; a model where the rules found nothing that holds."""
    statements: tuple[DangerStatement, ...]
    """What was said at these places, with the question that it answers."""
    statement: str
    """What this is and is not."""
    resources: str
    """Where to turn, as the operator of the service set it."""

    @classmethod
    def of(cls, interview: Interview, crisis_resources: str) -> Self | None:
        """Return the signs with what they are and where to turn, `None` where there are none."""
        danger = interview.danger
        if danger is None:
            return None
        return cls(
            level=danger.level,
            categories=tuple(
                sorted({one for found in interview.dangers for one in found.categories})
            ),
            places=tuple(place for found in interview.dangers for place in found.places),
            source=danger.source,
            statements=tuple(
                one for found in interview.dangers for one in danger_statements(interview, found)
            ),
            statement=risk_statement(by_model=danger.source is RiskSource.MODEL),
            resources=crisis_resources,
        )


class _OfAnInterview(Result):
    interview_id: str
    """Whoever knows it may answer and read: keep it secret."""
    schema_version: Literal["1"] = "1"
    """The shape of the result."""
    notice: str = NOTICE
    """What the result is not."""
    protocol: str
    """Name of the protocol."""
    protocol_version: str
    """The version that the interview was begun with."""
    kind: str
    """`items` or `goals`."""


class OperatorResult(Result):
    """How the interview stands, for its operator: not for the person's eyes."""

    goals: tuple[Goal, ...]
    """What is to be found out, and how far it is."""
    items: Items
    """The eight items as they stand, in a protocol of items."""
    proposals: tuple[Proposal, ...]
    """What answers in words were read as, and whether the person confirmed it."""
    unknown_goal_updates: int
    """Changes that models named for goals that there are not; each was dropped."""
    total: TotalResult | None
    """What the total can be; null in a protocol of goals."""
    danger: DangerResult | None
    """Signs of danger, where an answer held the interview."""
    reopenings: tuple[Reopening, ...]
    """Who let the interview go on after a hold, when, and why."""
    not_examined: tuple[UnexaminedAnswer, ...]
    """The answers in a language that is not read: a person has to read them."""
    danger_readings: tuple[DangerReading, ...]
    """The free answers that a model was to read for danger; where it failed the rules are alone."""
    transcript_risk: RiskReport | None
    """Signs of danger in the transcript that was assessed first; in the first answer alone."""
    model_calls: int
    """How many calls of models were made."""


class InterviewResult(_OfAnInterview):
    """An interview as it stands: the words for the person, and beside them the operator's part."""

    title: str
    """The protocol's own name for the interview."""
    state: InterviewState
    """Where the interview stands."""
    version: int
    """To be sent with the next answer."""
    turn: int
    """How many answers were taken."""
    spoken: str
    """What is to be said to the person before the question, or at the end; may be empty.

    Where the interview is held it says where to turn, and who reads it.
    """
    question: QuestionResult | None
    """Null when no answer is awaited."""
    messages: tuple[Message, ...]
    """All that was said, in order."""
    end_reason: EndReason | None
    """Why no further question is asked; null while it goes on."""
    failure: FailureCode | None
    """Why the last step did not succeed."""
    is_resumable: bool
    """Whether a step is open that a retry takes again."""
    state_hash: str
    """Digest of the state: two snapshots with the same one say the same."""
    operator: OperatorResult
    """What is not for the person's eyes."""


class LinkResult(Result):
    """A link by which the person of an interview answers in a browser of their own."""

    address: str
    """To be given to the person alone: whoever opens it first is taken for them. Shown once."""
    expires_at: datetime
    """When it, and what was opened with it, ends."""


class BegunInterviewResult(InterviewResult):
    """An interview that was begun, with its link where one was asked for."""

    link: LinkResult | None = None
    """Only with `"link": true`."""


class InterviewReportResult(_OfAnInterview):
    """What came out of an interview, for the operator: the updated items, or the analysis."""

    state: InterviewState
    """Where the interview stands."""
    end_reason: EndReason | None
    """Why no further question was asked."""
    items: Items
    """Key of the item → its outcome; null in a protocol of goals."""
    proposals: tuple[Proposal, ...]
    """What answers in words were read as, and whether the person confirmed it."""
    unknown_goal_updates: int
    """Changes that models named for goals that there are not; each was dropped."""
    total: TotalResult | None
    """What the total can be; null in a protocol of goals."""
    analysis: AnalysisReply | None
    """The report on an incident; null in a protocol of items."""
    goals: tuple[Goal, ...]
    """What was to be found out, and how far it came."""
    facts: tuple[Fact, ...]
    """What the person said."""
    danger: DangerResult | None
    """Signs of danger, where an answer held the interview."""
    reopenings: tuple[Reopening, ...]
    """Who let the interview go on after a hold, when, and why."""
    not_examined: tuple[UnexaminedAnswer, ...]
    """The answers in a language that is not read: a person has to read them."""
    danger_readings: tuple[DangerReading, ...]
    """The free answers that a model was to read for danger; where it failed the rules are alone."""
    inputs_hash: str
    """The same inputs give the same report."""


def interview_result(
    snapshot: InterviewSnapshot, *, transcript_risk: RiskReport | None = None
) -> InterviewResult:
    """Return an interview as it stands."""
    return InterviewResult(
        interview_id=snapshot.id,
        protocol=snapshot.protocol.id,
        protocol_version=snapshot.protocol.version,
        kind=snapshot.kind,
        title=snapshot.title,
        state=snapshot.state,
        version=snapshot.version,
        turn=snapshot.turn,
        spoken=snapshot.spoken,
        question=snapshot.question,
        messages=snapshot.messages,
        end_reason=snapshot.end_reason,
        failure=snapshot.failure,
        is_resumable=snapshot.is_resumable,
        state_hash=snapshot.state_hash,
        operator=OperatorResult(
            goals=snapshot.goals,
            items=snapshot.items or None,
            proposals=snapshot.proposals,
            unknown_goal_updates=snapshot.unknown_updates,
            total=TotalResult.of(snapshot.items),
            danger=DangerResult.of(snapshot, snapshot.resources),
            reopenings=snapshot.reopenings,
            not_examined=snapshot.not_examined,
            danger_readings=snapshot.danger_readings,
            transcript_risk=transcript_risk,
            model_calls=snapshot.spent.calls,
        ),
    )


def interview_report(report: InterviewSnapshot) -> InterviewReportResult:
    """Return what came out of an interview."""
    return InterviewReportResult(
        interview_id=report.id,
        protocol=report.protocol.id,
        protocol_version=report.protocol.version,
        kind=report.kind,
        state=report.state,
        end_reason=report.end_reason,
        items=report.items or None,
        proposals=report.proposals,
        unknown_goal_updates=report.unknown_updates,
        total=TotalResult.of(report.items),
        analysis=report.analysis,
        goals=report.goals,
        facts=report.facts,
        danger=DangerResult.of(report, report.resources),
        reopenings=report.reopenings,
        not_examined=report.not_examined,
        danger_readings=report.danger_readings,
        inputs_hash=report.inputs_hash,
    )
