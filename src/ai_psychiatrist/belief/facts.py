"""What is known of an item beside its belief, for a recalibration to go by."""

import math
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity
from ai_psychiatrist.domain.items import ItemAssessment

FLOOR: Final = 0.001
"""The least probability whose logarithm is taken."""
_NOT_SAID: Final = 3
"""The confidence of a model that states none: the middle of 1 to 5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFacts:
    """Counts of one item's evidence; none of them is a probability."""

    affirmed: int
    denied: int
    is_frequency_stated: bool
    refused: int
    """Quotes of the evidence stage that were not the participant's words."""
    warnings: int
    confidence: int | None
    """1 to 5, as the model said it."""

    @classmethod
    def of(cls, item: ItemAssessment) -> "EvidenceFacts":
        """Return the facts of an item."""
        polarities = [quote.polarity for quote in item.evidence]
        return cls(
            affirmed=polarities.count(Polarity.AFFIRMED),
            denied=polarities.count(Polarity.DENIED),
            is_frequency_stated=item.frequency is not Frequency.UNSTATED,
            refused=item.llm_evidence_rejected_count,
            warnings=len(item.warnings),
            confidence=item.confidence,
        )


FEATURES: Final = (
    *(f"log_{answer}" for answer in ("0", "1", "2", "3", "not_determinable")),
    *("affirmed", "denied", "frequency_stated", "refused", "warnings", "confidence"),
)


def features_of(probabilities: tuple[float, ...], facts: EvidenceFacts) -> tuple[float, ...]:
    """Return the features of an item in the order of `FEATURES`; counts by log(1 + count)."""
    said = _NOT_SAID if facts.confidence is None else facts.confidence
    return (
        *(math.log(max(share, FLOOR)) for share in probabilities),
        math.log1p(facts.affirmed),
        math.log1p(facts.denied),
        float(facts.is_frequency_stated),
        math.log1p(facts.refused),
        math.log1p(facts.warnings),
        float(said),
    )
