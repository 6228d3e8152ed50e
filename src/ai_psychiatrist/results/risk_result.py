"""Signs of danger as callers get them, and what was not read for them."""

from typing import Final

from pydantic import Field

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.reader import ReaderStatus
from ai_psychiatrist.domain.risk import (
    ReadingStatus,
    RiskCategory,
    RiskGroup,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskSource,
)
from ai_psychiatrist.results.frozen_table import FrozenTable
from ai_psychiatrist.results.result import Result, called

_FALLIBLE: Final = (
    "can miss danger and can raise false alarms; it is no assessment of risk. A person has to read "
    "the interview."
)
RISK_STATEMENT: Final = (
    "Found by fixed phrases in the participant's words, not by a model and not by a person. It "
    f"{_FALLIBLE}"
)
RISK_STATEMENT_WITH_MODEL: Final = (
    "Found by fixed phrases and by a model in the participant's words, not by a person. Both "
    f"{_FALLIBLE}"
)
RISK_STATEMENT_WITH_READER: Final = (
    "Found by fixed phrases and by a small learned reader in the participant's words, not by a "
    f"person. Both {_FALLIBLE}"
)
RISK_STATEMENT_WITH_ALL: Final = (
    "Found by fixed phrases, by a small learned reader and by a model in the participant's words, "
    f"not by a person. Each {_FALLIBLE}"
)


class RiskSignalResult(Result):
    """A sign of danger in the participant's words."""

    group: RiskGroup
    """What a reader does with it."""
    category: RiskCategory
    """What kind of danger is spoken of."""
    kind: RiskKind
    """What of it is spoken of."""
    polarity: RiskPolarity
    """How it is spoken of."""
    level: RiskLevel
    """How soon a person should look."""
    source: RiskSource
    """Whether rules, a model or the learned reader found it."""
    is_shared: bool
    """False for what the rules found and the learned reader does not share."""
    text: str
    """The participant's words."""
    sentence: str
    """The whole sentence that they stand in."""
    question: str | None
    """What the interviewer said before it, from the last question on; null where nobody did."""
    question_turn: int | None
    """The turn of that, from 0."""
    turn: int
    """The turn, from 0."""
    start: int
    """First character, in code points of the transcript."""
    end: int
    """The character after the last."""


class UnexaminedTurnResult(Result):
    """A turn in a language that is not read."""

    turn: int
    """From 0, as everywhere."""
    language: str
    """A BCP 47 code, such as `es`; `und` where it is not told."""
    is_whole: bool
    """False where a stretch of the turn is in a language that is read."""


class ExaminedResult(Result):
    """Which words were read at all: rules read English alone."""

    languages: FrozenTable[str, int] = Field(validation_alias=called("words", "languages"))
    """Language → how many of the participant's words are in it."""
    share: float | None
    """The part of the participant's words that was read, 0-1; null where there are no words."""
    turns_not_examined: tuple[UnexaminedTurnResult, ...]
    """The first 200 turns of anybody but the interviewer that were not read."""
    count_not_examined: int
    """How many turns were not read, listed or not."""
    statement: str
    """What was not read and what to do; empty when everything was."""


class RiskModelResult(Result):
    """The model that reads for danger beside the fixed phrases, and only adds to what they find."""

    status: ReadingStatus
    """`off` where there is none; what the phrases found stands in any case."""
    code: FailureCode | None
    """Why it failed."""
    sign_count: int
    """How many signs it gave in words that were said; those that the phrases mark just as urgently
    are listed once."""
    refused_count: int
    """How many signs it gave in words that nobody said, or the interviewer; none is listed."""
    completed_count: int = 0
    """How many of its signs have a level, polarity or kind that could not be read: they count as
    high, affirmed and unspecified."""


class PassageResult(Result):
    """A passage of the participant's words."""

    turn: int
    """The turn, from 0."""
    start: int
    """First character, in code points of the transcript."""
    end: int
    """The character after the last."""
    text: str
    """The participant's words."""


class RiskReaderResult(Result):
    """The learned reader, the second voice beside the fixed phrases."""

    status: ReaderStatus
    """`off`, `missing` (its packages are not installed) and `failed`: the phrases stand alone."""
    digest: str | None
    """SHA-256 of the list of the reader's files; null where it took no part."""
    sign_count: int
    """How many of the listed signs it found together with n-grams, where the phrases found none."""
    unshared_count: int
    """How many listed signs of the phrases it does not share."""
    read_first: tuple[PassageResult, ...]
    """At most three passages that it ranks highest for danger and for which nothing alarms; they
    carry no level."""


class RiskResult(Result):
    """Signs of danger, found by fixed phrases and a learned reader, and then by a model."""

    level: RiskLevel
    """The highest level of any signal; none means only that nothing was found, and not_examined
    that there are words in a language that the phrases do not read."""
    signals: tuple[RiskSignalResult, ...]
    """At most 200 in the order of the transcript, those of the highest level before others."""
    signal_count: int
    """How many were found, listed or not."""
    examined: ExaminedResult
    """Which words the phrases read for them."""
    model: RiskModelResult
    """The model that reads beside the phrases."""
    reader: RiskReaderResult
    """The learned reader beside the phrases."""
    statement: str
    """What this is and is not."""
    resources: str
    """Where to turn, as the operator of the service set it."""
