"""Signs of danger in what a participant says, found before any model is asked."""

from dataclasses import dataclass
from enum import StrEnum


class RiskCategory(StrEnum):
    """What kind of danger is spoken of."""

    SUICIDAL_IDEATION = "suicidal_ideation"
    SELF_HARM = "self_harm"
    HARM_TO_OTHERS = "harm_to_others"
    ABUSE = "abuse"


class RiskPolarity(StrEnum):
    """How it is spoken of."""

    AFFIRMED = "affirmed"
    DENIED = "denied"
    PAST = "past"
    HYPOTHETICAL = "hypothetical"
    QUOTED = "quoted"
    """A question repeated, or words or acts of somebody else."""


class RiskLevel(StrEnum):
    """How soon a person should look; in rising order."""

    NONE = "none"
    """Nothing was found, which does not mean that there is nothing."""
    LOW = "low"
    """Only denied, past, quoted, or about somebody else."""
    MODERATE = "moderate"
    """Passive, indirect or hypothetical."""
    HIGH = "high"
    """Thoughts, intent, plan, means or act, now."""

    @property
    def rank(self) -> int:
        """0 for none to 3 for high."""
        return list(RiskLevel).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskSignal:
    """One stretch of a participant turn; offsets are characters of the transcript."""

    category: RiskCategory
    polarity: RiskPolarity
    level: RiskLevel
    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskReport:
    """All signals in the order of the transcript."""

    signals: tuple[RiskSignal, ...]

    @property
    def level(self) -> RiskLevel:
        """The highest level of any signal."""
        return max(
            {signal.level for signal in self.signals},
            key=lambda level: level.rank,
            default=RiskLevel.NONE,
        )
