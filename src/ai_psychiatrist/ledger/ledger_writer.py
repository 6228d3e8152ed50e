"""One writer for all units of a run: what comes in while the disk is busy is written together."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

from ai_psychiatrist.ledger.store.records import KeptCall

T = TypeVar("T")
Work: TypeAlias = Callable[[], object]


class Calls(Protocol):
    """Where calls end up."""

    def keep(self, calls: Sequence[KeptCall]) -> None:
        """Write all of some calls."""
        ...


class Sink(Protocol):
    """Where calls and outcomes end up."""

    @property
    def calls(self) -> Calls:
        """Where the calls among them do."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Make everything that is written inside happen, or nothing of it."""
        ...


class LedgerWriter:
    """Writes off the event loop; use it from one loop only."""

    def __init__(self, ledger: Sink) -> None:
        self._ledger = ledger
        self._waiting: list[tuple[Work, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def keep(self, call: KeptCall) -> None:
        """Return once the call is on disk; a cancelled caller's call is written all the same."""
        await self.write(partial(self._ledger.calls.keep, [call]))

    async def write(self, work: Work) -> None:
        """Return once what the work writes is on disk.

        Work that comes in while the disk is busy shares a transaction, and fails together.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        await asyncio.shield(done)

    async def between_writes(self, work: Callable[[], T]) -> T:
        """Run other work on the ledger in a thread, never beside a write."""
        async with self._lock:
            return await asyncio.to_thread(work)

    async def aclose(self) -> None:
        """Wait for what is still being written."""
        if self._writing is not None:
            await self._writing

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._write(batch)
        finally:
            self._writing = None

    async def _write(self, batch: list[tuple[Work, asyncio.Future[None]]]) -> None:
        error: Exception | None = None
        try:
            await self.between_writes(lambda: self._carry_out([work for work, _ in batch]))
        except Exception as failed:  # noqa: BLE001  whoever waits has to hear of it
            error = failed
        for _, done in batch:
            if done.done():
                continue
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

    def _carry_out(self, works: Sequence[Work]) -> None:
        with self._ledger.transaction():
            for work in works:
                work()
