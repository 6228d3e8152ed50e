"""What an interview is made of: goals, questions, answers, and what becomes known by them.

Nothing here shows words of a person in its `repr`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.phq8 import Item

COMPLETE_CONFIDENCE: Final = 80
"""A goal may be called complete from this confidence on."""
RECENT_FACTS: Final = 10
"""How many of the latest facts a model gets while questions are asked."""
RECENT_MESSAGES: Final = 6
"""How many of the latest messages a model gets while questions are asked."""


class InterviewState(StrEnum):
    """Where an interview stands."""

    PREPARING = "preparing"
    """It is created; its first question is still to be made."""
    AWAITING = "awaiting"
    """A question is put, its answer is awaited."""
    DIGESTING = "digesting"
    """An answer is stored and not yet worked in."""
    PAUSED = "paused"
    """The person left; the question still waits."""
    FAILED = "failed"
    """A step did not succeed; what was there before it is kept, and it can be tried again."""
    REPORTING = "reporting"
    """No further question is asked; the report is still to be made."""
    DONE = "done"
    """It is over, and its report is there."""
    SAFETY_HOLD = "safety_hold"
    """Signs of danger were found: no further question is asked, a person has to look."""

    @property
    def is_over(self) -> bool:
        """Whether no answer is taken any more."""
        return self in {InterviewState.REPORTING, InterviewState.DONE, InterviewState.SAFETY_HOLD}


class GoalStatus(StrEnum):
    """How far a goal is."""

    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    COMPLETE = "complete"


class Certainty(StrEnum):
    """How sure the person was of a fact."""

    CERTAIN = "certain"
    UNCERTAIN = "uncertain"


class AnswerKind(StrEnum):
    """What a choosable answer is."""

    ANCHOR = "anchor"
    """One of the instrument's frequencies; it carries a score."""
    OFFERED = "offered"
    """A wording that a model proposed."""
    DECLINE = "decline"
    """The person prefers not to say."""
    CONFIRM = "confirm"
    """What the person was understood to say is right; it carries that score."""
    REJECT = "reject"
    """What the person was understood to say is wrong."""
    ITEM = "item"
    """It names an item: the one that was meant, or the one that is to be changed."""
    ASK_AGAIN = "ask_again"
    """It was meant for all of the items in question, or for none: they are asked about again."""


_REPLIES: Final = {AnswerKind.CONFIRM: "y", AnswerKind.REJECT: "n"}
"""The answers to a question that takes a yes or a no, by their letters."""


class QuestionPurpose(StrEnum):
    """What a question is for."""

    ASK = "ask"
    """It asks for a goal, or for an item."""
    READ_BACK = "read_back"
    """It says what an answer was read as: a yes counts it."""
    WHICH_ITEM = "which_item"
    """It asks which item a correction is about."""
    ONCE_MORE = "once_more"
    """It asks whether an item that was refused may be asked about again."""
    CONFIRM_STOP = "confirm_stop"
    """It asks whether the interview is to end here."""
    LAST_WORD = "last_word"
    """After a grave sign of danger: one reply is taken and kept."""
    GO_ON = "go_on"
    """After a sign of danger: it asks whether to go on."""
    REVIEW = "review"
    """It shows what was noted, and asks what is to be changed."""


class MessageSpeaker(StrEnum):
    """Whose words a message holds."""

    INTERVIEWER = "interviewer"
    PARTICIPANT = "participant"


class EndReason(StrEnum):
    """Why no further question is asked."""

    ALL_RESOLVED = "all_resolved"
    """Every goal is complete, or every item has its score."""
    CONFIDENCE_REACHED = "confidence_reached"
    ASKS_SPENT = "asks_spent"
    """What is open was asked as often as the protocol allows."""
    TURNS_SPENT = "turns_spent"
    STALLED = "stalled"
    """Several turns in a row brought nothing."""
    BUDGET_SPENT = "budget_spent"
    """No further model call may be made, but for the report."""
    STOPPED = "stopped"
    """The person ended it."""
    SAFETY = "safety"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One thing to find out."""

    id: str
    """`g1`, `g2`, … in the order in which the goals were set."""
    text: str = field(repr=False)
    """What is to be found out."""
    status: GoalStatus = GoalStatus.NOT_STARTED
    """How far it is."""
    confidence: int = 0
    """0–100."""
    asks: int = 0
    """How many questions were put for it."""
    item: Item | None = None
    """The item that an answer would score, in a protocol of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One claim of the person."""

    id: str
    """`f1`, `f2`, …"""
    topic: str = field(repr=False)
    """What it is about."""
    claim: str = field(repr=False)
    """What the person says of it."""
    timestamp: str = field(repr=False)
    """When it happened, in the person's words."""
    certainty: Certainty
    """How sure the person was."""
    turn: int
    """The turn whose answer said it, from 1."""
    goal_ids: tuple[str, ...]
    """The goals that it serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOption:
    """One answer that may be chosen."""

    id: str
    """`a1`, `a2`, … within its question."""
    text: str = field(repr=False)
    kind: AnswerKind
    score: int | None = None
    """0–3 for an anchor."""
    rationale: str = field(default="", repr=False)
    """Why a model offered it; never leaves the server."""
    item: Item | None = None
    """The item that the answer before was meant for, with the kind `ITEM`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question as it is put."""

    id: str
    """`q1`, `q2`, …"""
    text: str = field(repr=False)
    goal_id: str
    options: tuple[AnswerOption, ...]
    allows_free_text: bool
    turn: int
    """The turn that it opens, from 1."""
    rationale: str = field(default="", repr=False)
    """Why a model asks it; never leaves the server."""
    is_clarifying: bool = False
    """Whether the last answer left open how often, so that this is asked once more."""
    item: Item | None = None
    """The item that the answer scores, where a caller gets the question."""
    purpose: QuestionPurpose = QuestionPurpose.ASK
    """What it is for."""

    def option(self, option_id: str | None) -> AnswerOption | None:
        """Return the option of that id, `None` when it was not offered."""
        return next((option for option in self.options if option.id == option_id), None)

    @property
    def offered(self) -> tuple[AnswerOption, ...]:
        """The options to be shown: of what is read back, that it is right and that it is not.

        The others may be chosen all the same; shown beside a "no", "not at all" would be taken for
        one.
        """
        if self.purpose is not QuestionPurpose.READ_BACK:
            return self.options
        return tuple(one for one in self.options if one.kind in _REPLIES)

    @property
    def lettered(self) -> Mapping[str, AnswerOption]:
        """The offered options by their letters: `y` and `n`, or `a`, `b`, …; `x` refuses."""
        replies = {one.kind: one for one in self.options if one.kind in _REPLIES}
        if len(replies) == len(_REPLIES):
            return {_REPLIES[kind]: one for kind, one in replies.items()}
        others = (one for one in self.options if one.kind is not AnswerKind.DECLINE)
        letters = {chr(ord("a") + number): one for number, one in enumerate(others)}
        refusals = [one for one in self.options if one.kind is AnswerKind.DECLINE]
        return letters | dict(zip("x", refusals, strict=False))

    @property
    def letters(self) -> Mapping[str, AnswerOption]:
        """All letters that choose an option: `a` to `d` mean the frequencies wherever they can."""
        more = {
            "x" if one.score is None else chr(ord("a") + one.score): one
            for one in self.options
            if one.score is not None or one.kind is AnswerKind.DECLINE
        }
        return {**more, **self.lettered}

    def chosen(self, answer: "GivenAnswer | None") -> AnswerOption | None:
        """Return the option that an answer chose, `None` for free text and for no answer."""
        return None if answer is None else self.option(answer.option_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """What the person answered."""

    question_id: str
    option_id: str | None
    """The option that was chosen, `None` for free text."""
    text: str = field(repr=False)
    """The person's words, or the wording of the chosen option."""
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Whether an answer spoke to its question."""

    is_addressed: bool
    reason: str = field(default="", repr=False)
    redirect: str = field(default="", repr=False)
    """How to lead back; never empty when the question was not addressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One utterance of the interview."""

    id: str
    """`m1`, `m2`, …"""
    speaker: MessageSpeaker
    """Whose words these are."""
    text: str = field(repr=False)
    """The words."""
    turn: int
    """The turn that they belong to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewView:
    """What the agents get of an interview."""

    title: str = field(repr=False)
    summary: str = field(repr=False)
    interviewee_name: str = field(repr=False)
    interviewee_role: str = field(repr=False)
    tone: str = field(repr=False)
    goals: tuple[Goal, ...] = ()
    facts: tuple[Fact, ...] = ()
    """The latest ones; all of them for the analysis."""
    messages: tuple[Message, ...] = ()
    """The latest ones; all of them for the analysis."""
    question: Question | None = None
    """The question that `answer` answers."""
    answer: GivenAnswer | None = None
    redirect: str = field(default="", repr=False)
    """How to lead back to the question, when the answer before did not speak to it."""
    said_before: tuple[str, ...] = field(default=(), repr=False)
    """All that the interviewer has said: no question may repeat one of them."""
    guidelines: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The protocol's guidelines by the agents' verbs, such as `generate_goals`."""
    min_goals: int = 5
    max_goals: int = 7
    interview_hash: str = ""
    """Keyed digest of the interview's id: metadata for a provider, never part of a prompt."""
