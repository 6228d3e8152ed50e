"""Signs of danger in what a participant says: those of the rules, and beside them a model's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import Field, computed_field

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.shape import Shape

MOST_SIGNALS: Final = 200
"""How many signals a report lists."""
READ_LANGUAGE: Final = "en"
"""The only language whose words are read, by its BCP 47 code."""
_MOST_TURNS: Final = 200
"""How many turns that were not read a report lists."""
_FALLIBLE: Final = (
    "can miss danger and can raise false alarms; it is no assessment of risk. A person has to read "
    "the interview."
)
_FOUND_BY: Final = {
    (False, False): (
        "fixed phrases in the participant's words, not by a model and not by a person. It"
    ),
    (False, True): (
        "fixed phrases and by a model in the participant's words, not by a person. Both"
    ),
    (True, False): (
        "fixed phrases and by a small learned reader in the participant's words, not by a person. "
        "Both"
    ),
    (True, True): (
        "fixed phrases, by a small learned reader and by a model in the participant's words, not "
        "by a person. Each"
    ),
}
"""By whether the learned reader and a model took part."""


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
    """Past, quoted, or about someone else."""
    DENIED = "denied"
    """Asked about and denied."""


class RiskPolarity(StrEnum):
    """How it is spoken of."""

    AFFIRMED = "affirmed"
    HYPOTHETICAL = "hypothetical"
    UNCLEAR = "unclear"
    """A question about it is neither plainly affirmed nor plainly denied, or not answered."""
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
    """Only past, quoted, or about someone else, or a faint sign."""
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


def gravest(levels: Iterable[RiskLevel | None]) -> RiskLevel | None:
    """Return the highest level, `None` where there is none."""
    found = (level for level in levels if level is not None)
    return max(found, key=lambda level: level.rank, default=None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RiskSignal(Shape):
    """A sign of danger in a stretch of one turn; offsets are characters of the transcript."""

    kind: RiskKind
    """What of the danger is spoken of."""
    polarity: RiskPolarity
    """How it is spoken of."""
    level: RiskLevel
    """How soon a person should look; `none` for what is denied."""
    source: RiskSource = RiskSource.RULES
    """Whether rules, a model or the learned reader found it."""
    is_shared: bool = True
    """False for what the rules found and the learned reader does not share."""
    text: str = ""
    """The participant's words; empty until the report is finished."""
    sentence: str = ""
    """The whole sentence that they stand in; empty until the report is finished."""
    question: str | None = None
    """What the interviewer said before it, from the last question on; null where nobody did."""
    question_turn: int | None = None
    """The turn of that, from 0."""
    turn: int
    """The turn, from 0."""
    start: int
    """First character, in code points of the transcript."""
    end: int
    """The character after the last."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def category(self) -> RiskCategory:
        """The kind of danger that it belongs to."""
        return self.kind.category

    @computed_field  # type: ignore[prop-decorator]
    @property
    def group(self) -> RiskGroup:
        """The group that it is shown in."""
        group = self.polarity.group
        is_alone = group is RiskGroup.READ_NOW and not self.is_shared
        return RiskGroup.FOUND_BY_WORDS_ALONE if is_alone else group


class ReadingStatus(StrEnum):
    """Whether the model that reads for danger in addition to the rules answered."""

    OFF = "off"
    ANSWERED = "answered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelReading(Shape):
    """What a model found that read for danger alone; it only adds to what the rules find."""

    status: ReadingStatus = ReadingStatus.OFF
    """`off` where there is none; what the rules found stands in any case. `failed` also where a
    single part of a long interview was not read; what was found in the others is listed."""
    code: FailureCode | None = None
    """Why it failed."""
    signals: Annotated[tuple[RiskSignal, ...], Field(exclude=True)] = field(
        default=(), compare=False
    )
    """Those whose words were said, in the order of the transcript; the report lists them."""
    sign_count: int = 0
    """How many signs it gave in words that were said; those that the rules mark just as urgently
    are listed once."""
    refused_count: int = 0
    """How many signs it gave in words that nobody said, or the interviewer; none is listed."""
    completed_count: int = 0
    """How many of its signs have a level, polarity or kind that could not be read: they count as
    high, affirmed and unspecified."""


class ReaderStatus(StrEnum):
    """Whether the learned reader took part in a result."""

    OFF = "off"
    """It was switched off, or the caller works without one."""
    MISSING = "missing"
    """Its packages are not installed."""
    ANSWERED = "answered"
    FAILED = "failed"
    """Its files could not be read, or it broke off: the rules stand alone."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PassageToRead(Shape):
    """A passage of the participant's words that a person should read, though nothing alarms."""

    turn: int
    """The turn, from 0."""
    start: int
    """First character, in code points of the transcript."""
    end: int
    """The character after the last."""
    text: str = ""
    """The participant's words; empty until the report is finished."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReaderState(Shape):
    """The learned reader, which reads in addition to the rules."""

    status: ReaderStatus = ReaderStatus.OFF
    """`off`, `missing` (its packages are not installed) and `failed`: the rules stand alone."""
    digest: str | None = None
    """SHA-256 of the list of the reader's files; null where it took no part."""
    sign_count: int = 0
    """How many of the listed signs it found together with n-grams, where the rules found none."""
    unshared_count: int = 0
    """How many listed signs of the rules it does not share."""
    read_first: tuple[PassageToRead, ...] = ()
    """At most three passages that it ranks highest for danger and for which nothing alarms; they
    carry no level."""

    @property
    def name(self) -> str:
        """What a run's record calls it: its digest, or why it takes no part."""
        return self.digest or self.status.value


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexaminedTurn:
    """A turn of anybody but the interviewer in a language that is not read."""

    turn: int
    """From 0, as everywhere."""
    language: str
    """A BCP 47 code, such as `es`; `und` where it is not known."""
    is_whole: bool
    """False where a stretch of the turn is in a language that is read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Examined(Shape):
    """Which words were read at all: the rules read English alone."""

    languages: Mapping[str, int] = field(default_factory=dict)
    """Language → how many of the participant's words are in it."""
    turns_not_examined: tuple[UnexaminedTurn, ...] = ()
    """The first 200 turns of anybody but the interviewer that were not read."""
    count_not_examined: int = 0
    """How many turns were not read, listed or not."""
    statement: str = ""
    """What was not read and what to do; empty when everything was."""
    wholly_unread: Annotated[frozenset[int], Field(exclude=True)] = field(
        default=frozenset(), compare=False
    )
    """The turns of which nothing was read, all of them."""
    unread_languages: Annotated[tuple[str, ...], Field(exclude=True)] = field(
        default=(), compare=False
    )
    """The languages that were not read, in the order in which they come up."""

    @classmethod
    def of(
        cls, words: Mapping[str, int], unread: Sequence[UnexaminedTurn], names: Mapping[str, str]
    ) -> Self:
        """Return what was read and what was not. `names`: language → its name in English."""
        others = tuple(dict.fromkeys(one.language for one in unread))
        named = ", ".join(names[one] for one in others)
        statement = (
            f"Not examined: what is said in {named}. Only English is read, so signs of danger and "
            "symptoms in those turns are not found, whatever else this result says. A person who "
            "knows the language has to read them."
        )
        return cls(
            languages=words,
            turns_not_examined=tuple(unread[:_MOST_TURNS]),
            count_not_examined=len(unread),
            statement=statement if unread else "",
            wholly_unread=frozenset(one.turn for one in unread if one.is_whole),
            unread_languages=others,
        )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def share(self) -> float | None:
        """The part of the participant's words that was read, 0-1; null where there are no words."""
        total = sum(self.languages.values())
        return self.languages.get(READ_LANGUAGE, 0) / total if total else None

    @property
    def is_mostly_unread(self) -> bool:
        """Whether more of the participant's words are unread than read."""
        return self.share is not None and self.share < 1 / 2


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RiskReport(Shape):
    """Signs of danger, found by rules and a learned reader, and then by a model."""

    signals: tuple[RiskSignal, ...]
    """At most 200 in the order of the transcript: those of the first groups and of the highest
    level before others."""
    signal_count: int
    """How many were found, listed or not."""
    examined: Examined = field(default_factory=Examined)
    """Which words the rules read for them."""
    model: ModelReading = field(default_factory=ModelReading)
    """The model that reads beside the rules."""
    reader: ReaderState = field(default_factory=ReaderState)
    """The learned reader beside the rules."""
    resources: str = ""
    """Where to turn, as the operator of the service set it."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def level(self) -> RiskLevel:
        """The highest level of any signal; `none` means only that nothing was found, and
        `not_examined` that there are words in a language that the rules do not read."""
        least = RiskLevel.NOT_EXAMINED if self.examined.count_not_examined else RiskLevel.NONE
        levels = {least, *(signal.level for signal in self.signals)}
        return max(levels, key=lambda level: level.rank)

    @property
    def group(self) -> RiskGroup | None:
        """The first group that a signal is shown in; `None` without signals."""
        groups = {signal.group for signal in self.signals}
        return next((group for group in RiskGroup if group in groups), None)

    @property
    def to_read(self) -> tuple[RiskSignal, ...]:
        """The signals that a person is to read now."""
        return tuple(one for one in self.signals if one.group is RiskGroup.READ_NOW)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def statement(self) -> str:
        """What this is and is not."""
        return risk_statement(
            by_reader=self.reader.status is ReaderStatus.ANSWERED,
            by_model=self.model.status is ReadingStatus.ANSWERED or bool(self.model.sign_count),
        )


def risk_statement(*, by_reader: bool = False, by_model: bool = False) -> str:
    """Return what signs of danger are and are not, that the rules and these two found."""
    return f"Found by {_FOUND_BY[by_reader, by_model]} {_FALLIBLE}"


def risk_report(found: Sequence[RiskSignal], examined: Examined) -> RiskReport:
    """Report on all signals of a transcript, given in the order of its text."""
    urgent = sorted(range(len(found)), key=lambda at: urgency(found[at]))[:MOST_SIGNALS]
    return RiskReport(
        signals=tuple(found[at] for at in sorted(urgent)),
        signal_count=len(found),
        examined=examined,
    )


def joined_readings(readings: Sequence[ModelReading]) -> ModelReading:
    """Return what was found in all parts of an interview; failed where one of them was not read."""
    if len(readings) == 1:
        return readings[0]
    failed = [one for one in readings if one.status is ReadingStatus.FAILED]
    signals = {signal: None for one in readings for signal in one.signals}
    return ModelReading(
        status=ReadingStatus.FAILED if failed else ReadingStatus.ANSWERED,
        code=failed[0].code if failed else None,
        signals=tuple(sorted(signals, key=lambda one: (one.start, one.end))),
        sign_count=len(signals),
        refused_count=sum(one.refused_count for one in readings),
        completed_count=sum(one.completed_count for one in readings),
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


def is_to_be_read(signal: RiskSignal) -> bool:
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
