"""Where the tests keep queues: a file, or a database of their own in a real PostgreSQL."""

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

from ai_psychiatrist.jobs.dbos.database import JobsDatabase, jobs_database

NO_SERVER: Final = "no PostgreSQL: TEST_DATABASE_URL is not set, and none answers on 127.0.0.1:5432"

_USUAL: Final = "postgresql://postgres@127.0.0.1:5432/postgres"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A queue, and the folder of the state beside it."""

    url: str
    """Empty for SQLite."""
    folder: Path

    @property
    def database(self) -> JobsDatabase:
        """The queue as the settings name it."""
        return jobs_database(url=SecretStr(self.url), state_dir=self.folder)


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
def place(kind: str, folder: Path) -> Iterator[Place]:
    """Yield a new queue: `sqlite` or `postgresql`."""
    if kind == "sqlite":
        yield Place(url="", folder=folder)
        return
    with own_database(server_address()) as url:
        yield Place(url=url, folder=folder)
