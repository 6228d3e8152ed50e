"""One writer for many tasks: what comes in while the disk is busy is written together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class GroupWriter(Generic[T]):
    """Writes in groups, one group at a time; use it from one event loop only."""

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[object]]) -> None:
        """`write`: puts a group on disk in one transaction."""
        self._write_group = write
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, work: T) -> None:
        """Return once it is on disk.

        A group fails together. A cancelled caller's work is done all the same.
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
            written = self._write_group([work for work, _ in due])
            (failed,) = await asyncio.gather(written, return_exceptions=True)
            for _, done in due:
                if done.done():
                    continue
                if isinstance(failed, BaseException):
                    done.set_exception(failed)
                else:
                    done.set_result(None)
        self._writing = None
