"""The stores of all tenants of an installation, each opened when it is first needed."""

import threading
import time
from collections.abc import Callable, Container
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy.engine import URL

from ai_psychiatrist.domain.access import TENANT_CURE, is_tenant
from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.infrastructure.tasks import HOUR_SECONDS, MINUTE_SECONDS, repeating
from ai_psychiatrist.store.cipher import Cipher, StoreKeys
from ai_psychiatrist.store.database import Database, StoreLimits
from ai_psychiatrist.store.errors import store_unusable
from ai_psychiatrist.store.installation import installation_secret, wrap_anew
from ai_psychiatrist.store.jobs import JobEnd, JobRef
from ai_psychiatrist.store.opening import are_databases, is_there, open_postgresql, open_sqlite
from ai_psychiatrist.store.queue import JOBS, Queue, Takes
from ai_psychiatrist.store.removal import Swept
from ai_psychiatrist.store.runners import FileRunners, Runners, TableRunners
from ai_psychiatrist.store.store import Store

logger = get_logger(__name__)

T = TypeVar("T")

KEY_NAME: Final = "records.key"
_RUNNERS: Final = "runners"
_THREADS: Final = 4
_SECONDS: Final = 60.0
_MOST_REASON: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePlace:
    """Where a store is."""

    folder: Path
    """Of the files, and of the locks of this machine's processes."""
    url: URL | None = None
    """Of PostgreSQL, which takes the place of the files."""
    dead_seconds: float = 15.0
    """After so long without a sign of life a process of another machine counts as dead."""
    patience_seconds: float = 0.0
    """How long who has something to keep waits for the database to come back.

    A server of PostgreSQL that is started again is back soon, a full disk is not.
    """

    def open(self) -> Database:
        """Open the database; raises as `open_sqlite` does."""
        return open_sqlite(self.folder) if self.url is None else open_postgresql(self.url)

    def runners(self, database: Database) -> Runners:
        """Return the processes that use it."""
        if self.url is None:
            return FileRunners(self.folder / _RUNNERS)
        return TableRunners(database, dead_seconds=self.dead_seconds)


class Stores:
    """Opens the database once, and each tenant's part of it when it is first needed.

    A process that stores nothing makes no file.
    """

    def __init__(self, place: StorePlace, keys: StoreKeys, limits: StoreLimits) -> None:
        """`place`: of the database."""
        self.place: Final = place
        self._keys = keys
        self._limits = limits
        self._threads = WorkerThreads(count=_THREADS, seconds=_SECONDS)
        self._opening = WorkerThreads(count=1, seconds=_SECONDS)
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._runners: Runners | None = None
        self._opened: dict[str, Store] = {}
        self._secrets: dict[str, bytes] = {}
        self._runner = ""
        self._logged: dict[str, float] = {}

    def records(self, tenant: str) -> "Records":
        """Return a tenant's stored assessments, for a coroutine to ask."""
        return Records(stores=self, tenant=tenant)

    async def ask(self, tenant: str, work: Callable[[Store], T]) -> T:
        """Return what the work with a tenant's store returns, done in a thread.

        Raises `StoreUnusable` for files or keys that cannot be used.
        """
        if tenant not in self._opened:
            # One that takes long to open holds up no other.
            await self._done(lambda: self.open(tenant), self._opening)
        return await self._done(lambda: work(self.open(tenant)))

    def open(self, tenant: str) -> Store:
        """Return a tenant's store, for commands; raises `ConfigurationError`, `StoreUnusable`."""
        # Who asks one that is open does not wait for another that is just being opened.
        if (opened := self._opened.get(tenant)) is not None:
            return opened
        if not is_tenant(tenant):
            raise ConfigurationError(TENANT_CURE)
        with self._lock:
            if tenant not in self._opened:
                store = Store(self.database(), self._keys, tenant, limits=self._limits)
                self._opened[tenant] = store
            return self._opened[tenant]

    def tenants(self, *, due: str | None = None) -> tuple[str, ...]:
        """Return the tenants that have stored something; raises as `open` does.

        `due`: only those with a webhook that is due at this time.
        """
        return self.database().tenants(due=due) if self.is_made() else ()

    def database(self) -> Database:
        """Return the database, opened when it is first needed; raises as `open` does."""
        # Who looks for a key does not wait for the store of a tenant that is just being opened.
        if (opened := self._database) is not None:
            return opened
        with self._lock:
            if self._database is None:
                self._database = self.place.open()
            return self._database

    def require_files(self) -> None:
        """Raise `StoreUnusable` where the files are none of a database, whatever was read before.

        A connection that is open has pages at hand, and does not notice.
        """
        if self.place.url is None and not are_databases(self.place.folder):
            raise store_unusable()

    def is_made(self) -> bool:
        """Return whether anything was ever stored; asking makes no file."""
        is_file = self.place.url is None
        return self._database is not None or not is_file or is_there(self.place.folder)

    def secret(self, purpose: str) -> bytes:
        """Return a key of the installation for a purpose, the same on all machines.

        It stays when the keys are rotated. Raises as `open` does.
        """
        if purpose not in self._secrets:
            self._secrets[purpose] = installation_secret(self.database(), self._keys, purpose)
        return self._secrets[purpose]

    def rotate_secrets(self, *, further: Cipher | None) -> None:
        """Wrap the keys of the installation again, as `TenantKeys.rotate` does a tenant's."""
        wrap_anew(self.database(), self._keys, further=further)

    async def known(self, *, due: str | None = None) -> tuple[str, ...]:
        """Return the same, asked for in a thread.

        There are none where the files cannot be used, which each request is told by itself.
        """
        try:
            return await self._threads.run(lambda: self.tenants(due=due))
        except (WorkTimedOut, ConfigurationError, StoreUnusable) as error:
            self._log(error)
            return ()

    @property
    def runner(self) -> str:
        """Under which name this process makes assessments; others see whether it still lives."""
        if not self._runner:
            with self._lock:
                self._runner = self._runner or self._all_runners().begin()
        return self._runner

    async def ask_all(self, work: Callable[[Queue], T], otherwise: T) -> T:
        """Return what the work with the queue of all tenants returns, as `ask` does.

        `otherwise`: what is returned where nothing has been stored yet.
        """
        return await self._done(
            lambda: work(Queue(database=self.database())) if self.is_made() else otherwise
        )

    def tended(
        self, record: Callable[[str, Swept | None], None]
    ) -> AbstractAsyncContextManager[None]:
        """Sweep what has expired at once, and every hour while the block runs.

        `record`: notes in a thread that a tenant's is about to be swept (`None`), and what was
        done; where it raises `StoreUnusable` before, nothing is.
        """
        return repeating(partial(self._sweep, record), HOUR_SECONDS)

    async def claim(self, *, per_tenant: int, takes: Takes = JOBS) -> JobRef | None:
        """Return what has its turn, now this process's; `None` where nothing is to be begun.

        Raises `StoreUnusable`.
        """
        return await self.ask_all(
            lambda queue: queue.claim(self.runner, per_tenant=per_tenant, takes=takes),
            otherwise=None,
        )

    async def take_back(self, under_way: Container[str]) -> list[JobEnd]:
        """Requeue stale jobs; returns the ends of those given up.

        They are the jobs of processes that are gone, and of this one all but those that are
        `under_way` at the moment when they would be taken from it.
        Raises `StoreUnusable`; what cannot be taken back of one tenant is left for the next time.
        """
        given_up: list[JobEnd] = []
        own, nobody = self._runner, frozenset[str]()
        for runner in await self.ask_all(self._without_life, otherwise=nobody):
            tenants = await self.known()
            taken = [await self._take_from(tenant, runner, (), given_up) for tenant in tenants]
            if all(taken):
                await self._done(partial(self._forget, runner))
        left = await self.ask_all(lambda queue: queue.tenants_of(own, but=under_way), nobody)
        for tenant in left:
            await self._take_from(tenant, own, under_way, given_up)
        return given_up

    async def _take_from(
        self,
        tenant: str,
        runner: str,
        but: Container[str],
        given_up: list[JobEnd],
    ) -> bool:
        """Take from a process what it has of a tenant; returns whether that could be done."""

        def take(store: Store) -> None:
            if runner != self._runner:
                store.idempotency.forget_all_of(runner)
            store.runs.take_from(runner, but=but)
            given_up.extend(store.jobs.take_from(runner, but=but))

        try:
            await self.ask(tenant, take)
        except StoreUnusable as error:
            self._log(error)
            return False
        return True

    def _forget(self, runner: str) -> None:
        self._all_runners().forget(runner)

    def _without_life(self, queue: Queue) -> frozenset[str]:
        runners = self._all_runners()
        named = (runners.names() | queue.runners()) - {self._runner}
        return frozenset(name for name in named if not runners.lives(name))

    def close(self) -> None:
        """Close what was opened."""
        if self._runners is not None:
            self._runners.close()
            self._runners = None
            self._runner = ""
        if self._database is not None:
            self._database.close()
            self._database = None
        self._opened.clear()

    def _all_runners(self) -> Runners:
        with self._lock:
            if self._runners is None:
                self._runners = self.place.runners(self.database())
            return self._runners

    async def _done(self, work: Callable[[], T], threads: WorkerThreads | None = None) -> T:
        """Return what blocking work returns, done in a thread.

        Raises `StoreUnusable` for files or keys that cannot be used, and for what takes too long.
        """
        try:
            return await (threads or self._threads).run(work)
        except WorkTimedOut:
            raise store_unusable() from None
        except ConfigurationError as error:
            self._log(error)
            raise store_unusable() from None

    def _log(self, error: Exception) -> None:
        """Log why the store cannot be used, once a minute: the queue asks twice a second."""
        reason, now = str(error)[:_MOST_REASON], time.monotonic()
        if now - self._logged.get(reason, -MINUTE_SECONDS) >= MINUTE_SECONDS:
            self._logged[reason] = now
            logger.error("records_unavailable", error_type=type(error).__name__, reason=reason)

    async def _sweep(self, record: Callable[[str, Swept | None], None]) -> None:
        for tenant in await self.known():
            try:
                swept = await self.ask(tenant, partial(_swept, partial(record, tenant)))
            except StoreUnusable as error:
                self._log(error)
                continue
            if swept.clock_fault is not None:
                reason = f"{swept.clock_fault}: nothing is removed"
                logger.warning("sweep_held", name="STORE_SWEEP_AFTER_JUMP", reason=reason)
            for event, count in swept.counts.items():
                logger.info(event, count=count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """A tenant's stored assessments, as coroutines use them."""

    stores: Stores
    tenant: str

    async def ask(self, work: Callable[[Store], T]) -> T:
        """Return what the work returns, such as `lambda store: store.get(record_id)`."""
        return await self.stores.ask(self.tenant, work)


def _swept(record: Callable[[Swept | None], None], store: Store) -> Swept:
    swept = store.sweep(announce=lambda: record(None))
    if swept.counts:
        record(swept)
    return swept
