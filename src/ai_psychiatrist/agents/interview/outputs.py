"""What each interview agent's reply holds once it is accepted.

The schemas that models are sent come from these classes, so every field says what it is for. All
limits are checked here, whatever a provider promises: a value that breaks one is refused, never
moved into the range or read from another type. No feedback repeats a text of the reply.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    create_model,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from ai_psychiatrist.domain.failures import FailureCode, RejectionCode
from ai_psychiatrist.domain.interview import COMPLETE_CONFIDENCE
from ai_psychiatrist.llm.replies import ModelOutput
from ai_psychiatrist.services.evidence_validation.tokens import STOP_WORDS

MAX_TEXT_CHARACTERS: Final = 8_000
"""Longest text in one field: what is kept of an interview has to stay readable."""

OURS: Final = "refused_"
"""Begins the error types of these checks; the rest is a rejection code."""

_LEAST_SHARED: Final = 3
_SAME_SHARE: Final = 0.8
_WORD: Final = re.compile(r"\w+")
_APOSTROPHES: Final = str.maketrans("’ʼ", "''")
_NOT_KNOWING: Final = re.compile(
    r"\b(?:"
    r"(?:(?:do|did|does|could|can|would)(?: not|n't)|can't) (?:\w+ ){0,2}"
    r"(?:know|remember|recall|say|tell|think of|notice|see|follow)"
    r"|cannot (?:\w+ ){0,2}(?:know|remember|recall|say|tell)"
    r"|dunno|no idea|no clue|not (?:\w+ ){0,2}(?:sure|certain|clear|remember)"
    r"|(?:isn't|wasn't|aren't|weren't) (?:\w+ ){0,2}(?:sure|certain|clear)"
    r"|unsure|uncertain|unclear|unknown"
    r"|(?:hard|difficult|impossible|too early) to (?:say|tell|know|remember)"
    r"|forgot|forgotten|maybe|perhaps|rather not say|prefer not to"
    r")\b"
)


def violation(code: RejectionCode, rule: str) -> PydanticCustomError:
    """Return the error that a validator raises; `rule`: a fixed sentence for the model."""
    return PydanticCustomError(f"{OURS}{code}", rule)


def not_endless(text: str) -> str:
    """Reject a text that is too long to read."""
    if len(text) > MAX_TEXT_CHARACTERS:
        raise violation(RejectionCode.TOO_LONG, "is too long; write a few sentences")
    return text


def has_words(text: str) -> str:
    """Refuse a text without a letter or digit."""
    if _WORD.search(text) is None:
        raise violation(RejectionCode.EMPTY_FIELD, "must not be empty; write its content")
    return text


def same_words(text: str) -> str:
    """Return what two texts share that differ in case, spacing or punctuation alone."""
    return " ".join(_WORD.findall(text.translate(_APOSTROPHES).casefold()))


def asks_the_same(text: str, before: str) -> bool:
    """Return whether two questions differ in small words and their order alone."""
    one, other = (set(same_words(given).split()) - STOP_WORDS for given in (text, before))
    shared, all_words = len(one & other), len(one | other)
    if shared < _LEAST_SHARED:
        return same_words(text) == same_words(before)
    return shared >= _SAME_SHARE * all_words


def distinct_texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a list in which a text occurs twice, but for case, spacing and punctuation."""
    if len(set(map(same_words, texts))) < len(texts):
        raise violation(
            RejectionCode.NOT_DISTINCT, "has the same text twice; each has to be different"
        )
    return texts


def is_not_knowing(text: str) -> bool:
    """Return whether an answer suits a person who is not sure."""
    return _NOT_KNOWING.search(text.translate(_APOSTROPHES).casefold()) is not None


DEFAULT_MIN_GOALS: Final = 5
DEFAULT_MAX_GOALS: Final = 7
OFFERED_ANSWERS: Final = 4
WHOLE: Final = 100
MOST_ENTRIES: Final = 100
"""Longest list that is read where the task sets no limit of its own."""

Text = Annotated[str, StringConstraints(strict=True), AfterValidator(not_endless)]
Words = Annotated[Text, StringConstraints(strip_whitespace=True), AfterValidator(has_words)]
Percent = Annotated[int, Field(strict=True, ge=0, le=100)]
Rating = Annotated[int, Field(strict=True, ge=1, le=10)]

Status = Literal["not_started", "in_progress", "complete"]
Confidence = Literal["certain", "uncertain"]
Frequency = Literal[
    "not_at_all", "several_days", "more_than_half_the_days", "nearly_every_day", "unclear"
]


class Reply(BaseModel):
    """A part of a reply; its words are in no `repr`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        return ()


class InterviewOutput(ModelOutput):
    """An accepted reply of an interview agent."""

    # What was done to read a reply is no part of it: no schema asks for it.
    repaired: SkipJsonSchema[bool] = False
    coercions: SkipJsonSchema[int] = 0


class GoalsOutput(InterviewOutput):
    """The goals that an interview sets out with."""

    goals: tuple[Words, ...]


@lru_cache(maxsize=16)
def goals_output(min_goals: int, max_goals: int) -> type[GoalsOutput]:
    """Return the output of the goal generator for a protocol's own number of goals."""
    goals = Annotated[
        tuple[Words, ...],
        Field(
            min_length=min_goals,
            max_length=max_goals,
            description="Specific things to find out, each different from the others.",
        ),
        AfterValidator(distinct_texts),
    ]
    return create_model(
        "GoalsOutput", __base__=GoalsOutput, __doc__=GoalsOutput.__doc__, goals=goals
    )


class FactReply(Reply):
    """One claim of the interviewee."""

    topic: Words = Field(description="What the fact is about, in a few words.")
    claim: Words = Field(description="What the interviewee claims, as one sentence.")
    timestamp: Text = Field(
        description="When it happened, in the interviewee's words; empty if that was not said."
    )
    confidence: Confidence = Field(description="How sure the interviewee was.")


class DriftReply(Reply):
    """Whether an answer addresses its question."""

    addressed_question: StrictBool = Field(
        description="Whether the answer addresses what was asked; not knowing is an answer too."
    )
    drift_reason: Text = Field(
        description="How the answer misses the question; empty if it addresses it."
    )
    redirect_suggestion: Text = Field(
        description="One sentence that leads back; empty only if the question was addressed."
    )

    @model_validator(mode="after")
    def _leads_back(self) -> Self:
        if not self.addressed_question and not self.redirect_suggestion.strip():
            raise violation(
                RejectionCode.EMPTY_FIELD,
                "redirect_suggestion must not be empty if addressed_question is false",
            )
        return self


class DriftOutput(DriftReply, InterviewOutput):
    """Whether an answer addresses its question, and how to lead back if it does not."""


class GoalUpdateReply(Reply):
    """How far one goal is after an answer."""

    goal_id: Words = Field(description="Id of the goal as listed, such as g1; never its text.")
    confidence: Percent = Field(description="How well the goal is understood now, 0 to 100.")
    status: Status = Field(
        description=f"complete only at a confidence of {COMPLETE_CONFIDENCE} or more."
    )
    reasoning: Words = Field(description="What in the answer changes the confidence.")

    @model_validator(mode="after")
    def _is_complete_late(self) -> Self:
        if self.status == "complete" and self.confidence < COMPLETE_CONFIDENCE:
            raise violation(
                RejectionCode.RULE_BROKEN,
                f"status may be complete only at a confidence of {COMPLETE_CONFIDENCE} or more",
            )
        return self


def _one_update_each(updates: tuple[GoalUpdateReply, ...]) -> tuple[GoalUpdateReply, ...]:
    ids = [update.goal_id for update in updates]
    if len(set(ids)) < len(ids):
        raise violation(RejectionCode.NOT_DISTINCT, "updates a goal twice; give one update each")
    return updates


Facts = Annotated[
    tuple[FactReply, ...],
    Field(max_length=MOST_ENTRIES, description="The concrete claims of the answer, if any."),
]
GoalUpdates = Annotated[
    tuple[GoalUpdateReply, ...],
    Field(max_length=MOST_ENTRIES, description="The goals that the answer changes, if any."),
    AfterValidator(_one_update_each),
]


class FactsOutput(InterviewOutput):
    """The facts of one answer; there may be none."""

    facts: Facts


class GoalUpdatesOutput(InterviewOutput):
    """The goals that an answer changes; there may be none."""

    goal_updates: GoalUpdates


class DigestOutput(InterviewOutput):
    """Facts, drift and goals of one answer together."""

    facts: Facts
    drift: DriftReply
    goal_updates: GoalUpdates


class OfferedAnswer(Reply):
    """One answer that the interviewee may choose."""

    answer: Words = Field(description="What the interviewee might say, in the first person.")
    reasoning: Text = Field(description="Why it is offered; not shown to the interviewee.")


def _distinct_answers(answers: tuple[OfferedAnswer, ...]) -> tuple[OfferedAnswer, ...]:
    texts = [offered.answer for offered in answers]
    distinct_texts(tuple(texts))
    if not any(is_not_knowing(text) for text in texts):
        raise violation(
            RejectionCode.RULE_BROKEN,
            "needs one answer for someone who is not sure, such as: I am not sure",
        )
    return answers


class QuestionOutput(InterviewOutput):
    """The next question and the four answers offered with it."""

    question: Words = Field(description="The question to the interviewee.")
    target_goal_id: Words = Field(description="Id of the goal that it serves, such as g1.")
    reasoning: Text = Field(description="Why it is asked; not shown to the interviewee.")
    answers: Annotated[
        tuple[OfferedAnswer, ...],
        Field(min_length=OFFERED_ANSWERS, max_length=OFFERED_ANSWERS),
        AfterValidator(_distinct_answers),
    ] = Field(description="Four different answers, one of them for someone who is not sure.")


MessageAct = Literal["answer", "question", "refusal", "stop", "pause", "nothing_yet", "other_topic"]


class FrequencyOutput(InterviewOutput):
    """What a message does, and on how many days it says that a difficulty was there."""

    frequency: Frequency = Field(
        description="What the whole answer says; unclear if more than one is possible."
    )
    words: Text = Field(
        description="The words that say so, copied letter by letter; empty if unclear."
    )
    act: MessageAct = Field(
        default="answer",
        description="What the message does: answers, asks back, refuses to answer this question, "
        "wants to stop or pause, says nothing yet, or is about something else.",
    )

    @property
    def score(self) -> int | None:
        """The score of the frequency, 0-3; `None` when it is unclear."""
        at = get_args(Frequency).index(self.frequency)
        return None if self.frequency == "unclear" else at


class TimelineEntryReply(Reply):
    """What happened when."""

    time: Text = Field(description="When, in the words used; empty if not said.")
    event: Words = Field(description="What happened.")


class ShareReply(Reply):
    """One person's part of the responsibility."""

    name: Words = Field(description="Who.")
    percentage: Percent = Field(description="This person's part, 0 to 100.")


def _shares_of_a_whole(shares: tuple[ShareReply, ...]) -> tuple[ShareReply, ...]:
    distinct_texts(tuple(share.name for share in shares))
    if shares and sum(share.percentage for share in shares) != WHOLE:
        raise violation(RejectionCode.RULE_BROKEN, "percentages have to total 100")
    return shares


class VerdictReply(Reply):
    """Who is responsible for what happened, and how intense it is."""

    primary_responsibility: Words = Field(description="Who bears most of the responsibility.")
    percentage: Percent = Field(description="That person's part of it, 0 to 100.")
    reasoning: Words = Field(description="What in the interview speaks for that.")
    contributing_factors: Text = Field(description="What else played a part.")
    drama_rating: Rating = Field(description="Intensity of the incident, 1 to 10.")
    drama_rating_explanation: Words = Field(description="Why it is rated so.")
    shares: Annotated[
        tuple[ShareReply, ...],
        Field(max_length=MOST_ENTRIES),
        AfterValidator(_shares_of_a_whole),
    ] = Field(
        default=(),
        description="Optional: everyone who shares the responsibility; percentages total 100.",
    )


Lines = Annotated[tuple[Words, ...], Field(max_length=MOST_ENTRIES)]


class AnalysisReply(Reply):
    """The report on an incident."""

    timeline: tuple[TimelineEntryReply, ...] = Field(
        max_length=MOST_ENTRIES, description="What happened, in order."
    )
    key_facts: Lines = Field(description="What matters most of what is known.")
    gaps: Lines = Field(description="What is still unknown or contradictory.")
    verdict: VerdictReply


class AnalysisOutput(AnalysisReply, InterviewOutput):
    """The report on an incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The parts that were wanted; none of them where one has failed."""

    facts: tuple[FactReply, ...] = ()
    drift: DriftReply | None = None
    goal_updates: tuple[GoalUpdateReply, ...] = ()
    failure: FailureCode | None = None
