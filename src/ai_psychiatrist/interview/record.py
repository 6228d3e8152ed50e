"""The whole state of an interview, as it is stored after each step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from ai_psychiatrist.agents.interview.outputs import AnalysisReply
from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.failures import Attempt, FailureCode
from ai_psychiatrist.domain.interview import (
    Drift,
    EndReason,
    Fact,
    GivenAnswer,
    Goal,
    GoalStatus,
    InterviewState,
    Message,
    MessageSpeaker,
    Question,
)
from ai_psychiatrist.domain.interview_items import (
    AnswerQuote,
    AssessmentInput,
    Correction,
    Proposal,
    ProposalOutcome,
    SpokenAct,
    UnansweredReason,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import ReadingStatus, RiskCategory, RiskLevel, RiskSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolReference:
    """Which protocol an interview follows."""

    id: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReading:
    """What one answer said about one item: a score, or why it gives none."""

    item: Item
    turn: int
    """Of the answer that the quote is from."""
    score: int | None
    reason: UnansweredReason | None
    quote: AnswerQuote | None
    confirmed_turn: int | None = None
    """The turn in which the person confirmed what the answer was read as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerPlace:
    """Where a sign of danger stands; characters of the answer, end exclusive."""

    turn: int
    """The turn of the answer."""
    start: int
    """First character, in code points of the answer."""
    end: int
    """The character after the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """What the risk channel found in the answer that held the interview."""

    level: RiskLevel
    categories: tuple[RiskCategory, ...]
    places: tuple[DangerPlace, ...] = ()
    source: RiskSource = RiskSource.RULES
    """A model only where the rules found nothing that holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerReading:
    """What became of a model that was to read a free answer for danger, as the rules always do."""

    turn: int
    """From 1."""
    status: ReadingStatus
    """Whether the model answered."""
    code: FailureCode | None = None
    """Why it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexaminedAnswer:
    """A free answer in a language that is not read: nothing is known of danger in it."""

    turn: int
    """From 1."""
    language: str
    """A BCP 47 code; `und` for one that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopening:
    """That an operator let a held interview go on."""

    author: str
    """`Principal.id` of the operator."""
    at: datetime
    """When it was decided."""
    reason: str = field(repr=False)
    """What was done, and why the person can be asked further."""
    after: str
    """Id of the last message before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalProgress:
    """What a goal came to in one turn."""

    turn: int
    goal_id: str
    confidence: int
    status: GoalStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the models were used for so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def with_calls(self, made: Sequence[Attempt]) -> Self:
        """Return what was used with further calls."""
        return type(self)(
            calls=self.calls + len(made),
            input_tokens=self.input_tokens + sum(one.input_tokens or 0 for one in made),
            output_tokens=self.output_tokens + sum(one.output_tokens or 0 for one in made),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Interview:
    """One interview; every step gives a new one."""

    id: str = field(repr=False)
    protocol: ProtocolReference
    state: InterviewState
    version: int = 1
    """Grows by one with every step that is stored."""
    inputs: Mapping[str, str | int] = field(default_factory=dict, repr=False)
    assessment: AssessmentInput | None = None
    about: str | None = None
    """The id of the stored assessment on whose page it was begun."""
    callback: Callback | None = None
    """Where it is told that the interview is held."""
    turn: int = 0
    """How many answers were taken."""
    goals: tuple[Goal, ...] = ()
    facts: tuple[Fact, ...] = ()
    messages: tuple[Message, ...] = ()
    question: Question | None = None
    """The question that was put last, until its answer is worked in."""
    behind: Question | None = None
    """The question that waits behind one about stopping or danger, or while the person is away."""
    answer: GivenAnswer | None = None
    """An answer that is stored and not yet worked in."""
    answer_key: str | None = None
    """The idempotency key of `answer`."""
    readings: tuple[ItemReading, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    """What answers in words were read as, in order; at most one of an item is open."""
    corrections: tuple[Correction, ...] = ()
    """The answers of which the person was asked what they are about; one for each item asked."""
    acts: tuple[SpokenAct, ...] = ()
    """What each message did, in order."""
    asked_again: tuple[Item, ...] = ()
    """The refused items of which the person was asked whether they may be asked about again."""
    reviews: int = 0
    """How often the person was shown what was noted."""
    progress: tuple[GoalProgress, ...] = ()
    drift: Drift | None = None
    """What the last free text was found to be; of an offered answer nothing is asked."""
    stalled_turns: int = 0
    """Turns in a row without any goal's gain."""
    unknown_updates: int = 0
    """Changes that a model proposed for goals that there are not."""
    end_reason: EndReason | None = None
    dangers: tuple[Danger, ...] = ()
    """The signs of danger that held the interview, in order."""
    reopenings: tuple[Reopening, ...] = ()
    """When operators let it go on after a hold, in order."""
    not_examined: tuple[UnexaminedAnswer, ...] = ()
    """The answers in a language that is not read, in order."""
    danger_readings: tuple[DangerReading, ...] = ()
    """The free answers that a model was to read for danger, in order."""
    failure: FailureCode | None = None
    """Why the last step did not succeed."""
    spent: Spent = Spent()
    analysis: AnalysisReply | None = None
    analysis_inputs_hash: str | None = None

    def goal(self, goal_id: str) -> Goal:
        """Return the goal of that id; raises `KeyError` when there is none."""
        for goal in self.goals:
            if goal.id == goal_id:
                return goal
        raise KeyError(goal_id)

    def goal_of(self, item: Item) -> Goal:
        """Return the goal that asks about an item, in an interview about items."""
        return next(goal for goal in self.goals if goal.item is item)

    @property
    def asked_items(self) -> list[Item]:
        """The items that it asks about."""
        return [goal.item for goal in self.goals if goal.item is not None]

    def readings_of(self, item: Item) -> tuple[ItemReading, ...]:
        """Return what was answered about an item, in order."""
        return tuple(reading for reading in self.readings if reading.item is item)

    @property
    def answered(self) -> tuple[Item, ...]:
        """The items that something was said of, the one of the last reading at the end."""
        last_first = dict.fromkeys(one.item for one in reversed(self.readings))
        return tuple(reversed(last_first))

    def was_declined(self, item: Item) -> bool:
        """Return whether the person has refused to speak of an item."""
        return any(one.reason is UnansweredReason.DECLINED for one in self.readings_of(item))

    @property
    def open_correction(self) -> Correction | None:
        """The answer of which the person has not said yet what it is about."""
        return next((one for one in self.corrections if one.settled_turn is None), None)

    def words_of(self, turn: int) -> str:
        """Return what the person said in a turn."""
        return next(
            message.text
            for message in self.messages
            if message.turn == turn and message.speaker is MessageSpeaker.PARTICIPANT
        )

    @property
    def danger(self) -> Danger | None:
        """The gravest of the signs that held the interview; of equal ones the first."""
        return max(self.dangers, key=lambda one: one.level.rank, default=None)

    def question_before(self, turn: int) -> str:
        """Return the question that the answer of a turn was given to; empty without one."""
        asked = [
            message.text
            for message in self.messages
            if message.turn < turn and message.speaker is MessageSpeaker.INTERVIEWER
        ]
        return asked[-1] if asked else ""

    def open_proposal(self, item: Item) -> Proposal | None:
        """Return what an answer about an item was read as that is still to be read back."""
        found = (one for one in self.proposals if one.item is item)
        return next((one for one in found if one.outcome is ProposalOutcome.OPEN), None)

    def proposals_of(self, item: Item) -> tuple[Proposal, ...]:
        """Return what answers about an item were read as, in order."""
        return tuple(one for one in self.proposals if one.item is item)
