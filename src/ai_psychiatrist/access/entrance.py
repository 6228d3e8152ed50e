"""Keys and sessions of one installation, in one file that is opened when it is first needed."""

import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ai_psychiatrist.access.access_file import open_access_file
from ai_psychiatrist.access.clock import Clock, seconds_now
from ai_psychiatrist.access.keys import KeyStore
from ai_psychiatrist.access.sessions import SessionStore
from ai_psychiatrist.store.private_database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What the file holds."""

    database: Database
    keys: KeyStore
    sessions: SessionStore


class Entrance:
    """Blocking, and for many threads."""

    def __init__(self, path: Path, clock: Clock = seconds_now) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()

    @property
    def keys(self) -> KeyStore:
        """The keys; raises `ConfigurationError` and `LedgerUnusable` like `open_access_file`."""
        return self._open().keys

    @property
    def sessions(self) -> SessionStore:
        """The sessions; raises as `keys` does."""
        return self._open().sessions

    def require_readable(self) -> None:
        """Raise as `keys` does where the file is there and cannot be read."""
        if self._path.exists():
            self.keys.knows("")

    def close(self) -> None:
        """Close the file, if it was opened."""
        with self._lock:
            if "_opened" in self.__dict__:
                self._opened.database.close()
                del self.__dict__["_opened"]

    def _open(self) -> Opened:
        with self._lock:
            return self._opened

    @cached_property
    def _opened(self) -> Opened:
        database = open_access_file(self._path)
        return Opened(
            database=database,
            keys=KeyStore(database, self._clock),
            sessions=SessionStore(database, self._clock),
        )
