"""What a search for references gives: what is shown, and the account of it."""

from dataclasses import dataclass, field

from ai_psychiatrist.domain.items import NoReferences
from ai_psychiatrist.domain.phq8 import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A stretch of somebody else's interview and its score for the item."""

    chunk: int
    """Its number in the artefact, from 0."""
    digest: str
    """Of its text, keyed by its whole session: 16 hexadecimal digits."""
    score: int
    """0–3."""
    similarity: float | None
    """0–1; `None` when it was drawn at random."""
    tokens: int
    """About how many it costs."""
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReferences:
    """The references of one item, the most similar one first."""

    item: Item
    references: tuple[Reference, ...] = ()
    none_because: NoReferences | None = None
    """`None` when there are references."""
    unfit: int = 0
    """How many were passed over because their own words contradict their score."""
    over_budget: int = 0
    """How many were passed over because they are too long."""
