"""One writer for all units of a run: what comes in while the disk is busy is written together."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ai_psychiatrist.store.run_records import KeptCall
from ai_psychiatrist.store.runs import RunStore

Work: TypeAlias = KeptCall | Callable[[], object]


class RunWriter:
    """Writes off the event loop; use it from one loop only."""

    def __init__(self, run: RunStore) -> None:
        self._run = run
        self._waiting: list[tuple[Work, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, work: Work) -> None:
        """Return once a call, or what the work writes, is on disk.

        What comes in while the disk is busy shares a transaction, and fails together. A cancelled
        caller's work is done all the same.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        await asyncio.shield(done)

    async def aclose(self) -> None:
        """Wait for what is still being written."""
        if self._writing is not None:
            await self._writing

    async def _write_all(self) -> None:
        while self._waiting:
            due, self._waiting = self._waiting, []
            written = asyncio.to_thread(self._carry_out, [work for work, _ in due])
            (failed,) = await asyncio.gather(written, return_exceptions=True)
            for _, done in due:
                if done.done():
                    continue
                if failed is None:
                    done.set_result(None)
                else:
                    done.set_exception(failed)
        self._writing = None

    def _carry_out(self, works: Sequence[Work]) -> None:
        with self._run.transaction():
            self._run.calls.keep([work for work in works if isinstance(work, KeptCall)])
            for work in works:
                if not isinstance(work, KeptCall):
                    work()
