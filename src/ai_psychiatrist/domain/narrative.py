"""The narrative, the judge's verdict on each version of it, and the meta-review."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from pydantic import computed_field

from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    QuoteRejection,
    Segment,
    Timeframe,
    UnverifiedQuote,
)
from ai_psychiatrist.domain.failures import UnreadPart
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.shape import Shape


class Metric(StrEnum):
    """What the judge scores in the narrative."""

    COHERENCE = "coherence"
    COMPLETENESS = "completeness"
    SPECIFICITY = "specificity"
    ACCURACY = "accuracy"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NarrativeQuote(Shape):
    """A quote of the narrative, verified or not."""

    text: str
    """The words of the quote."""
    verified: bool
    """Whether the participant said them."""
    match: Match | None = None
    """How they were found; null where they were not."""
    polarity: Polarity | None = None
    """Whether the clause says that the symptom is there; null where it was not found."""
    frequency: Frequency | None = None
    """How often, as the clause states it; null where it was not found."""
    timeframe: Timeframe | None = None
    """When, as the clause states it; null where it was not found."""
    reason: QuoteRejection | None = None
    """Why it does not count; null where it does, or where no check was made."""
    segments: tuple[Segment, ...] = ()
    """Where the words stand; empty where they were not found."""

    @classmethod
    def of(cls, found: Quote | UnverifiedQuote) -> Self:
        """Return the quote as the narrative gives it."""
        if isinstance(found, UnverifiedQuote):
            return cls(text=found.text, verified=False, reason=found.reason)
        return cls(
            text=found.text,
            verified=True,
            match=found.match,
            polarity=found.polarity,
            frequency=found.frequency,
            timeframe=found.timeframe,
            segments=found.segments,
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class QualitativeAssessment(Shape):
    """The narrative; each quote is grounded or marked unverified."""

    overall: str
    """The narrative of the whole."""
    phq8_symptoms: str
    """What was said of the symptoms of the PHQ-8."""
    social_factors: str
    """What was said of people, work and living."""
    biological_factors: str
    """What was said of body, illness and medicine."""
    risk_factors: str
    """What was said of risk."""
    supporting_quotes: tuple[NarrativeQuote, ...] = ()
    """Quotes that the narrative gives, each checked."""
    dropped_quotes: int = 0
    """How many unverified quotes were removed, when that is switched on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScore:
    """The judge's score for one metric."""

    score: int
    """1 (poor) to 5 (very good)."""
    explanation: str = field(repr=False)
    """The judge's own words for it; empty where they could not be read."""
    warnings: tuple[UnreadPart, ...] = ()
    """What of the judge's reply could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JudgedRound(Shape):
    """One version of the narrative and how it was judged."""

    round: int
    """Counted from 0; each refinement is one more."""
    scores: Mapping[Metric, MetricScore]
    """Metric → the judge's score; a metric whose call failed is absent."""
    qualitative: QualitativeAssessment
    """The narrative of this round."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def average_score(self) -> float | None:
        """Mean of the metrics that were scored, 1-5; null when none was."""
        if not self.scores:
            return None
        return sum(metric.score for metric in self.scores.values()) / len(self.scores)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NarrativeEvaluation(Shape):
    """The judge's verdict on the narrative that was kept, and every round before and after it."""

    iteration: int
    """The round that was kept, counted from 0."""
    rounds: tuple[JudgedRound, ...]
    """Every version of the narrative that was judged."""

    def __post_init__(self) -> None:
        if not 0 <= self.iteration < len(self.rounds):
            msg = "the round that was kept is none of those that were judged"
            raise ValueError(msg)

    @property
    def best(self) -> JudgedRound:
        """The round that was kept."""
        return self.rounds[self.iteration]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def average_score(self) -> float | None:
        """Mean of the metrics that were scored, 1-5; null when none was."""
        return self.best.average_score

    @computed_field  # type: ignore[prop-decorator]
    @property
    def coherence(self) -> MetricScore | None:
        """Whether the narrative hangs together; null where it was not judged."""
        return self.best.scores.get(Metric.COHERENCE)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def completeness(self) -> MetricScore | None:
        """Whether it covers what was said; null where it was not judged."""
        return self.best.scores.get(Metric.COMPLETENESS)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def specificity(self) -> MetricScore | None:
        """Whether it is specific to this participant; null where it was not judged."""
        return self.best.scores.get(Metric.SPECIFICITY)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def accuracy(self) -> MetricScore | None:
        """Whether it agrees with the transcript; null where it was not judged."""
        return self.best.scores.get(Metric.ACCURACY)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MetaReview(Shape):
    """The severity read from transcript, narrative and scores together."""

    severity: Severity | None
    """0 minimal to 4 severe; null where the model's could not be read, or the words are in a
    language that is not."""
    explanation: str
    """The model's own words for it; empty where they could not be read."""
    contradicts_item_scores: bool
    """True when the item scores do not allow this severity."""
    warnings: tuple[UnreadPart, ...] = ()
    """What of the model's reply could not be read."""

    @property
    def is_whole(self) -> bool:
        """Whether it says what it is made for: a severity, or why there can be none."""
        return UnreadPart.SEVERITY not in self.warnings

    @computed_field  # type: ignore[prop-decorator]
    @property
    def severity_label(self) -> str | None:
        """The severity in a word."""
        return None if self.severity is None else self.severity.label

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_mdd(self) -> bool | None:
        """Moderate or above; null while the severity is unknown."""
        return None if self.severity is None else self.severity.is_mdd
