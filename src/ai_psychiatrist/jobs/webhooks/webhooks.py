"""Webhooks as the rest of the program uses them: wanted with a job, sent once it has ended."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from ai_psychiatrist.domain.errors import AssessmentServiceError, StoreUnusable
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.jobs.engine import JobEnd, JobRef
from ai_psychiatrist.jobs.webhooks.courier import LOOK_SECONDS, Courier
from ai_psychiatrist.jobs.webhooks.letter import Delivery, Expected
from ai_psychiatrist.jobs.webhooks.outbox import FILE_NAME, Outbox
from ai_psychiatrist.jobs.webhooks.places import Destination, destination_of
from ai_psychiatrist.jobs.webhooks.sending import Sender, webhook_client
from ai_psychiatrist.jobs.webhooks.settings import WebhookSettings
from ai_psychiatrist.jobs.webhooks.signing import signing_keys

logger = get_logger(__name__)
T = TypeVar("T")

FindEnd: TypeAlias = Callable[[JobRef], Awaitable[JobEnd | None]]
"""Returns how a job ended, `None` while it has not; raises `KeyError` where there is none."""

ASK_SECONDS: Final = 60.0
"""Between two looks for jobs whose end nobody told of."""
ORPHAN_SECONDS: Final = 3_600.0
"""A job that is not there by then was never stored, or was erased."""
_DAY_SECONDS: Final = 86_400.0
_UNUSABLE: Final = (
    "the file of the webhooks cannot be used: look at the disk, the rights and the key"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The clock, and how often is looked for what is to be done."""

    now: Callable[[], float] = time.time
    """Seconds since 1970."""
    look_seconds: float = LOOK_SECONDS
    ask_seconds: float = ASK_SECONDS


@dataclass(slots=True, kw_only=True)
class Webhooks:
    """Who is to be told of the ends of jobs, and the telling."""

    folder: Path
    """Where the outbox lies, once a webhook is wanted or `running` has begun."""
    settings: WebhookSettings
    pace: Pace = field(default_factory=Pace)
    _keys: Sequence[bytes] = field(init=False, repr=False)
    _threads: WorkerThreads = field(default_factory=lambda: WorkerThreads(count=2, seconds=30.0))
    _opening: threading.Lock = field(default_factory=threading.Lock)
    _outbox: Outbox | None = None
    _courier: Courier | None = None

    def __post_init__(self) -> None:
        """Raise `ConfigurationError` for secrets that cannot be used, as `signing_keys` does."""
        self._keys = signing_keys(self.settings)

    def destination(self, callback_url: str) -> Destination:
        """Return where a `callback_url` leads; raises `CallbackRefused`."""
        settings = self.settings
        return destination_of(callback_url, settings.hosts, allows_http=settings.allow_http)

    async def expect(self, jobs: Sequence[Expected]) -> None:
        """Note who is to be told of the ends of jobs, before the jobs themselves are stored.

        What is noted of a job that is never stored goes after an hour. Raises `StoreUnusable`.
        """
        await self._ask(lambda outbox: outbox.expect(jobs))

    async def forget(self, jobs: Sequence[JobRef]) -> None:
        """Remove what is noted of jobs, as of erased ones; raises `StoreUnusable`.

        Also where no webhooks are sent any more: addresses may lie there from before.
        """
        if (self.folder / FILE_NAME).exists():
            await self._ask(lambda outbox: outbox.forget(jobs))

    async def delivery(self, job: JobRef) -> Delivery | None:
        """Return how far the webhook of a job is, `None` where nobody wants one.

        Raises `StoreUnusable`.
        """
        return await self._ask(lambda outbox: outbox.delivery(job)) if self._keys else None

    async def note_end(self, end: JobEnd) -> None:
        """Make the webhook of a job due, if somebody wants one; raises nothing.

        Where it cannot be stored now, `running` finds the end later.
        """
        if not self._keys:
            return
        try:
            is_due = await self._ask(lambda outbox: outbox.note_end(end, now=self.pace.now()))
        except StoreUnusable:
            return
        if is_due and self._courier is not None:
            self._courier.wake()

    @asynccontextmanager
    async def running(self, find_end: FindEnd) -> AsyncIterator[None]:
        """Deliver what is due while the block runs, and look for ends that nobody told of."""
        if not self._keys:
            try:
                yield
            finally:
                await asyncio.to_thread(self._close)
            return
        async with webhook_client() as client:
            outbox = await self._threads.run(self._opened)
            self._courier = Courier(
                outbox=outbox,
                send=Sender(client=client, keys=self._keys, now=self.pace.now).send,
                places=self.settings.hosts,
                threads=self._threads,
                now=self.pace.now,
                look_seconds=self.pace.look_seconds,
            )
            work = (self._courier.run(), self._look_after(find_end))
            tasks = [asyncio.create_task(one) for one in work]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self._courier = None
                await asyncio.to_thread(self._close)

    async def _look_after(self, find_end: FindEnd) -> None:
        while True:
            try:
                for job, created in await self._ask(lambda outbox: outbox.expected()):
                    await self._find(job, created, find_end)
                await self._ask(self._tidy)
            except AssessmentServiceError as error:
                logger.error("webhooks_unavailable", error_type=type(error).__name__)
            await asyncio.sleep(self.pace.ask_seconds)

    async def _find(self, job: JobRef, created: float, find_end: FindEnd) -> None:
        try:
            end = await find_end(job)
        except KeyError:
            if created < self.pace.now() - ORPHAN_SECONDS:
                await self.forget([job])
            return
        except AssessmentServiceError as error:
            # One tenant's store that cannot be read keeps nobody else's webhooks.
            logger.error("job_end_not_found", error_type=type(error).__name__)
            return
        if end is not None:
            await self.note_end(end)

    def _tidy(self, outbox: Outbox) -> None:
        keep_seconds = self.settings.keep_days * _DAY_SECONDS
        outbox.tidy(self.settings.hosts, now=self.pace.now(), keep_seconds=keep_seconds)

    async def _ask(self, work: Callable[[Outbox], T]) -> T:
        try:
            return await self._threads.run(lambda: work(self._opened()))
        except (AssessmentServiceError, WorkTimedOut) as error:
            logger.error("webhooks_unavailable", error_type=type(error).__name__)
            raise StoreUnusable(_UNUSABLE, problem_code="assessments_unavailable") from None

    def _opened(self) -> Outbox:
        with self._opening:
            if self._outbox is None:
                self._outbox = Outbox.open(self.folder / FILE_NAME)
            return self._outbox

    def _close(self) -> None:
        with self._opening:
            if self._outbox is not None:
                self._outbox.close()
                self._outbox = None
