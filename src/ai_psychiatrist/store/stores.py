"""The stores of all tenants of an installation, each opened when it is first needed."""

import secrets
import threading
import time
from collections.abc import Callable, Container
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from ai_psychiatrist.domain.access import TENANT_CURE, is_tenant
from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.infrastructure.private_files import make_folders
from ai_psychiatrist.infrastructure.tasks import HOUR_SECONDS, repeating
from ai_psychiatrist.store.database import Database, is_there, open_sqlite
from ai_psychiatrist.store.errors import LedgerUnusable, RunBusy, store_unusable
from ai_psychiatrist.store.interviews import InterviewBounds
from ai_psychiatrist.store.jobs import EndedJob
from ai_psychiatrist.store.key_files import StoreKeys
from ai_psychiatrist.store.lock import run_lock
from ai_psychiatrist.store.store import Store, StoreLimits

logger = get_logger(__name__)

T = TypeVar("T")

KEY_NAME: Final = "records.key"
_RUNNERS: Final = "runners"
_THREADS: Final = 4
_SECONDS: Final = 60.0
_MOST_REASON: Final = 160
_RUNNER_BYTES: Final = 8
_NEW_SECONDS: Final = 3_600.0
"""A folder as young as this may be that of a process which is about to lock it."""


class Stores:
    """Opens the database once, and each tenant's part of it when it is first needed.

    A process that stores nothing makes no file.
    """

    def __init__(
        self,
        folder: Path,
        keys: StoreKeys,
        limits: StoreLimits,
        interviews: InterviewBounds,
    ) -> None:
        """`folder`: of the files."""
        self._folder, self._keys = folder, keys
        self._limits, self._interviews = limits, interviews
        self._threads = WorkerThreads(count=_THREADS, seconds=_SECONDS)
        self._opening = WorkerThreads(count=1, seconds=_SECONDS)
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._opened: dict[str, Store] = {}
        self._held = ExitStack()
        self._runner = ""

    def records(self, tenant: str) -> "Records":
        """Return a tenant's stored assessments, for a coroutine to ask."""
        return Records(stores=self, tenant=tenant)

    async def ask(self, tenant: str, work: Callable[[Store], T]) -> T:
        """Return what the work with a tenant's store returns, done beside the event loop.

        Raises `StoreUnusable` for files or keys that cannot be used.
        """
        try:
            store = self._opened.get(tenant)
            if store is None:
                store = await self._opening.run(lambda: self.open(tenant))
            return await self._threads.run(partial(work, store))
        except WorkTimedOut:
            raise store_unusable() from None
        except ConfigurationError as error:
            _log(error)
            raise store_unusable() from None

    def open(self, tenant: str) -> Store:
        """Return a tenant's store, for commands; raises `ConfigurationError`, `StoreUnusable`."""
        if not is_tenant(tenant):
            raise ConfigurationError(TENANT_CURE)
        with self._lock:
            if tenant not in self._opened:
                self._opened[tenant] = Store(
                    self._opened_database(),
                    self._keys,
                    tenant,
                    limits=self._limits,
                    bounds=self._interviews,
                )
            return self._opened[tenant]

    def tenants(self, *, due: str | None = None) -> tuple[str, ...]:
        """Return the tenants that have stored something; raises as `open` does.

        `due`: only those with a webhook that is due at this time.
        """
        with self._lock:
            if self._database is None and not is_there(self._folder):
                return ()
            return self._opened_database().tenants(due=due)

    async def known(self, *, due: str | None = None) -> tuple[str, ...]:
        """Return the same, asked for beside the event loop.

        There are none where the files cannot be used, which each request is told by itself.
        """
        try:
            return await self._opening.run(lambda: self.tenants(due=due))
        except (WorkTimedOut, ConfigurationError, StoreUnusable) as error:
            _log(error)
            return ()

    @property
    def runner(self) -> str:
        """Under which name this process makes assessments; others see whether it still lives."""
        with self._lock:
            if not self._runner:
                name = secrets.token_hex(_RUNNER_BYTES)
                folder = self._runner_folder(name)
                make_folders(folder)
                self._held.enter_context(run_lock(folder))
                self._runner = name
            return self._runner

    def tended(self) -> AbstractAsyncContextManager[None]:
        """Remove what has expired at once, and every hour while the block runs."""
        return repeating(self._sweep, HOUR_SECONDS)

    def take_back(self, store: Store, under_way: Container[str]) -> tuple[EndedJob, ...]:
        """Let jobs wait again whose process is gone; returns those that were given up instead.

        `under_way`: the jobs of this process as they are at any moment; it may have left others.
        """
        given_up: list[EndedJob] = []
        for runner in store.jobs.runners():
            if runner == self._runner:
                given_up += store.jobs.take_from(runner, but=under_way)
            elif not self._lives(runner):
                given_up += store.jobs.take_from(runner)
        for runner in store.idempotency.runners():
            if not self._lives(runner):
                store.idempotency.forget_all_of(runner)
        return tuple(given_up)

    def close(self) -> None:
        """Close what was opened."""
        if self._database is not None:
            self._database.close()
            self._database = None
        self._opened.clear()
        self._held.close()
        if self._runner:
            _remove(self._runner_folder(self._runner))
            self._runner = ""

    def _opened_database(self) -> Database:
        if self._database is None:
            self._database = open_sqlite(self._folder)
        return self._database

    async def _sweep(self) -> None:
        with suppress(WorkTimedOut):
            await self._threads.run(self._forget_dead)
        for tenant in await self.known():
            try:
                removed = await self.ask(tenant, Store.sweep)
            except StoreUnusable as error:
                _log(error)
            else:
                if removed.assessments:
                    logger.info("records_removed", count=removed.assessments)
                if removed.interviews:
                    logger.info("interviews_expired", count=removed.interviews)

    def _forget_dead(self) -> None:
        """Remove the names of killed processes that left nothing to go on with."""
        for folder in self._folder.glob(f"{_RUNNERS}/*"):
            with suppress(OSError):
                if time.time() - folder.stat().st_mtime > _NEW_SECONDS:
                    self._lives(folder.name)

    def _lives(self, runner: str) -> bool:
        if runner == self._runner:
            return True
        folder = self._runner_folder(runner)
        if not folder.is_dir():
            return False
        try:
            with run_lock(folder):
                pass
        except RunBusy:
            return True
        except LedgerUnusable:
            return False
        _remove(folder)
        return False

    def _runner_folder(self, runner: str) -> Path:
        return self._folder / _RUNNERS / runner


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """A tenant's stored assessments, as coroutines use them."""

    stores: Stores
    tenant: str

    async def ask(self, work: Callable[[Store], T]) -> T:
        """Return what the work returns, such as `lambda store: store.get(record_id)`."""
        return await self.stores.ask(self.tenant, work)


def _log(error: Exception) -> None:
    reason = str(error)[:_MOST_REASON]
    logger.error("records_unavailable", error_type=type(error).__name__, reason=reason)


def _remove(folder: Path) -> None:
    # Another process may do the same just now.
    with suppress(OSError):
        for path in folder.iterdir():
            path.unlink(missing_ok=True)
        folder.rmdir()
