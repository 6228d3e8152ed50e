"""Keys for tests, and a clock that they move."""

import secrets
import time
from collections.abc import Callable
from contextlib import closing
from functools import cached_property
from pathlib import Path

from ai_psychiatrist.access.keys import KeyRequest, KeyStore, MadeKey
from ai_psychiatrist.access.sessions import SessionStore
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.opening import open_sqlite

WARD = KeyRequest(name="ward", tenant="clinic-1", scopes=frozenset({Scope.READ, Scope.ASSESS}))


class Clock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000

    def __call__(self) -> int:
        """Return the time."""
        return self.now


class Access:
    """Keys and sessions of a folder, as a process of its own has them."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self.keys = KeyStore(database=lambda: self._database, clock=clock)
        self.sessions = SessionStore(database=lambda: self._database, clock=clock)

    @cached_property
    def _database(self) -> Database:
        return open_sqlite(self._folder)

    def close(self) -> None:
        """Close the database; it is opened again where it is needed."""
        if "_database" in self.__dict__:
            self._database.close()
            del self.__dict__["_database"]


def made_up_key() -> str:
    """Return what is written like a key, and is none."""
    return f"aip_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"


def key_for(
    state_dir: Path, *scopes: Scope, tenant: str = "local", name: str = "caller"
) -> MadeKey:
    """Make a key for a server whose state is kept in a folder."""
    with closing(Access(state_dir)) as access:
        return access.keys.create(KeyRequest(name=name, tenant=tenant, scopes=frozenset(scopes)))


def revoke(state_dir: Path, made: MadeKey) -> None:
    """Revoke a key, as another process does while a server runs."""
    with closing(Access(state_dir)) as access:
        access.keys.revoke(made.key.id)
