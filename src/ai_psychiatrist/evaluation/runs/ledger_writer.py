"""One writer for all units of a run: what comes in while the disk is busy is written together."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ai_psychiatrist.ledger.store.records import KeptCall

T = TypeVar("T")


class CallSink(Protocol):
    """Where calls end up."""

    def keep_calls(self, calls: Sequence[KeptCall]) -> None:
        """Write all of some calls in one transaction."""
        ...


class LedgerWriter:
    """Writes calls off the event loop; use it from one loop only."""

    def __init__(self, ledger: CallSink) -> None:
        self._ledger = ledger
        self._waiting: list[tuple[KeptCall, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def write(self, call: KeptCall) -> None:
        """Return once the call is on disk; a cancelled caller's call is written all the same."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, done))
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

    async def _write(self, batch: list[tuple[KeptCall, asyncio.Future[None]]]) -> None:
        calls = [call for call, _ in batch]
        try:
            await self.between_writes(lambda: self._ledger.keep_calls(calls))
        except Exception as error:  # noqa: BLE001  whoever waits has to hear of it
            for _, done in batch:
                if not done.done():
                    done.set_exception(error)
        else:
            for _, done in batch:
                if not done.done():
                    done.set_result(None)
