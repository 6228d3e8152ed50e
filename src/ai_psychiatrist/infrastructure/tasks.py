"""Tasks of the event loop: repeated work, several workers of one queue, and graceful shutdown."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context
from types import TracebackType
from typing import Any, Final, TypeAlias, TypeVar

from ai_psychiatrist.domain.errors import StoreUnusable

T = TypeVar("T")

Wait: TypeAlias = Callable[[float], Awaitable[None]]
"""Takes seconds."""

MINUTE_SECONDS: Final = 60.0
HOUR_SECONDS: Final = 3_600.0
_AGAIN_SECONDS: Final = 1.0


async def repeat(
    work: Callable[[], Awaitable[None]], seconds: float, wait: Wait = asyncio.sleep
) -> None:
    """Do the work at once, and again so many seconds after each end, until this is cancelled."""
    while True:
        await work()
        await wait(seconds)


@asynccontextmanager
async def repeating(work: Callable[[], Awaitable[None]], seconds: float) -> AsyncIterator[None]:
    """Do the work at once, and again so many seconds after each end, while the block runs."""
    task = asyncio.create_task(repeat(work, seconds))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def wait_until_set(event: asyncio.Event, seconds: float) -> None:
    """Return once an event is set, and after so many seconds in any case."""
    with suppress(TimeoutError):
        # `wait_for` of Python 3.11 can swallow the end of the task that waits.
        async with asyncio.timeout(seconds):
            await event.wait()


async def work_together(count: int, work: Callable[[], Awaitable[None]]) -> None:
    """Run so many tasks of the same work to their end; one that fails ends the others.

    Raises what failed as it is: tasks share what can fail, so they fail alike.
    """
    tasks = [asyncio.ensure_future(work()) for _ in range(count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def patiently(
    work: Callable[[], Awaitable[T]], seconds: float, wait: Wait = asyncio.sleep
) -> T:
    """Do the work, and again each second for so long as the database is away.

    Raises `StoreUnusable` when it stays away, and whatever else the work raises at once.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return await work()
        except StoreUnusable:
            if time.monotonic() >= until:
                raise
            await wait(_AGAIN_SECONDS)


class Pending(asyncio.CancelledError):
    """What a task needs, such as the reply to a call, is not there before a later run of it.

    The task then counts as cancelled, which leaves its siblings alone: they go on as far as they
    come. Whoever joins it has this raised again.
    """


class JoinedTasks(asyncio.TaskGroup):
    """A task group whose block ends `Pending`, or cancelled, where one of its tasks does by itself.

    The library's own group takes such a task for one that is done.
    """

    def __init__(self) -> None:
        super().__init__()
        self._joined: list[asyncio.Task[Any]] = []

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        """Begin a task; raises `RuntimeError` once the group is ending."""
        task = super().create_task(coro, name=name, context=context)
        self._joined.append(task)
        return task

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for all tasks; raises what the first that was cancelled ended with."""
        await super().__aexit__(kind, error, trace)
        for task in self._joined:
            if task.cancelled():
                task.result()


class GracefulShutdown:
    """The graceful shutdown of an app, which all of its requests share; begins once, for good."""

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
