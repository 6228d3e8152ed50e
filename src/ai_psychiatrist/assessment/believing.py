"""What the pipeline needs of whoever says how sure the scores are."""

from typing import Final, Protocol

from ai_psychiatrist.agents.context import AssessmentContext
from ai_psychiatrist.domain.assessment import AssessmentMode, PHQ8Assessment

BELIEF: Final = "belief"
"""Names the part in accounts of failures."""


class Beliefs(Protocol):
    """What is believed of the items of one assessment, as it comes in."""

    @property
    def is_asking(self) -> bool:
        """Whether a model has been asked, and not all have answered or failed."""
        ...

    async def ask(self, case: AssessmentContext, found: PHQ8Assessment) -> None:
        """Ask models what they believe of items, whose evidence is found."""
        ...

    def of(self, scores: PHQ8Assessment) -> PHQ8Assessment:
        """Return the items with what is believed of them by now."""
        ...


class Believer(Protocol):
    """Begins the beliefs of each assessment."""

    @property
    def most_calls(self) -> int:
        """How many calls the beliefs of one assessment cost at most."""
        ...

    def begin(self, mode: AssessmentMode) -> Beliefs:
        """Return the beliefs of one assessment in a mode, of which nothing is known yet."""
        ...
