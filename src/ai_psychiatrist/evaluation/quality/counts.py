"""What results are worth on labelled interviews: counts, and shares with their intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, sqrt
from typing import Final

from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.evidence import Grounding
from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.evaluation.pricing.prices import usd_number
from ai_psychiatrist.evaluation.quality.labelled import LabelledInterview

_Z: Final = 1.959964
"""Of 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """So many of so many."""

    part: int
    whole: int

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
    interviews: int = 0
    incomplete: int = 0
    """Interviews of which a part has no result."""
    quotes: int = 0
    grounded: int = 0
    known: int = 0
    """Items that the words tell."""
    known_right: int = 0
    unknown: int = 0
    unknown_right: int = 0
    directed: int = 0
    """Items with a score that the words say are there, or are not."""
    opposite: int = 0
    dangerous: int = 0
    dangers_found: int = 0
    false_alarms: int = 0
    calls: int = 0
    rejected: int = 0
    failed: int = 0
    uncounted: int = 0
    """Calls that were answered, and of which nobody told the tokens."""
    input_tokens: int = 0
    output_tokens: int = 0
    usd: Decimal | None = Decimal(0)
    """`None` where no price is known."""

    def add(
        self,
        truth: LabelledInterview,
        result: Assessment,
        price: Callable[[Attempt], Decimal | None],
    ) -> None:
        """Count one interview; `price`: of a call, `None` where none is known."""
        self.interviews += 1
        self.incomplete += result.status is not AssessmentStatus.COMPLETE
        checked = result.grounding
        if checked is not None and checked.grounding is Grounding.CHECKED:
            self.quotes += checked.extracted_count
            self.grounded += checked.validated_count
        self._add_items(truth, result)
        is_alarm = result.risk.level.is_urgent
        self.dangerous += truth.is_dangerous
        self.dangers_found += truth.is_dangerous and is_alarm
        self.false_alarms += is_alarm and not truth.is_dangerous
        for attempt in result.attempts:
            self._add_call(attempt, price(attempt))

    def _add_items(self, truth: LabelledInterview, result: Assessment) -> None:
        items = (result.quantitative.items if result.quantitative is not None else None) or {}
        for item in Item:
            given = items.get(item)
            score = None if given is None else given.score
            # No score for want of an answer is not the insight that there can be none.
            is_answered = given is not None and (
                given.unknown_reason is not UnknownReason.SCORING_FAILED
            )
            if item in truth.scores:
                self.known += 1
                self.known_right += score == truth.scores[item]
            else:
                self.unknown += 1
                self.unknown_right += is_answered and score is None
            is_present = truth.is_present(item)
            if is_present is not None and score is not None:
                self.directed += 1
                self.opposite += (score > 0) != is_present

    def _add_call(self, attempt: Attempt, usd: Decimal | None) -> None:
        self.calls += 1
        self.rejected += attempt.outcome is AttemptOutcome.REJECTED
        self.failed += attempt.outcome is AttemptOutcome.FAILED
        is_answered = attempt.outcome is not AttemptOutcome.FAILED
        self.uncounted += is_answered and attempt.input_tokens is None
        self.input_tokens += attempt.input_tokens or 0
        self.output_tokens += attempt.output_tokens or 0
        self.usd = None if self.usd is None or usd is None else self.usd + usd

    @property
    def shares(self) -> dict[str, Share]:
        """The proportions, by name."""
        harmless = self.interviews - self.dangerous
        return {
            "quotes_grounded": Share(part=self.grounded, whole=self.quotes),
            "items_right": Share(
                part=self.known_right + self.unknown_right, whole=self.known + self.unknown
            ),
            "scores_right": Share(part=self.known_right, whole=self.known),
            "unknown_right": Share(part=self.unknown_right, whole=self.unknown),
            "polarity_errors": Share(part=self.opposite, whole=self.directed),
            "dangers_found": Share(part=self.dangers_found, whole=self.dangerous),
            "false_alarms": Share(part=self.false_alarms, whole=harmless),
            "replies_rejected": Share(part=self.rejected, whole=self.calls),
            "calls_failed": Share(part=self.failed, whole=self.calls),
            "incomplete": Share(part=self.incomplete, whole=self.interviews),
        }

    def as_json(self) -> dict[str, object]:
        """Return all figures as plain values."""
        is_told = bool(self.input_tokens or self.output_tokens)
        return {
            "model": self.name,
            "interviews": self.interviews,
            **{name: share.as_json() for name, share in self.shares.items()},
            "calls": self.calls,
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
