"""Places for workers: each holds one, alone, for as long as it lives.

A worker is known to the engine by the number of its place. Who gets hold of somebody's place knows
that its worker is gone, and that what it left belongs to others.
"""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from ai_psychiatrist.domain.errors import AssessmentServiceError


class SlotLost(AssessmentServiceError):
    """The database no longer knows that this worker is there: others may do its jobs by now."""


class Slots(Protocol):
    """The places, as one worker sees them."""

    async def take(self, number: int) -> bool:
        """Take a free place for as long as this is open; return whether it was free."""
        ...

    def tried(self, number: int) -> AbstractAsyncContextManager[bool]:
        """Hold a place inside the block; yields whether it is free."""
        ...

    async def check(self) -> None:
        """Make sure that the place is still held; raises `SlotLost`."""
        ...

    async def close(self) -> None:
        """Leave the place."""
        ...
