"""Where the queue is kept: a file beside the state of the program, or PostgreSQL."""

import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import SecretStr
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.given_files import expanded, read_regular, reason_of
from ai_psychiatrist.infrastructure.private_files import STATE_DIR_CURE, make_file, make_folder

FILE_NAME: Final = "jobs.sqlite"

_CURE: Final = (
    "JOBS_DATABASE_URL is no address of a PostgreSQL database; write for example "
    "postgresql://user:password@host:5432/jobs, or leave it empty for a file on this machine"
)
_CONNECT_SECONDS: Final = 5
_BUSY_SECONDS: Final = 30.0
_MOST_PASSWORD_BYTES: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsDatabase:
    """Where the queue is kept."""

    url: URL = field(repr=False)
    file: Path | None
    """`None` for PostgreSQL."""

    @property
    def setting(self) -> str:
        """What says where it is."""
        return "JOBS_DATABASE_URL" if self.file is None else "DATA_STATE_DIR"

    @property
    def address(self) -> str:
        """The address with its password, for the library."""
        return self.url.render_as_string(hide_password=False)

    @property
    def libpq_address(self) -> str:
        """The same for the driver itself."""
        return self.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def prepare(self) -> None:
        """Make the file where there is none, private and with a log of its own for writers.

        With the default log each step waits for the disk five times as long. Raises
        `ConfigurationError` where no file can be made.
        """
        if self.file is None:
            return
        try:
            make_folder(self.file.parent)
            with suppress(FileExistsError):
                os.close(make_file(self.file))
            with closing(sqlite3.connect(self.file, timeout=_BUSY_SECONDS)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            msg = f"the file of the queue cannot be made: {reason}; {STATE_DIR_CURE}"
            raise ConfigurationError(msg) from None


def jobs_database(
    *, url: SecretStr, state_dir: Path, password_file: Path | None = None
) -> JobsDatabase:
    """Return the database that the settings name; an empty address is a file in `state_dir`.

    `password_file`: holds the password that the address leaves out. Raises `ConfigurationError`
    for what is no address of PostgreSQL, and for a file that cannot be read.
    """
    text = url.get_secret_value().strip()
    if not text:
        file = state_dir / FILE_NAME
        return JobsDatabase(url=URL.create("sqlite", database=str(file)), file=file)
    parsed = _parsed(text)
    if password_file is not None:
        parsed = parsed.set(password=_password(password_file))
    timeout = {"connect_timeout": str(_CONNECT_SECONDS), **parsed.query}
    return JobsDatabase(url=parsed.set(query=timeout), file=None)


def _parsed(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ConfigurationError(_CURE) from None
    if url.get_backend_name() not in {"postgresql", "postgres"} or not url.database:
        raise ConfigurationError(_CURE)
    return url.set(drivername="postgresql+psycopg")


def _password(path: Path) -> str:
    try:
        place = expanded(path, setting="JOBS_DATABASE_PASSWORD_FILE")
        return read_regular(place, most_bytes=_MOST_PASSWORD_BYTES).decode().strip()
    except OSError as error:
        msg = f"JOBS_DATABASE_PASSWORD_FILE cannot be read: {reason_of(error)}"
    except UnicodeDecodeError:
        msg = "JOBS_DATABASE_PASSWORD_FILE holds no text in UTF-8"
    raise ConfigurationError(msg)
