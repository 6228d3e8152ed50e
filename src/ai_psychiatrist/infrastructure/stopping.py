"""Whether the service is being stopped, and the deadlines that are moved up when it is."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Stopping:
    """Shared by all requests of an app; it begins once and is never taken back."""

    def __init__(self) -> None:
        self._held: dict[asyncio.Timeout, float] = {}
        self._begun_at = 0.0
        self._seconds: float | None = None
        self._nothing_held = asyncio.Event()
        self._nothing_held.set()

    @property
    def is_begun(self) -> bool:
        """Whether the service takes nothing new any more."""
        return self._seconds is not None

    def begin(self, seconds: float) -> None:
        """Let no deadline that is held be later than in so many seconds."""
        self._begun_at = asyncio.get_running_loop().time()
        self._seconds = seconds
        for deadline, share in self._held.items():
            self._move_up(deadline, seconds * share)

    @contextmanager
    def holding(self, deadline: asyncio.Timeout, *, share: float = 1.0) -> Iterator[None]:
        """Hold a deadline while the block runs.

        `share`: of the time that stopping leaves, 0–1; what is inside another deadline needs less.
        """
        self._held[deadline] = share
        self._nothing_held.clear()
        if self._seconds is not None:
            self._move_up(deadline, self._seconds * share)
        try:
            yield
        finally:
            del self._held[deadline]
            if not self._held:
                self._nothing_held.set()

    async def until_nothing_held(self) -> None:
        """Return when nothing is under way any more."""
        await self._nothing_held.wait()

    def _move_up(self, deadline: asyncio.Timeout, seconds: float) -> None:
        latest, planned = self._begun_at + seconds, deadline.when()
        if not deadline.expired() and (planned is None or planned > latest):
            deadline.reschedule(latest)
