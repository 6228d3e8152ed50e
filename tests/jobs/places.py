"""Where the tests keep jobs: files, or a database of their own in a real PostgreSQL."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr
from sqlalchemy.engine import URL, make_url

from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.store.address import address_of
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.database import StoreLimits
from ai_psychiatrist.store.jobs import NewJob
from ai_psychiatrist.store.records import NewRecord
from ai_psychiatrist.store.settings import DatabaseSettings
from ai_psychiatrist.store.stores import StorePlace, Stores

NO_SERVER: Final = "no PostgreSQL: TEST_DATABASE_URL is not set, and none answers on 127.0.0.1:5432"

_USUAL: Final = "postgresql://postgres@127.0.0.1:5432/postgres"
_KEY_FILE: Final = "installation.key"
_KEY: Final = "5a" * 32
_TRANSCRIPT: Final = parse_transcript("Participant: I sleep badly every night.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A store, and a folder for what the test writes beside it."""

    url: str
    """Empty for SQLite."""
    folder: Path

    @property
    def key_file(self) -> Path:
        """The key of the installation."""
        path = self.folder / _KEY_FILE
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(_KEY, "ascii")
        return path

    @property
    def settings(self) -> dict[str, str]:
        """The settings of whoever uses the store, but the folder of the state."""
        return {"DATABASE_URL": self.url, "DATA_KEY_FILE": str(self.key_file)}

    def stores(self, *, folder: Path | None = None, dead_seconds: float = 15.0) -> Stores:
        """Return the store. `folder`: of the state, where it is another machine's."""
        url = address_of(DatabaseSettings(url=SecretStr(self.url)))
        return Stores(
            place=StorePlace(
                folder=folder or self.folder,
                url=url,
                dead_seconds=dead_seconds,
                patience_seconds=60.0,
            ),
            keys=StoreKeys(own=self.folder / "own.key", named=self.key_file),
            limits=StoreLimits(),
        )

    def store_jobs(
        self, tenant: str, count: int, *, first: int = 0, asked_by: str = "ann"
    ) -> list[str]:
        """Store jobs that wait; return their ids, in their order."""
        ids = [f"{tenant}-{number:04}" for number in range(first, first + count)]
        stores = self.stores()
        try:
            stores.open(tenant).add_jobs(
                [
                    NewJob(
                        record=NewRecord(id=one, transcript=_TRANSCRIPT),
                        request=b"{}",
                        asked_by=asked_by,
                    )
                    for one in ids
                ]
            )
        finally:
            stores.close()
        return ids


def server_address() -> str:
    """Return the address of a PostgreSQL that answers; skips the test where there is none."""
    address = os.environ.get("TEST_DATABASE_URL", _USUAL)
    try:
        psycopg.connect(address, connect_timeout=3).close()
    except psycopg.OperationalError:
        if "TEST_DATABASE_URL" in os.environ:
            raise
        pytest.skip(NO_SERVER)
    return address


@contextmanager
def own_database(server: str) -> Iterator[str]:
    """Make a database, and yield its address; it is dropped at the end."""
    name = f"jobs_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        parts = connection.info
        user, host, port, password = parts.user, parts.host, parts.port, parts.password
    secret = f":{password}" if password else ""
    try:
        yield f"postgresql://{user}{secret}@{host}:{port}/{name}"
    finally:
        with psycopg.connect(make_conninfo(server), autocommit=True) as connection:
            drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
            connection.execute(drop.format(sql.Identifier(name)))


@contextmanager
def owned_database(server: str) -> Iterator[URL]:
    """Yield the address of an empty database whose owner, a new role, is no superuser."""
    role = f"store_{secrets.token_hex(4)}"
    with own_database(server) as address, psycopg.connect(server, autocommit=True) as admin:
        url = make_url(address).set(drivername="postgresql+psycopg")
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'it'").format(sql.Identifier(role)))
        names = sql.Identifier(str(url.database)), sql.Identifier(role)
        admin.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(*names))
        yield url.set(username=role, password="it")
        drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
        admin.execute(drop.format(sql.Identifier(str(url.database))))
        admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


@contextmanager
def place(kind: str, folder: Path) -> Iterator[Place]:
    """Yield a new store: `sqlite` or `postgresql`."""
    if kind == "sqlite":
        yield Place(url="", folder=folder)
        return
    with own_database(server_address()) as url:
        yield Place(url=url, folder=folder)
