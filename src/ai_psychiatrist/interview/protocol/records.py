"""What a protocol says about an interview."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.validation.checks.rules import RuleSet


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


class ReportKind(StrEnum):
    """What an interview ends with."""

    ITEMS = "items"
    """An updated assessment."""
    ANALYSIS = "analysis"
    """Timeline, key facts, gaps and a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextInput:
    """A text that an interview is created with."""

    name: str
    is_required: bool
    max_length: int
    """In code points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerInput:
    """A whole number that an interview is created with."""

    name: str
    low: int
    high: int
    """Inclusive, as `low` is."""
    default: int | None
    """`None` when a number has to be given."""


Input: TypeAlias = TextInput | IntegerInput


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedGoals:
    """Goals that are written down in the protocol."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedGoals:
    """Goals that a model sets; both bounds are inclusive."""

    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One of the instrument's frequencies as it is shown."""

    text: str
    score: int
    """0–3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """How a person is asked whether an unclear answer was understood rightly."""

    question: str
    """`{anchor}` stands for the wording of the anchor that the answer was taken for."""
    agree: str
    disagree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPolicy:
    """How a question can be answered."""

    anchors: tuple[Anchor, ...]
    """The four frequencies by score in a protocol of items, else empty."""
    offered: int
    """How many answers a model offers; 0 in a protocol of items."""
    allows_free_text: bool
    decline: str | None
    """How the refusal is worded that stands beside the answers, `None` for none."""
    confirmation: Confirmation | None
    """`None` where no model is asked what an unclear answer says."""
    max_length: int
    """Of a free answer, in code points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stem:
    """An item in three wordings; each counts the days on which the difficulty was there."""

    question: str
    clarifying: str
    """Put after an answer that can be read in two ways."""
    second_ask: str
    """Put after an answer that led away, or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """When no further question is asked."""

    max_turns: int
    max_asks: int | None = None
    """Per item; `None` in a protocol of goals."""
    stall_turns: int | None = None
    """How many turns without progress end it; `None` in a protocol of items."""
    threshold: int | None = None
    """Mean confidence, 0–100, at which it ends; `None` when there is none or an input says it."""
    threshold_input: str | None = None
    """The input that holds the threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """What is always said; `{title}` stands for the input of that name."""

    introduction: str
    closing: str
    redirect: str
    """Leads back after an answer that did not speak to its question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewProtocol:
    """A protocol without errors."""

    id: str
    version: str
    digest: str
    """SHA-256 of the protocol file and its prompts, in hexadecimal."""
    kind: ProtocolKind
    title: str
    tone: str
    inputs: tuple[Input, ...]
    goals: FixedGoals | GeneratedGoals | None
    """`None` in a protocol of items, whose goals are the unknown items."""
    answers: AnswerPolicy
    stems: Mapping[Item, Stem] = field(repr=False)
    """All eight items in their order in a protocol of items, else empty."""
    stop: StopRule
    sentences: Sentences = field(repr=False)
    safety_hold: str = field(repr=False)
    """The fixed words with which an interview stops at signs of danger."""
    prompts: Mapping[AgentVerb, str] = field(repr=False)
    """Guidelines by agent; empty in a protocol of items, which asks no model."""
    extracts_facts: bool
    drift: DriftPolicy
    report: ReportKind
    rules: RuleSet = field(repr=False)
    """Rules over the inputs."""

    @property
    def needs_model(self) -> bool:
        """Whether the interview cannot be led without a model."""
        return self.kind is ProtocolKind.GOALS

    def threshold(self, inputs: Mapping[str, str | int]) -> int | None:
        """Return the mean confidence at which the interview ends. `inputs`: as accepted."""
        if self.stop.threshold_input is None:
            return self.stop.threshold
        value = inputs[self.stop.threshold_input]
        return value if isinstance(value, int) else None
