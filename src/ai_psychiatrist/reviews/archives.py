"""The archives of all tenants of an installation, each opened when it is first needed."""

import secrets
import threading
import time
from collections.abc import Callable, Container
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from ai_psychiatrist.domain.access import TENANT_CURE, is_tenant
from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.infrastructure.private_files import make_folders
from ai_psychiatrist.infrastructure.tasks import HOUR_SECONDS, repeating
from ai_psychiatrist.ledger.errors import LedgerUnusable, RunBusy
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.ledger.store.lock import run_lock
from ai_psychiatrist.reviews.archive.archive import Archive, ArchiveLimits
from ai_psychiatrist.reviews.archive.errors import archive_unusable
from ai_psychiatrist.reviews.archive.jobs import EndedJob

logger = get_logger(__name__)

T = TypeVar("T")

KEY_NAME: Final = "records.key"
FOLDER_NAME: Final = "records"
_RUNNERS: Final = ".runners"
_THREADS: Final = 4
_SECONDS: Final = 60.0
_MOST_REASON: Final = 160
_RUNNER_BYTES: Final = 8
_NEW_SECONDS: Final = 3_600.0
"""A folder as young as this may be that of a process which is about to lock it."""


class Archives:
    """Opens each tenant's archive once; a process that stores nothing never makes one."""

    def __init__(self, folder: Path, keys: StoreKeys, limits: ArchiveLimits) -> None:
        """`folder`: of all tenants."""
        self._folder, self._keys, self._limits = folder, keys, limits
        self._threads = WorkerThreads(count=_THREADS, seconds=_SECONDS)
        self._opening = WorkerThreads(count=1, seconds=_SECONDS)
        self._opened: dict[str, Archive] = {}
        self._held = ExitStack()
        self._runner = ""
        self._naming = threading.Lock()

    def records(self, tenant: str) -> "Records":
        """Return a tenant's stored assessments, for a coroutine to ask."""
        return Records(archives=self, tenant=tenant)

    async def ask(self, tenant: str, work: Callable[[Archive], T]) -> T:
        """Return what the work with a tenant's archive returns, done beside the event loop.

        Raises `StoreUnusable` for files or keys that cannot be used.
        """
        archive = self._opened.get(tenant)
        try:
            if archive is None:
                archive = await self._opening.run(lambda: self.open(tenant))
            opened = archive
            return await self._threads.run(lambda: work(opened))
        except WorkTimedOut:
            raise archive_unusable() from None
        except ConfigurationError as error:
            reason = str(error)[:_MOST_REASON]
            logger.error("records_unavailable", error_type=type(error).__name__, reason=reason)
            raise archive_unusable() from None

    def open(self, tenant: str) -> Archive:
        """Return a tenant's archive, for commands; raises `ConfigurationError`."""
        if not is_tenant(tenant):
            raise ConfigurationError(TENANT_CURE)
        if tenant not in self._opened:
            self._opened[tenant] = Archive.open(
                self._folder / tenant, self._keys, tenant=tenant, limits=self._limits
            )
        return self._opened[tenant]

    def tenants(self) -> tuple[str, ...]:
        """Return the tenants that have an archive."""
        if not self._folder.is_dir():
            return ()
        names = (path.name for path in self._folder.iterdir() if path.is_dir())
        return tuple(sorted(name for name in names if is_tenant(name)))

    @property
    def runner(self) -> str:
        """Under which name this process makes assessments; others see whether it still lives."""
        with self._naming:
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

    def take_back(self, archive: Archive, under_way: Container[str]) -> tuple[EndedJob, ...]:
        """Let jobs wait again whose process is gone; returns those that were given up instead.

        `under_way`: the jobs of this process as they are at any moment; it may have left others.
        """
        given_up: list[EndedJob] = []
        for runner in archive.jobs.runners():
            if runner == self._runner:
                given_up += archive.jobs.take_from(runner, but=under_way)
            elif not self._lives(runner):
                given_up += archive.jobs.take_from(runner)
        for runner in archive.idempotency.runners():
            if not self._lives(runner):
                archive.idempotency.forget_all_of(runner)
        return tuple(given_up)

    def close(self) -> None:
        """Close what was opened."""
        for archive in self._opened.values():
            archive.close()
        self._opened.clear()
        self._held.close()
        if self._runner:
            _remove(self._runner_folder(self._runner))
            self._runner = ""

    async def _sweep(self) -> None:
        with suppress(WorkTimedOut):
            await self._threads.run(self._forget_dead)
        for tenant in self.tenants():
            try:
                removed = await self.ask(tenant, Archive.sweep)
            except StoreUnusable as error:
                logger.error("records_unavailable", error_type=type(error).__name__)
            else:
                if removed:
                    logger.info("records_removed", count=removed)

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

    archives: Archives
    tenant: str

    async def ask(self, work: Callable[[Archive], T]) -> T:
        """Return what the work returns, such as `lambda archive: archive.get(record_id)`."""
        return await self.archives.ask(self.tenant, work)


def _remove(folder: Path) -> None:
    # Another process may do the same just now.
    with suppress(OSError):
        for path in folder.iterdir():
            path.unlink(missing_ok=True)
        folder.rmdir()
