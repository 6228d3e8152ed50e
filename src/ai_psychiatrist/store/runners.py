"""Processes that make assessments: each has a name, and others see whether it still lives."""

import secrets
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from sqlalchemy import bindparam, delete, insert, select, update

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
_NAMED: Final = runners.c.name == bindparam("of_name")
_ALL: Final = select(runners)
_BEATEN: Final = update(runners).where(_NAMED).values(beats=runners.c.beats + 1)
_FORGOTTEN: Final = delete(runners).where(_NAMED)


class Runners(Protocol):
    """The processes of a store. Every method is blocking, and may raise `StoreUnusable`."""

    def begin(self) -> str:
        """Make a name for this process, which lives until `close`, and return it."""
        ...

    def names(self) -> frozenset[str]:
        """Return the processes that have not been forgotten, but those that just begin."""
        ...

    def lives(self, name: str) -> bool:
        """Return whether a process still lives; where that is not certain, it does."""
        ...

    def forget(self, name: str) -> None:
        """Forget a process that is gone."""
        ...

    def close(self) -> None:
        """End the life of this process's name."""
        ...


class FileRunners:
    """Those of one machine: each holds a lock, which the system frees when it ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held = ExitStack()
        self._own = ""

    def begin(self) -> str:
        """Make a folder, and lock it."""
        name = secrets.token_hex(_NAME_BYTES)
        make_folders(self._folder / name)
        self._held.enter_context(run_lock(self._folder / name))
        self._own = name
        return name

    def names(self) -> frozenset[str]:
        """Return the names of the folders."""
        found: set[str] = set()
        for folder in self._folder.glob("*"):
            with suppress(OSError):
                if abs(time.time() - folder.stat().st_mtime) > _NEW_SECONDS:
                    found.add(folder.name)
        return frozenset(found)

    def lives(self, name: str) -> bool:
        """Return whether somebody holds the lock."""
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


@dataclass(slots=True)
class _Seen:
    beats: int
    since: float
    """When this number was first seen, by this process's own clock."""


class TableRunners:
    """Those of any number of machines: each counts on in a row of its own.

    No clock of one machine is compared with another's: who looks on notes how long a count has
    stood still. While the database is away all counts do, so that then nobody is held to be dead.
    """

    def __init__(self, database: Database, *, dead_seconds: float) -> None:
        """`dead_seconds`: after so long without a beat a process counts as dead."""
        self._database = database
        self._dead_seconds = dead_seconds
        self._seen: dict[str, _Seen] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._beating: threading.Thread | None = None
        self._own = ""

    def begin(self) -> str:
        """Add a row, and count on in it from a thread of its own."""
        self._own = secrets.token_hex(_NAME_BYTES)
        self._add()
        self._look()
        self._beating = threading.Thread(target=self._beat, daemon=True, name="runner")
        self._beating.start()
        return self._own

    def names(self) -> frozenset[str]:
        """Return the names in the table, as they were at the last beat."""
        with self._lock:
            return frozenset(self._seen)

    def lives(self, name: str) -> bool:
        """Return whether its count went on, as far as this process has looked on long enough."""
        with self._lock:
            seen = self._seen.setdefault(name, _Seen(-1, time.monotonic()))
            return name == self._own or time.monotonic() - seen.since < self._dead_seconds

    def forget(self, name: str) -> None:
        """Remove the row of a process."""
        with self._database.among_tenants() as connection:
            connection.execute(_FORGOTTEN, {"of_name": name})
        with self._lock:
            self._seen.pop(name, None)

    def close(self) -> None:
        """Count on no more, and remove the row."""
        self._ended.set()
        if self._beating is not None:
            self._beating.join()
            with suppress(StoreUnusable):
                self.forget(self._own)

    def _add(self) -> None:
        with self._database.among_tenants() as connection:
            connection.execute(insert(runners), {"name": self._own, "beats": 0})

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            try:
                with self._database.among_tenants() as connection:
                    is_known = connection.execute(_BEATEN, {"of_name": self._own}).rowcount
                if not is_known:
                    # Others took this process for dead, and have what it did.
                    self._add()
                self._look()
            except StoreUnusable:
                with self._lock:
                    self._seen.clear()

    def _look(self) -> None:
        rows = {row.name: row.beats for row in self._database.across_tenants(_ALL)}
        now = time.monotonic()
        with self._lock:
            for name in self._seen.keys() - rows.keys():
                # Of one that only the queue still names, nothing is heard any more either.
                self._seen[name].beats = -1
            for name, beats in rows.items():
                seen = self._seen.get(name)
                if seen is None or seen.beats != beats:
                    self._seen[name] = _Seen(beats, now)
