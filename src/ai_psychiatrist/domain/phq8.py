"""The PHQ-8: its eight items, how they score, and what a total may say while items are unknown."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from pydantic import computed_field

MAX_ITEM_SCORE: Final = 3
MAX_TOTAL_SCORE: Final = 24


class Item(StrEnum):
    """One item of the PHQ-8; the value is the key used in replies, data sets and results."""

    NO_INTEREST = "PHQ8_NoInterest"
    DEPRESSED = "PHQ8_Depressed"
    SLEEP = "PHQ8_Sleep"
    TIRED = "PHQ8_Tired"
    APPETITE = "PHQ8_Appetite"
    FAILURE = "PHQ8_Failure"
    CONCENTRATING = "PHQ8_Concentrating"
    MOVING = "PHQ8_Moving"

    @property
    def label(self) -> str:
        """A short name for people, in this project's own words."""
        return _LABELS[self]


_LABELS: Final = {
    Item.NO_INTEREST: "Interest or pleasure",
    Item.DEPRESSED: "Low mood",
    Item.SLEEP: "Sleep",
    Item.TIRED: "Energy",
    Item.APPETITE: "Appetite",
    Item.FAILURE: "Self-worth",
    Item.CONCENTRATING: "Concentration",
    Item.MOVING: "Slowed or restless",
}

PHQ8_DOMAIN_KEYS: Final[tuple[str, ...]] = tuple(item.value for item in Item)


class UnknownReason(StrEnum):
    """Why an item has no score."""

    NO_MENTION = "no_mention"
    """Nothing was found: the rules found no words, or the model named no evidence."""
    UNCLEAR = "unclear"
    """Two readings stand, or it was asked for and the answer was not read."""
    SCORE_NA_WITH_EVIDENCE = "score_na_with_evidence"
    NO_GROUNDED_EVIDENCE = "no_grounded_evidence"
    ONLY_DENIED_OR_PAST = "only_denied_or_past"
    ZERO_WITHOUT_DENIAL = "zero_without_denial"
    NOT_ABOUT_ITEM = "not_about_item"
    """Every quote is about something or somebody else."""
    NOT_EXAMINED = "not_examined"
    """What the participant says of it was, or may be, not read: by the language or a failure."""
    SCORING_FAILED = "scoring_failed"


class NotExaminedCause(StrEnum):
    """Why an item was not examined."""

    LANGUAGE = "language"
    """The words are in a language that is not read."""
    READER_FAILED = "reader_failed"
    """What reads the words failed."""


class Severity(IntEnum):
    """Depression severity by PHQ-8 total.

    Source: Kroenke et al. 2009, J Affect Disord 114:163-173 (0-4, 5-9, 10-14, 15-19, 20-24).
    """

    MINIMAL = 0
    MILD = 1
    MODERATE = 2
    MODERATELY_SEVERE = 3
    SEVERE = 4

    @property
    def label(self) -> str:
        """The band's name in lower case with spaces."""
        return self.name.lower().replace("_", " ")

    @property
    def is_mdd(self) -> bool:
        """Whether the band lies at or above the PHQ-8 cut-off of 10 (same source as the bands)."""
        return self >= Severity.MODERATE


def require_score_or_reason(score: int | None, unknown_reason: object | None) -> None:
    """Raise `ValueError` for an item that has neither a score nor a reason why, or has both."""
    if (score is None) == (unknown_reason is None):
        msg = "an item has either a score or a reason why it is unknown"
        raise ValueError(msg)


def severity_of(total: int) -> Severity:
    """Return the band of a total score, 0-24. Raises `ValueError` outside that range."""
    if not 0 <= total <= MAX_TOTAL_SCORE:
        msg = f"a PHQ-8 total lies between 0 and {MAX_TOTAL_SCORE}"
        raise ValueError(msg)
    return Severity(min(total // 5, Severity.SEVERE))


class ScoreTotals:
    """What item scores say together: unknown items count 0 in the least total and 3 in the most."""

    __slots__ = ()

    @abstractmethod
    def scores(self) -> Iterable[int | None]:
        """Return the item scores, `None` for an unknown one."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total_score(self) -> int | None:
        """Null while an item is unknown."""
        return None if self.na_count else self.total_score_min

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total_score_min(self) -> int:
        """The total if every unknown item were 0."""
        return sum(score or 0 for score in self.scores())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total_score_max(self) -> int:
        """The total if every unknown item were 3."""
        return self.total_score_min + MAX_ITEM_SCORE * self.na_count

    @computed_field  # type: ignore[prop-decorator]
    @property
    def severity(self) -> Severity | None:
        """0 minimal to 4 severe; null while an item is unknown."""
        return None if self.total_score is None else severity_of(self.total_score)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def severity_label(self) -> str | None:
        """The severity in a word; null while an item is unknown."""
        return None if self.severity is None else self.severity.label

    @computed_field  # type: ignore[prop-decorator]
    @property
    def severity_lower_bound(self) -> Severity:
        """Severity at the lowest total, 0-4."""
        return severity_of(self.total_score_min)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def severity_upper_bound(self) -> Severity:
        """Severity at the highest total, 0-4."""
        return severity_of(self.total_score_max)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def na_count(self) -> int:
        """How many items are unknown."""
        return sum(score is None for score in self.scores())


@dataclass(frozen=True, slots=True)
class TotalScore(ScoreTotals):
    """The range that a PHQ-8 total can take."""

    items: tuple[int | None, ...]

    def scores(self) -> Iterable[int | None]:
        """Return the item scores, `None` for an unknown one."""
        return self.items


def total_of(scores: Iterable[int | None]) -> TotalScore:
    """Add up eight item scores, `None` for an unknown one."""
    return TotalScore(tuple(scores))
