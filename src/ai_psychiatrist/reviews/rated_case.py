"""An assessment beside what people said of it, without a word of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from ai_psychiatrist.domain.review import Committed, ItemRating


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedCase:
    """What the program and the raters say of one interview."""

    subject: str
    """Whose interview it is: cases of one subject are not independent of one another."""
    program: tuple[ItemRating, ...]
    """All eight items, without a score where one is unknown; empty where there is no result."""
    committed: Mapping[str, Committed]
    """What each rater committed first."""
    is_random: bool
    """Whether it belongs to the tenth that is drawn whatever the program makes of it."""
