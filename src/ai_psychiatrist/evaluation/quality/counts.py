"""What results are worth on labelled interviews: counts, and shares with their intervals."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from math import ceil, sqrt
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.evidence import Grounding, Polarity
from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item, UnknownReason
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.evaluation.pricing.prices import usd_number

_FILE: Final = "interviews.toml"

Score = Annotated[int, Field(ge=0, le=MAX_ITEM_SCORE)]


class LabelledInterview(BaseModel):
    """One interview and its labels."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    id: Annotated[str, Field(pattern=r"[a-z]+(-[a-z]+)*")]
    danger: Literal[RiskLevel.NONE, RiskLevel.LOW, RiskLevel.MODERATE, RiskLevel.HIGH]
    """How soon a person should look at it."""
    transcript: Annotated[str, Field(min_length=1)] = Field(repr=False)
    """Lines labelled `Interviewer:` and `Participant:`."""
    scores: Mapping[Item, Score] = {}
    """Those that the words tell; all other items are unknown."""
    polarity: Mapping[Item, Literal[Polarity.AFFIRMED, Polarity.DENIED]] = {}
    """Of unknown items, where the words say plainly that the problem is there, or is not."""

    @model_validator(mode="after")
    def _is_labelled_once(self) -> Self:
        if self.scores.keys() & self.polarity.keys():
            msg = "a score shows the polarity: give it for unknown items only"
            raise ValueError(msg)
        return self

    @property
    def is_dangerous(self) -> bool:
        """Whether a person should look at it at once."""
        return self.danger.is_urgent

    def is_present(self, item: Item) -> bool | None:
        """Return whether a problem is there, `None` where the words do not tell."""
        if item in self.scores:
            return self.scores[item] > 0
        return self.polarity[item] is Polarity.AFFIRMED if item in self.polarity else None


@cache
def labelled_interviews() -> tuple[LabelledInterview, ...]:
    """Return the interviews that come with the package."""
    content = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    found = tomllib.loads(content)["interview"]
    return tuple(LabelledInterview.model_validate(one) for one in found)


_Z: Final = 1.959964
"""Of 95 %."""
_SHARES: Final = (
    "quotes_grounded",
    "items_right",
    "scores_right",
    "unknown_right",
    "polarity_errors",
    "dangers_found",
    "false_alarms",
    "replies_rejected",
    "calls_failed",
    "incomplete",
)


@dataclass(slots=True)
class Share:
    """So many of so many."""

    part: int = 0
    whole: int = 0

    def count(self, part: int, whole: int = 1) -> None:
        """Count more: one that belongs to the part or does not, or so many of so many."""
        self.part += part
        self.whole += whole

    @property
    def value(self) -> float | None:
        """0-1; `None` of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % score interval (Wilson 1927), 0-1; `None` of nothing."""
        if self.value is None:
            return None
        square = _Z * _Z / self.whole
        centre = self.value + square / 2
        half = _Z * sqrt((self.value * (1 - self.value) + square / 4) / self.whole)
        low, high = ((centre + side * half) / (1 + square) for side in (-1, 1))
        return max(low, 0.0), min(high, 1.0)

    def as_json(self) -> dict[str, object]:
        """Return counts, share and interval."""
        ends = self.interval
        return {
            "n": self.part,
            "of": self.whole,
            "share": None if self.value is None else round(self.value, 4),
            "interval": None if ends is None else [round(end, 4) for end in ends],
        }


@dataclass(slots=True, kw_only=True)
class QualityCounts:
    """What one system gave for the interviews so far."""

    name: str
    """The models that answered."""
    seconds: float = 0.0
    """Of all interviews, side by side."""
    shares: dict[str, Share] = field(default_factory=lambda: {name: Share() for name in _SHARES})
    """The proportions, by name."""
    uncounted: int = 0
    """Calls that were answered, and of which the backend did not tell the tokens."""
    input_tokens: int = 0
    output_tokens: int = 0
    usd: Decimal | None = Decimal(0)
    """`None` where no price is known."""

    @property
    def interviews(self) -> int:
        """How many were counted."""
        return self.shares["incomplete"].whole

    def add(
        self,
        truth: LabelledInterview,
        result: Assessment,
        price: Callable[[Attempt], Decimal | None],
    ) -> None:
        """Count one interview; `price`: of a call, `None` where none is known."""
        checked, is_alarm = result.grounding, result.risk.level.is_urgent
        if checked is not None and checked.grounding is Grounding.CHECKED:
            self.shares["quotes_grounded"].count(checked.validated_count, checked.extracted_count)
        self.shares["dangers_found" if truth.is_dangerous else "false_alarms"].count(is_alarm)
        self.shares["incomplete"].count(result.status is not AssessmentStatus.COMPLETE)
        items = {} if result.quantitative is None else result.quantitative.items
        for item in Item:
            self._add_item(truth, item, items.get(item))
        for attempt in result.attempts:
            self._add_call(attempt, price(attempt))

    def _add_item(self, truth: LabelledInterview, item: Item, given: ItemAssessment | None) -> None:
        score = None if given is None else given.score
        if item in truth.scores:
            is_right = score == truth.scores[item]
            self.shares["scores_right"].count(is_right)
        else:
            # No score for want of an answer is not the insight that there can be none.
            is_answered = (
                given is not None and given.unknown_reason is not UnknownReason.SCORING_FAILED
            )
            is_right = is_answered and score is None
            self.shares["unknown_right"].count(is_right)
        self.shares["items_right"].count(is_right)
        is_present = truth.is_present(item)
        if is_present is not None and score is not None:
            self.shares["polarity_errors"].count((score > 0) != is_present)

    def _add_call(self, attempt: Attempt, usd: Decimal | None) -> None:
        is_failed = attempt.outcome is AttemptOutcome.FAILED
        self.shares["replies_rejected"].count(attempt.outcome is AttemptOutcome.REJECTED)
        self.shares["calls_failed"].count(is_failed)
        self.uncounted += not is_failed and attempt.input_tokens is None
        self.input_tokens += attempt.input_tokens or 0
        self.output_tokens += attempt.output_tokens or 0
        self.usd = None if self.usd is None or usd is None else self.usd + usd

    def as_json(self) -> dict[str, object]:
        """Return all figures as plain values."""
        is_told = bool(self.input_tokens or self.output_tokens)
        return {
            "model": self.name,
            "interviews": self.interviews,
            **{name: share.as_json() for name, share in self.shares.items()},
            "calls": self.shares["calls_failed"].whole,
            "seconds": round(self.seconds, 3),
            "tokens_in": self.input_tokens if is_told else None,
            "tokens_out": self.output_tokens if is_told else None,
            "calls_without_tokens": self.uncounted,
            "usd": usd_number(self.usd),
        }


def chance_points(interviews: int) -> int:
    """Return below how many percentage points a difference in items right may be chance.

    Two standard errors of the difference of two shares near 70 % of eight items an interview, which
    count as a quarter since those of one interview are alike, to the next five.
    """
    return min(5 * ceil(round(20 * sqrt(0.8 / interviews), 6)), 100)
