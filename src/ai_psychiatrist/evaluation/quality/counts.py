"""What results are worth on labelled interviews: counts, and shares with their intervals."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil, sqrt
from typing import Final

from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.evidence import Grounding
from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.evaluation.pricing.prices import usd_number
from ai_psychiatrist.evaluation.quality.labelled import LabelledInterview

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
