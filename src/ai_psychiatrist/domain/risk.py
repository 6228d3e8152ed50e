"""Signs of danger in what a participant says: those of the rules, and beside them a model's."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Protocol

from ai_psychiatrist.domain.examined import Examined
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.reader import ReaderState

MOST_SIGNALS: Final = 200
"""How many signals a report lists."""


class RiskCategory(StrEnum):
    """What kind of danger is spoken of."""

    SUICIDAL_IDEATION = "suicidal_ideation"
    SELF_HARM = "self_harm"
    HARM_TO_OTHERS = "harm_to_others"
    ABUSE = "abuse"
    UNSPECIFIED = "unspecified"
    """A model or the learned reader marked the words, which says not of what kind the danger is."""


class RiskKind(StrEnum):
    """What is spoken of, after the steps of the Columbia scale (Posner et al. 2011) and beyond."""

    WISH_TO_BE_DEAD = "wish_to_be_dead"
    NONSPECIFIC_THOUGHTS = "nonspecific_thoughts"
    """Thoughts of ending one's life, without a way."""
    METHOD = "method"
    """A way is thought of, looked up, or at hand."""
    INTENT = "intent"
    PLAN = "plan"
    PREPARATION = "preparation"
    """Letters, collecting means, affairs put in order, things given away."""
    ATTEMPT = "attempt"
    INTERRUPTED_OR_ABORTED_ATTEMPT = "interrupted_or_aborted_attempt"
    SELF_INJURY = "self_injury"
    """Without the wish to die."""
    HARM_TO_OTHERS = "harm_to_others"
    ABUSE_BY_OTHERS = "abuse_by_others"
    COMMAND_VOICES = "command_voices"
    """Voices that tell somebody to come to harm."""
    BURDEN_AND_DESPAIR = "burden_and_despair"
    """Others are better off without the speaker, or there is no way on."""
    GOODBYE = "goodbye"
    """Farewells, not waking up again, soon gone for good."""
    UNSPECIFIED = "unspecified"
    """A model or the learned reader marked the words without a kind; the rules never give it."""

    @property
    def category(self) -> RiskCategory:
        """The kind of danger that it belongs to."""
        return _OTHER_CATEGORIES.get(self, RiskCategory.SUICIDAL_IDEATION)


_OTHER_CATEGORIES: Final = {
    RiskKind.SELF_INJURY: RiskCategory.SELF_HARM,
    RiskKind.HARM_TO_OTHERS: RiskCategory.HARM_TO_OTHERS,
    RiskKind.ABUSE_BY_OTHERS: RiskCategory.ABUSE,
    RiskKind.UNSPECIFIED: RiskCategory.UNSPECIFIED,
}


class RiskGroup(StrEnum):
    """What a reader does with a statement; in the order in which they are shown."""

    READ_NOW = "read_now"
    """Affirmed, hypothetical or unclear."""
    FOUND_BY_WORDS_ALONE = "found_by_words_alone"
    """The same, but the learned reader does not share what the rules found, and no danger is named
    in it or asked for before it: no alarm."""
    PAST_OR_OF_OTHERS = "past_or_of_others"
    """Past, quoted, or about somebody else."""
    DENIED = "denied"
    """Asked about and denied."""


class RiskPolarity(StrEnum):
    """How it is spoken of."""

    AFFIRMED = "affirmed"
    HYPOTHETICAL = "hypothetical"
    UNCLEAR = "unclear"
    """An answer to a question about it that neither plainly affirms nor plainly denies."""
    PAST = "past"
    QUOTED = "quoted"
    """A question repeated, or words or acts of somebody else."""
    DENIED = "denied"

    @property
    def group(self) -> RiskGroup:
        """The group that it is shown in."""
        return _GROUPS[self]


_GROUPS: Final = {
    RiskPolarity.AFFIRMED: RiskGroup.READ_NOW,
    RiskPolarity.HYPOTHETICAL: RiskGroup.READ_NOW,
    RiskPolarity.UNCLEAR: RiskGroup.READ_NOW,
    RiskPolarity.PAST: RiskGroup.PAST_OR_OF_OTHERS,
    RiskPolarity.QUOTED: RiskGroup.PAST_OR_OF_OTHERS,
    RiskPolarity.DENIED: RiskGroup.DENIED,
}


class RiskSource(StrEnum):
    """What found a sign."""

    RULES = "rules"
    MODEL = "model"
    READER = "reader"
    """The learned reader together with n-grams, where the rules found nothing."""


class RiskLevel(StrEnum):
    """How soon a person should look; in rising order."""

    NONE = "none"
    """Nothing was found but denials, which does not mean that there is nothing."""
    LOW = "low"
    """Only past, quoted, or about somebody else, or a faint sign."""
    NOT_EXAMINED = "not_examined"
    """At most that was found, and there are words in a language that is not read."""
    MODERATE = "moderate"
    """Passive, indirect, hypothetical or unclear."""
    HIGH = "high"
    """Thoughts, intent, plan, means or act, now."""

    @property
    def rank(self) -> int:
        """0 for none to 4 for high."""
        return list(RiskLevel).index(self)

    @property
    def is_urgent(self) -> bool:
        """Whether a person should look at once: from moderate on."""
        return self.rank >= RiskLevel.MODERATE.rank


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskSignal:
    """One stretch of a participant turn; offsets are characters of the transcript."""

    kind: RiskKind
    polarity: RiskPolarity
    level: RiskLevel
    """How soon a person should look; `none` for what is denied."""
    turn: int
    start: int
    end: int
    source: RiskSource = RiskSource.RULES
    is_shared: bool = True
    """False for what the rules found and the learned reader does not share."""

    @property
    def category(self) -> RiskCategory:
        """The kind of danger that it belongs to."""
        return self.kind.category

    @property
    def group(self) -> RiskGroup:
        """The group that it is shown in."""
        group = self.polarity.group
        is_alone = group is RiskGroup.READ_NOW and not self.is_shared
        return RiskGroup.FOUND_BY_WORDS_ALONE if is_alone else group


class ReadingStatus(StrEnum):
    """What became of the model that reads for danger beside the rules."""

    OFF = "off"
    ANSWERED = "answered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReading:
    """What a model gave that read for danger alone."""

    status: ReadingStatus = ReadingStatus.OFF
    code: FailureCode | None = None
    """Why it failed."""
    signals: tuple[RiskSignal, ...] = ()
    """Those whose words were said, in the order of the transcript."""
    refused_count: int = 0
    """How many signs it gave in words that were not; none of them is a signal."""
    completed_count: int = 0
    """How many signals have a part that could not be read and counts as said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskReport:
    """The signals that a person should look at first, in the order of the transcript."""

    signals: tuple[RiskSignal, ...]
    """At most `MOST_SIGNALS`: those of the first groups and of the highest level before others."""
    signal_count: int
    """How many were found, listed or not."""
    examined: Examined = field(default_factory=Examined)
    """Which words the rules read at all."""
    model: ModelReading = ModelReading()
    reader: ReaderState = field(default_factory=ReaderState)
    """Whether the learned reader took part, and what it would have a person read first."""

    @property
    def level(self) -> RiskLevel:
        """The highest level of any signal, or of what was not read."""
        least = RiskLevel.NOT_EXAMINED if self.examined.unread else RiskLevel.NONE
        levels = {least, *(signal.level for signal in self.signals)}
        return max(levels, key=lambda level: level.rank)


def risk_report(found: Sequence[RiskSignal], examined: Examined | None = None) -> RiskReport:
    """Report on all signals of a transcript, given in the order of its text."""
    urgent = sorted(range(len(found)), key=lambda at: urgency(found[at]))[:MOST_SIGNALS]
    return RiskReport(
        signals=tuple(found[at] for at in sorted(urgent)),
        signal_count=len(found),
        examined=examined or Examined(),
    )


def with_model_reading(report: RiskReport, reading: ModelReading) -> RiskReport:
    """Return the rules' report with what a model found beside it; nothing of theirs is lowered.

    A model's signal is added unless the rules have one of the same kind of danger in the same words
    that is as urgent.
    """
    added = [
        signal
        for signal in reading.signals
        if not any(_says_as_much(found, signal) for found in report.signals)
    ]
    in_order = sorted((*report.signals, *added), key=lambda signal: signal.start)
    return replace(
        risk_report(in_order, report.examined),
        signal_count=report.signal_count + len(added),
        model=reading,
        reader=report.reader,
    )


class Grouped(Protocol):
    """A statement, as it was found or as a caller gets it."""

    @property
    def group(self) -> RiskGroup:
        """The group that it is shown in."""
        ...

    @property
    def level(self) -> RiskLevel:
        """How soon a person should look."""
        ...


def is_to_be_read(signal: Grouped) -> bool:
    """Whether a person has to read it: it may be so now, and is more than a faint sign."""
    is_now = signal.group is RiskGroup.READ_NOW
    return is_now and signal.level.is_urgent


def urgency(signal: RiskSignal) -> tuple[int, int, bool]:
    """Return what signals are listed by: group, level, and of the same those of the rules first."""
    group = list(RiskGroup).index(signal.group)
    return group, -signal.level.rank, signal.source is not RiskSource.RULES


def _says_as_much(found: RiskSignal, signal: RiskSignal) -> bool:
    shares_words = found.start < signal.end and signal.start < found.end
    is_as_urgent = found.level.rank >= signal.level.rank
    is_of_that_kind = signal.kind is RiskKind.UNSPECIFIED or found.category is signal.category
    return shares_words and is_as_urgent and is_of_that_kind
