"""Scored examples of other participants: the account of which of them an item was scored with."""

from dataclasses import dataclass
from enum import StrEnum


class NoReferences(StrEnum):
    """Why an item has none."""

    NO_EVIDENCE = "no_evidence"
    """No grounded quote speaks of it, so there is nothing to search with."""
    NONE_LEFT = "none_left"
    """No scored reference of other participants is about the item."""
    BELOW_FLOOR = "below_floor"
    """None is like enough."""
    OVER_BUDGET = "over_budget"
    """None is short enough."""
    UNFIT = "unfit"
    """The score of each is contradicted by the reading of its own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReference:
    """One that scoring was shown, without its words."""

    chunk: int
    """Its number among the references, from 0."""
    digest: str
    """Of its words, keyed by its whole session: 16 hexadecimal digits."""
    score: int
    """0-3, as it was shown."""
    similarity: float | None
    """To the item's evidence, 0-1; `None` where it was drawn by chance."""
