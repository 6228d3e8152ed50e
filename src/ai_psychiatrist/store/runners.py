"""Processes that make assessments: each has a name, and others see whether it still lives.

Every method is blocking, and may raise `StoreUnusable`.
"""

import secrets
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, TypeAlias

from sqlalchemy import delete, insert, select, update

from ai_psychiatrist.domain.errors import StoreUnusable
from ai_psychiatrist.infrastructure.private_files import make_folders
from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.errors import LedgerUnusable, RunBusy
from ai_psychiatrist.store.lock import run_lock
from ai_psychiatrist.store.schema import runners

BEAT_SECONDS: Final = 1.0

_NAME_BYTES: Final = 8
_NEW_SECONDS: Final = 10.0
"""A folder as young as this may be that of a process which is about to lock it."""
_SILENT: Final = -1
"""How far one has counted that is not in the table."""


class FileRunners:
    """Those of one machine: each holds a lock, which the system frees when it ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held = ExitStack()
        self._own = ""

    def begin(self) -> str:
        """Make a name for this process, which lives until `close`: a folder that it locks."""
        name = secrets.token_hex(_NAME_BYTES)
        make_folders(self._folder / name)
        self._held.enter_context(run_lock(self._folder / name))
        self._own = name
        return name

    def names(self) -> frozenset[str]:
        """Return the processes that have not been forgotten, but those that just begin."""
        found: set[str] = set()
        for folder in self._folder.glob("*"):
            with suppress(OSError):
                if abs(time.time() - folder.stat().st_mtime) > _NEW_SECONDS:
                    found.add(folder.name)
        return frozenset(found)

    def lives(self, name: str) -> bool:
        """Return whether a process still lives: holds the lock."""
        folder = self._folder / name
        if name == self._own:
            return True
        if not folder.is_dir():
            return False
        try:
            with run_lock(folder):
                return False
        except RunBusy:
            return True
        except LedgerUnusable:
            return False

    def forget(self, name: str) -> None:
        """Remove a folder; another process may do the same just now."""
        folder = self._folder / name
        with suppress(OSError):
            for path in folder.iterdir():
                path.unlink(missing_ok=True)
            folder.rmdir()

    def close(self) -> None:
        """Free the lock."""
        self._held.close()
        if self._own:
            self.forget(self._own)
            self._own = ""


class TableRunners:
    """Those of any number of machines: each counts on in a row of its own.

    No clock of one machine is compared with another's: who looks on notes how long a count has
    stood still. While the database is away all counts do, so that then nobody is held to be dead.
    """

    def __init__(self, database: Database, *, dead_seconds: float) -> None:
        """`dead_seconds`: after so long without a beat a process counts as dead."""
        self._database = database
        self._dead_seconds = dead_seconds
        self._seen: dict[str, tuple[int, float]] = {}
        """How far each has counted, and when that was first seen, by this process's own clock."""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._beating: threading.Thread | None = None
        self._own = ""

    def begin(self) -> str:
        """Make a name for this process: a row, in which a thread of its own counts on."""
        self._own = secrets.token_hex(_NAME_BYTES)
        self._beat()
        self._beating = threading.Thread(target=self._beat_on, daemon=True, name="runner")
        self._beating.start()
        return self._own

    def names(self) -> frozenset[str]:
        """Return the processes in the table, as they were at the last beat."""
        with self._lock:
            return frozenset(self._seen)

    def lives(self, name: str) -> bool:
        """Return whether its count went on, as far as this process has looked on long enough."""
        with self._lock:
            _, since = self._seen.setdefault(name, (_SILENT, time.monotonic()))
            return name == self._own or time.monotonic() - since < self._dead_seconds

    def forget(self, name: str) -> None:
        """Remove the row of a process."""
        with self._database.among_tenants() as connection:
            connection.execute(delete(runners).where(runners.c.name == name))
        with self._lock:
            self._seen.pop(name, None)

    def close(self) -> None:
        """Count on no more, and remove the row."""
        self._ended.set()
        if self._beating is not None:
            self._beating.join()
            with suppress(StoreUnusable):
                self.forget(self._own)

    def _beat_on(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            try:
                self._beat()
            except StoreUnusable:
                with self._lock:
                    self._seen.clear()

    def _beat(self) -> None:
        """Count on, and look how far the others are."""
        own = update(runners).where(runners.c.name == self._own)
        if not self._database.change(own.values(beats=runners.c.beats + 1)):
            # It just begins, or others took it for dead and have what it did.
            self._database.change(insert(runners).values(name=self._own, beats=0))
        rows = self._database.across_tenants(select(runners))
        beats = {str(row.name): int(row.beats) for row in rows}
        with self._lock:
            # Of one that only the queue still names, nothing is heard any more either.
            silent = {name: (_SILENT, since) for name, (_, since) in self._seen.items()}
            heard = {
                name: self._seen[name]
                if name in self._seen and self._seen[name][0] == count
                else (count, time.monotonic())
                for name, count in beats.items()
            }
            self._seen = silent | heard


Runners: TypeAlias = FileRunners | TableRunners
"""The processes of a store."""
