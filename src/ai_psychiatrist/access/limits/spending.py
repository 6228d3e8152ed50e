"""What the work of one caller costs, written down beside the work."""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ai_psychiatrist.access.limits.day_counts import CountsUnusable, DayCounts
from ai_psychiatrist.access.limits.usage import Usage
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut

logger = get_logger(__name__)

COUNTERS: Final = WorkerThreads(count=2, seconds=10.0)


@dataclass(slots=True, kw_only=True)
class SpendingAccount:
    """Counts model calls, each as it is made; what is not written is written with the next."""

    counts: DayCounts
    principal: Principal
    _unwritten: Usage = field(default_factory=Usage)
    _writing: asyncio.Task[None] | None = field(default=None, repr=False)

    def spent(self, *, calls: int = 0, tokens: int = 0) -> None:
        """Count what a model call cost."""
        self._unwritten += Usage(calls=calls, tokens=tokens)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def written(self) -> None:
        """Wait until all is written down, however the work ended."""
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        while self._unwritten != Usage():
            used, self._unwritten = self._unwritten, Usage()
            try:
                await COUNTERS.run(partial(self.counts.add, self.principal, used))
            except (CountsUnusable, WorkTimedOut) as error:
                logger.error("usage_not_counted", error_type=type(error).__name__)
                self._unwritten += used
                return
