"""What a protocol file says about an interview, as an interview is led by it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, PlainValidator, PrivateAttr, Strict, model_validator

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.domain.risk import READ_LANGUAGE
from ai_psychiatrist.interview.protocol.texts import (
    Conversation,
    PageTexts,
    Section,
    Wording,
    YesOrNo,
    between,
    out_of_range,
)
from ai_psychiatrist.validation.file_model import Flag, Names, invalid, invalid_inside, otherwise

_MOST_GOALS: Final = 12
LEAST_THRESHOLD: Final = 1
MOST_THRESHOLD: Final = 100
"""Percent of confidence."""
_LONGEST: Final = 20_000


class ProtocolKind(StrEnum):
    """What an interview is after."""

    ITEMS = "items"
    """Scores of the PHQ-8; its questions are written beforehand."""
    GOALS = "goals"
    """Goals; a model asks."""


class AgentVerb(StrEnum):
    """What a model can be asked to do in an interview; a protocol has guidelines for each."""

    GENERATE_GOALS = "generate_goals"
    EXTRACT_FACTS = "extract_facts"
    DETECT_DRIFT = "detect_drift"
    UPDATE_GOALS = "update_goals"
    GENERATE_QUESTION_WITH_ANSWERS = "generate_question_with_answers"
    GENERATE_ANALYSIS = "generate_analysis"


class DriftPolicy(StrEnum):
    """Which answers are looked at for leading away from their question."""

    NEVER = "never"
    FREE_TEXT = "free_text"


class TextInput(Section):
    """A text that an interview is created with."""

    type: Literal["text"]
    required: Flag = True
    max_length: Annotated[int, between(1, _LONGEST)]
    """In code points."""


class IntegerInput(Section):
    """A whole number that an interview is created with."""

    type: Literal["integer"]
    low: Annotated[int, between(0, 1_000_000)]
    high: Annotated[int, between(0, 1_000_000)]
    """Inclusive, as `low` is."""
    default: Annotated[int, Strict()] | None = None
    """`None` when a number has to be given."""

    @model_validator(mode="after")
    def _holds_its_default(self) -> Self:
        if self.low > self.high:
            raise invalid("empty_range", "no number is as large as `low` and as small as `high`")
        if self.default is not None and not self.low <= self.default <= self.high:
            raise invalid_inside({"default": out_of_range("default", self.low, self.high)})
        return self


Input: TypeAlias = Annotated[TextInput | IntegerInput, Field(discriminator="type")]
InputName: TypeAlias = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z0-9_]{0,63}\z"),
    otherwise("input_name", "an input's name is lower-case letters, digits and underscores"),
]


class Rule(Section):
    """A rule over the inputs."""

    name: Wording
    expr: Wording
    error: Wording
    """What is said where it is broken."""


class GoalRange(Section):
    """How many goals a model sets; both bounds are inclusive."""

    min: Annotated[int, between(1, _MOST_GOALS)]
    max: Annotated[int, between(1, _MOST_GOALS)]

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if self.min > self.max:
            raise invalid("empty_range", "`min` is greater than `max`")
        return self


class Goals(Section):
    """What an interview that a model leads is after."""

    fixed: Names = ()
    """Written down in the protocol; else a model sets them."""
    generated: GoalRange | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if ("fixed" in self.model_fields_set) is (self.generated is not None):
            raise invalid("goal_source", "goals are either `fixed` or `generated`")
        if self.generated is None and not 1 <= len(self.fixed) <= _MOST_GOALS:
            message = f"an interview has 1 to {_MOST_GOALS} goals"
            raise invalid_inside({"fixed": invalid("goal_count", message)})
        return self


class Anchor(Section):
    """One of the instrument's frequencies as it is shown."""

    text: Wording
    score: Annotated[int, between(0, MAX_ITEM_SCORE)]


def _by_score(anchors: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
    found = sorted(anchors, key=lambda anchor: anchor.score)
    if [anchor.score for anchor in found] != list(range(MAX_ITEM_SCORE + 1)):
        raise invalid("anchor_scores", "the anchors score 0, 1, 2 and 3, each of them once")
    return tuple(found)


class Confirmation(YesOrNo):
    """How a person is asked whether an unclear answer was understood rightly."""

    question: Wording = "You said “{words}”. For {item} I noted: {anchor}. Is that right?"
    """`{words}` stands for the person's own, `{item}` for the name of the item, `{anchor}` for the
    wording of the anchor that the words were taken for."""
    agree: Wording = "Yes, that is right"
    disagree: Wording = "No, that is not right"


class CorrectionPolicy(Section):
    """How a person is asked which question an answer is about that may correct an earlier one."""

    question: Wording = "I want to be sure which question you mean: {earlier}, or {current}?"
    """`{earlier}` and `{current}` stand for names of items."""
    earlier: Wording = "An earlier question: {item}"
    current: Wording = "The question just asked: {item}"
    again: Wording = "Please ask me again"


class AnswerPolicy(Section):
    """How a question can be answered."""

    anchors: Annotated[tuple[Anchor, ...], AfterValidator(_by_score)] = ()
    """The four frequencies by score in a protocol of items, else empty."""
    offered: Annotated[int, between(4, 4)] = 0
    """How many answers a model offers; 0 in a protocol of items."""
    free_text: Flag = True
    decline: Wording | None = None
    """How the refusal is worded that stands beside the answers, `None` for none."""
    confirmation: Confirmation = Confirmation()
    """Only in a protocol of items: every score that is read from words is read back."""
    correction: CorrectionPolicy = CorrectionPolicy()
    """Only in a protocol of items."""
    max_length: Annotated[int, between(1, _LONGEST)]
    """Of a free answer, in code points."""


class Stem(Section):
    """An item in three wordings; each counts the days on which the difficulty was there."""

    name: Wording
    """As it stands in the midst of a sentence."""
    question: Wording
    clarifying: Wording
    """Put after an answer that can be read in two ways."""
    second_ask: Wording
    """Put after an answer that led away, or none."""
    explanation: Wording | None = None
    """What is said to somebody who asks what the question means; `None` for the general words."""


def _threshold(value: object) -> int | str:
    if isinstance(value, str):
        return value
    if type(value) is int and LEAST_THRESHOLD <= value <= MOST_THRESHOLD:
        return value
    limits = f"from {LEAST_THRESHOLD} to {MOST_THRESHOLD}, or the name of an input"
    raise invalid("out_of_range", f"'threshold' has to be a whole number {limits}")


class StopRule(Section):
    """When no further question is asked."""

    max_turns: Annotated[int, between(1, 200)]
    max_asks: Annotated[int, between(1, 3)] | None = None
    """Per item, of which no wording is put twice; `None` in a protocol of goals."""
    stall_turns: Annotated[int, between(1, 200)] | None = None
    """How many turns without progress end it; `None` in a protocol of items."""
    threshold: Annotated[int | str, PlainValidator(_threshold)] | None = None
    """Mean confidence, 1–100, at which it ends, or the input that says it."""


class Sentences(Section):
    """What is always said; `{title}` stands for the input of that name."""

    introduction: Wording
    closing: Wording
    redirect: Wording
    """Leads back after an answer that did not speak to its question."""


class OnDanger(StrEnum):
    """What an interview does at a sign of danger, after it has said where to find help."""

    HOLD = "hold"
    """It takes one reply and asks nothing more."""
    CONTINUE = "continue"
    """It offers to go on."""


class DangerPolicy(Section):
    """What is done at which level."""

    high: OnDanger = OnDanger.HOLD
    moderate: OnDanger = OnDanger.CONTINUE


class Safety(Section):
    """What is said at signs of danger."""

    hold: Wording
    """The fixed words that acknowledge it and name help."""
    violence: Wording | None = None
    """The same for violence that the person suffers; `None` for the words of `hold`."""
    last_word: Wording = (
        "I ask no further questions now. If there is something that you want to add, write it "
        "here; it is kept."
    )
    kept: Wording = "Thank you. What you wrote is kept."
    go_on: YesOrNo = YesOrNo(
        question="Would you like to go on with the questions? You may also leave it here."
    )
    danger: DangerPolicy = DangerPolicy()
    """The fixed words with which an interview stops."""
    unread: Wording = "It may be that nobody reads this right now."
    """Said after where to turn, where `DANGER_NOTICE` does not say who reads it and when."""
    resumed: Wording = "Welcome back. Let us go on where we were."
    """Said where an operator has reopened the interview, before its question."""


class InterviewProtocol(Section):
    """A protocol, with the guidelines that lie beside its file."""

    id: Annotated[
        str,
        Strict(),
        Field(pattern=r"^[a-z][a-z0-9_-]{0,63}\z"),
        otherwise("protocol_id", "an id is lower-case letters, digits, `-` and `_`"),
    ]
    version: Wording
    kind: ProtocolKind
    title: Wording
    tone: Wording
    inputs: dict[InputName, Input] = Field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    texts: Sentences
    conversation: Conversation = Conversation()
    page: PageTexts = PageTexts()
    goals: Goals | None = None
    """`None` in a protocol of items, whose goals are the unknown items."""
    period: Names = ()
    """How a language other than English calls the last two weeks: each question has one of it."""
    items: dict[Item, Stem] = Field(default_factory=dict)
    """All eight in a protocol of items, else empty."""
    answers: AnswerPolicy
    facts: Flag = True
    """Whether facts are gathered in a protocol of goals."""
    drift: DriftPolicy
    stop: StopRule
    safety: Safety
    prompts: dict[AgentVerb, Wording] = Field(default_factory=dict)
    """The file of each agent's guidelines; none in a protocol of items, which asks no model."""
    report: Literal["items", "analysis"]
    """What it ends with: an updated assessment; or timeline, key facts, gaps and a verdict."""

    _digest: str = PrivateAttr("")
    _guidelines: Mapping[AgentVerb, str] = PrivateAttr(default_factory=dict)

    def complete(self, digest: str, guidelines: Mapping[AgentVerb, str]) -> Self:
        """Add what is known when the protocol's folder is read."""
        self._digest, self._guidelines = digest, guidelines
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of the protocol file and its guidelines, in hexadecimal."""
        return self._digest

    @property
    def guidelines(self) -> Mapping[AgentVerb, str]:
        """The text of each agent's guidelines."""
        return self._guidelines

    @property
    def reads_answers(self) -> bool:
        """Whether answers in free words are in the language that the rules read."""
        return self.page.language.partition("-")[0].casefold() == READ_LANGUAGE

    @property
    def needs_model(self) -> bool:
        """Whether the interview cannot be led without a model."""
        return self.kind is ProtocolKind.GOALS

    def threshold(self, inputs: Mapping[str, str | int]) -> int | None:
        """Return the mean confidence at which the interview ends. `inputs`: as accepted."""
        limit = self.stop.threshold
        value = inputs[limit] if isinstance(limit, str) else limit
        return value if isinstance(value, int) else None
