"""Evidence: words of the participant with their place in the transcript, and why others are not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Final


class Match(StrEnum):
    """How a quote was found."""

    EXACT = "exact"
    """Character for character, but for line breaks."""
    NORMALISED = "normalised"
    """The same words; case, spacing, punctuation or typography differ."""
    TOLERANT = "tolerant"
    """The same words but for fillers, repeated starts, contractions written out, or what an
    ellipsis of the quote stands for."""


class Polarity(StrEnum):
    """Whether the clause that a quote comes from says that a symptom is there."""

    AFFIRMED = "affirmed"
    DENIED = "denied"
    """The symptom is negated, or wellness is stated."""
    UNCLEAR = "unclear"


class Frequency(StrEnum):
    """How often the clause of a quote says that a symptom is there."""

    NOT_AT_ALL = "not_at_all"
    SEVERAL_DAYS = "several_days"
    MORE_THAN_HALF = "more_than_half"
    NEARLY_EVERY_DAY = "nearly_every_day"
    UNSTATED = "unstated"


class Timeframe(StrEnum):
    """When the clause of a quote says that it was so."""

    RECENT = "recent"
    """Within about the last two weeks, or now."""
    PAST = "past"
    """Before, and over."""
    UNSTATED = "unstated"


class Relevance(StrEnum):
    """Whether a quote can be about the item that it is given for."""

    ABOUT = "about"
    """Its words, or the question that it answers, name the item."""
    UNREAD = "unread"
    """Nothing was read from it, which says nothing against it."""
    ELSEWHERE = "elsewhere"
    """It is read as about something else alone."""
    OTHER_PERSON = "other_person"
    """It is read as about somebody else."""
    INSTRUCTION = "instruction"
    """It tells a reader what to do, and is no evidence of anything."""


class QuoteRejection(StrEnum):
    """Why a quote does not count as the participant's words."""

    NOT_FOUND = "not_found"
    INTERVIEWER_WORDS = "interviewer_words"
    CROSSES_SPEAKERS = "crosses_speakers"
    TOO_SHORT = "too_short"
    """Common words that are no whole clause or answer."""
    AMBIGUOUS = "ambiguous"
    """A bare answer word such as "no" that the participant gave more than once."""
    MEANING_CHANGED = "meaning_changed"
    """Close to what was said, but a negation, number, frequency or person differs."""
    NOT_SIMILAR = "not_similar"
    """In fuzzy mode: it leaves out or writes otherwise more than the threshold allows."""
    TOO_LONG = "too_long"
    """More than a quote; it was not looked for."""
    TOO_COSTLY = "too_costly"
    """It can be told in so many ways, among words that repeat, that the search was given up."""


class Grounding(StrEnum):
    """Whether quotes were checked against the transcript."""

    CHECKED = "checked"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of one participant turn; `transcript.text[start:end]` gives it back."""

    turn: int
    """Position of the turn, counted from 0."""
    start: int
    """First character, in code points of the transcript."""
    end: int
    """Character after the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadAnswer:
    """An interviewer's question for an item, and the answer from which nothing was read."""

    question_turn: int
    """Position of the question's turn, counted from 0."""
    question: str = field(repr=False)
    """The words of the question."""
    answer_turn: int
    """Position of the answer's turn, counted from 0."""
    answer: str = field(repr=False)
    """The words of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Verbatim words of the participant: its segments joined by a space."""

    text: str = field(repr=False)
    """The words themselves."""
    match: Match
    """How they were found in the transcript."""
    segments: tuple[Segment, ...]
    """Where they stand."""
    polarity: Polarity = Polarity.UNCLEAR
    """Whether the whole clause says that the symptom is there; unclear until it is read."""
    frequency: Frequency = Frequency.UNSTATED
    """How often, as the clause states it."""
    timeframe: Timeframe = Timeframe.UNSTATED
    """When, as the clause states it."""
    relevance: Relevance = Relevance.UNREAD
    """Whether it can be about the item that it is given for."""
    is_plain: bool = True
    """Whether it can be read in one way alone, so that a model's score has to yield to it."""

    @property
    def supports_symptom(self) -> bool:
        """Whether it says that a symptom is there, and not only that it once was."""
        return self.polarity is Polarity.AFFIRMED and self.timeframe is not Timeframe.PAST

    @property
    def denies_symptom(self) -> bool:
        """Whether it says that a symptom is not there, and not only that it once was not."""
        return self.polarity is Polarity.DENIED and self.timeframe is not Timeframe.PAST


_RISING: Final = (Frequency.SEVERAL_DAYS, Frequency.MORE_THAN_HALF, Frequency.NEARLY_EVERY_DAY)


def stated_frequency(quotes: Sequence[Quote]) -> Frequency:
    """Return the highest frequency that quotes about the present state for a symptom."""
    stated = {quote.frequency for quote in quotes if quote.supports_symptom}
    return next((rank for rank in reversed(_RISING) if rank in stated), Frequency.UNSTATED)


def distinct_quotes(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Return the quotes in order, those of the same place once."""
    return tuple({quote.segments: quote for quote in quotes}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class UnverifiedQuote:
    """A quote that a model gave and that the participant's words do not hold."""

    text: str = field(repr=False)
    """The words as the model gave them."""
    reason: QuoteRejection | None
    """Null when the check was switched off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingReport:
    """What became of the quotes given for each item; keyed by item key."""

    accepted: Mapping[str, tuple[Quote, ...]]
    rejected: Mapping[str, tuple[UnverifiedQuote, ...]]
    """Also holds the quotes that were not checked, which have no reason."""

    @property
    def validated_count(self) -> int:
        """How many quotes were accepted."""
        return sum(map(len, self.accepted.values()))

    @property
    def rejected_count(self) -> int:
        """How many quotes were rejected; quotes that were not checked do not count."""
        return sum(quote.reason is not None for quote in self._unverified())

    @property
    def extracted_count(self) -> int:
        """How many quotes the model gave."""
        return self.validated_count + sum(1 for _ in self._unverified())

    def _unverified(self) -> Iterator[UnverifiedQuote]:
        return chain.from_iterable(self.rejected.values())
