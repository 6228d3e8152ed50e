"""What an interview asks about items of the PHQ-8, and what its answers make of them.

Nothing here shows words of a person in its `repr`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.phq8 import (
    Item,
    UnknownReason,
    require_score_or_reason,
)


class ItemSource(StrEnum):
    """Where an item's score comes from."""

    TRANSCRIPT = "transcript"
    ANSWER = "answer"
    EARLIER_ANSWER = "earlier_answer"
    """An answer in an earlier interview about the same assessment."""
    NONE = "none"


class UnansweredReason(StrEnum):
    """Why an item is still unknown after an interview."""

    DECLINED = "declined"
    AMBIGUOUS_ANSWER = "ambiguous_answer"
    OFF_TOPIC = "off_topic"
    UNREADABLE_ANSWER = "unreadable_answer"
    NOT_ASKED = "not_asked"
    """The interview ended before the item was asked about."""
    NOT_ANSWERED = "not_answered"
    """The item was asked about, and the interview ended before an answer came."""
    SAFETY_HOLD = "safety_hold"
    """The interview was held while the item was open."""


class Act(StrEnum):
    """What a message of the person does."""

    ANSWER = "answer"
    """It answers an item, by a chosen option or in words."""
    CORRECTION = "correction"
    """It takes back what was said about an item."""
    CONFIRMATION = "confirmation"
    """It says that what was read back is right."""
    DENIAL = "denial"
    """It says that what was read back is wrong."""
    REFUSAL = "refusal"
    QUESTION = "question"
    """It asks back."""
    STOP = "stop"
    PAUSE = "pause"
    FRAGMENT = "fragment"
    """A greeting, an emoji, or the beginning of something: it says nothing yet."""
    OFF_TOPIC = "off_topic"
    DANGER = "danger"
    """It held the interview."""


class Unclear(StrEnum):
    """Why words that speak of how often give no score."""

    RANGE = "range"
    """They leave more than one score open: three or four a week."""
    TWO_VALUES = "two_values"
    COMPARISON = "comparison"
    """They compare with the usual."""
    GOOD_DAYS = "good_days"
    """They count the days without the difficulty, or may."""
    CONDITION = "condition"
    OTHER_TIME = "other_time"
    OTHER_PERSON = "other_person"
    NEGATED = "negated"
    VAGUE = "vague"
    """They say that it is there, and not how often."""
    OPTION_NUMBER = "option_number"
    """A bare 1 to 4, which may be days or the number of an option."""


class ProposalSource(StrEnum):
    """Who read an answer."""

    RULES = "rules"
    MODEL = "model"


class ProposalOutcome(StrEnum):
    """What became of what an answer was read as."""

    UNCLEAR = "unclear"
    """The model took it for none of the frequencies."""
    NOT_GROUNDED = "not_grounded"
    """The words that it named are not the answer's own, or are not about the person."""
    FAILED = "failed"
    """The model gave nothing usable."""
    OPEN = "open"
    """The person has not said yet whether it is right."""
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"
    """The person said that it is wrong, or nothing clear."""
    REPLACED = "replaced"
    """The person has said something else before it was read back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuote:
    """The words of an answer that carry a score."""

    text: str = field(repr=False)
    """The words as they were typed."""
    start: int
    """First character, in code points of the answer."""
    end: int
    """The character after the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What an answer in words was read as: no score before the person confirms it."""

    item: Item
    """The item that the answer would score."""
    turn: int
    """The turn of the answer."""
    outcome: ProposalOutcome
    """What became of it."""
    score: int | None = None
    """0–3, that of the frequency; `None` where the model named none."""
    quote: AnswerQuote | None = None
    """The words of the answer that say so, once they are found in it."""
    failure: FailureCode | None = None
    """Why the model gave nothing usable."""
    settled_turn: int | None = None
    """The turn in which the person said whether it is right."""
    source: ProposalSource = ProposalSource.RULES
    """Who read the answer."""
    is_day_count: bool = False
    """Whether a bare number is read back as days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """An answer that may correct an earlier one: it scores nothing before the person said which."""

    turn: int
    """The turn of the answer."""
    start: int
    """Where in the answer the words begin that may be a score, in code points."""
    earlier: tuple[Item, ...]
    """The items whose answers it may correct, the one that was answered last at the end."""
    current: Item
    """The item that was asked about."""
    settled_turn: int | None = None
    """The turn in which the person said which item is meant."""

    @property
    def items(self) -> tuple[Item, ...]:
        """All items that it may be about."""
        return (self.current, *self.earlier)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenAct:
    """What a message does, and where in it; characters of the message, end exclusive."""

    turn: int
    """The turn of the message."""
    act: Act
    """What it does."""
    start: int
    """First character, in code points of the message."""
    end: int
    """The character after the last."""
    item: Item | None = None
    """The item that it is about."""
    score: int | None = None
    """0–3, what the words were read as; it counts where the item's score says so."""
    unclear: Unclear | None = None
    """Why words that speak of how often have no score."""
    topic: str | None = None
    """What a question back is about."""
    source: ProposalSource = ProposalSource.RULES
    """Who read the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfItem:
    """One thing that was said to an item, with how it was read."""

    turn: int
    """The turn of the message."""
    words: str = field(repr=False)
    """The words as they were typed."""
    act: Act
    """What they do."""
    score: int | None
    """0–3, what they were read as."""
    unclear: Unclear | None
    """Why they have no score though they speak of how often."""
    source: ProposalSource
    """Who read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """One item after the interview: a score with where it comes from, or why there is none."""

    item: Item
    score: int | None
    unknown_reason: UnansweredReason | None
    source: ItemSource
    answer_turn: int | None = None
    quote: AnswerQuote | None = None
    """The words of the answer that scored it."""
    confirmed_turn: int | None = None
    """The turn in which the person confirmed what the answer was read as."""
    interview: str | None = None
    """SHA-256 of the id of the earlier interview whose answer it is; turns and quote are of that
    one."""
    transcript_reason: UnknownReason | None = None
    """Why the transcript left it unknown, where there was an assessment."""
    evidence: tuple[str, ...] = field(default=(), repr=False)
    """The quotes of the transcript, where the score comes from it."""
    said: tuple[SaidOfItem, ...] = ()
    """All that was said to the item in the interview, in order."""

    def __post_init__(self) -> None:
        require_score_or_reason(self.score, self.unknown_reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedItem:
    """One item as an assessment of a transcript left it."""

    score: int | None
    unknown_reason: UnknownReason | None = None
    evidence: tuple[str, ...] = field(default=(), repr=False)
    """Quotes of the transcript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentInput:
    """What an interview needs of an assessment; an item that is absent counts as unknown."""

    items: Mapping[Item, AssessedItem]
    answered_before: tuple[Item, ...] = ()
    """Items that earlier interviews about the assessment have answered: not to be asked again."""

    @property
    def unknown(self) -> tuple[Item, ...]:
        """The items to be asked about, in the order of the instrument."""
        return tuple(
            item
            for item in Item
            if (item not in self.items or self.items[item].score is None)
            and item not in self.answered_before
        )
