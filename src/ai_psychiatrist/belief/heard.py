"""What one source says of items, and how it is recorded that it says nothing."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.belief.pooling import normalised
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.failures import FailureCategory, FailureCode, FailureSeverity
from ai_psychiatrist.domain.items import PHQ8Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.infrastructure.logging import record_failure

Heard: TypeAlias = Mapping[Item, tuple[float, ...]]
"""Item → probabilities of 0 to 3 and not determinable; items that nothing is said of are absent."""

LEAST_SHARE: Final = 0.005
"""No model is so sure that another answer is impossible: a pool would never recover from a 0."""


class Source(Protocol):
    """A model that is asked what it believes."""

    name: BeliefSource
    agent: str

    @property
    def most_calls(self) -> int:
        """How many calls it makes for one assessment at most."""
        ...

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> Heard:
        """Return what it says of items whose evidence is found; what fails is recorded."""
        ...


def possible(shares: Sequence[float]) -> tuple[float, ...]:
    """Return probabilities, none of which is impossible."""
    return normalised([max(share, LEAST_SHARE) for share in shares])


def record_silence(agent: str, code: FailureCode, *, items: int) -> None:
    """Record that a source says nothing of so many items, which the others are believed of."""
    record_failure(
        FailureCategory.AGENT_FAILED,
        FailureSeverity.WARNING,
        "A source of belief said nothing of some items; the other sources are believed.",
        stage=agent,
        code=code,
        items=items,
    )
