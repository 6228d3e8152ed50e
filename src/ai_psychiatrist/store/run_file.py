"""The file of a run in its own folder: made or opened, with its version, its key and its terms."""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError
from sqlalchemy import insert, inspect, select, text

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.infrastructure.private_files import make_folder, open_own_file
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.errors import LedgerUnusable, refusing_damage, translated_of_run
from ai_psychiatrist.store.opening import sqlite_engine
from ai_psychiatrist.store.run_rows import RunRows, own
from ai_psychiatrist.store.run_schema import RUN_SCHEMA_VERSION, RUNS, TRIGGERS, adding, terms
from ai_psychiatrist.store.schema import meta
from ai_psychiatrist.validation.checks.step_config import STEP_NAME

FILE_NAME: Final = "ledger.sqlite"

_STEP_NAME: Final = re.compile(rf"\A{STEP_NAME.pattern}")
_VERSION: Final = select(meta.c.value).where(meta.c.key == "schema_version")
_TERMS: Final = select(terms).where(own(terms))
_FOREIGN: Final = text("SELECT sql FROM sqlite_master WHERE type IN ('view', 'trigger')")
_KEY_CHECK: Final = b"run"
_DAMAGED: Final = "its record of the run is damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTerms:
    """What is settled when a run begins."""

    steps: tuple[Annotated[str, Field(pattern=_STEP_NAME)], ...]
    """Files are named after them: none is a path elsewhere."""
    keeps_raw: bool
    about: dict[str, str]


_RUN_TERMS: Final = TypeAdapter(RunTerms)


def make_private_folder(folder: Path) -> None:
    """Make a folder that its owner alone can enter; one that holds something keeps its rights.

    Raises `InputError` when it cannot be made.
    """
    with _refusing_what_cannot_be_made(folder):
        make_folder(folder)


def holds_run(folder: Path) -> bool:
    """Return whether a run was made in a folder, and not only begun."""
    if not _is_file(folder):
        return False
    with closing(_database(folder)) as database:
        return _version(database) is not None


def create_file(folder: Path, run_terms: RunTerms, cipher: Cipher | None) -> RunRows:
    """Make the file in a folder that its owner alone can enter.

    Raises `InputError` when there is one, or the folder cannot be made.
    """
    make_private_folder(folder)
    with _refusing_what_cannot_be_made(folder):
        descriptor = open_own_file(folder / FILE_NAME)
        os.fchmod(descriptor, 0o600)
        os.close(descriptor)
    database = _database(folder)
    rows = RunRows(database=database, cipher=cipher)
    try:
        with database.transaction(rows.tenant, writes=True) as connection:
            if _version(database) is not None:
                msg = f"{str(folder)!r} holds a run already; continue it or name another folder"
                raise InputError(msg, field="RUN")
            meta.create(connection)
            RUNS.create_all(connection, checkfirst=False)
            version = {"key": "schema_version", "value": RUN_SCHEMA_VERSION}
            connection.execute(insert(meta), version)
            write_terms(rows, run_terms)
    except BaseException:
        database.close()
        raise
    return rows


def write_terms(rows: RunRows, run_terms: RunTerms) -> None:
    """Write what is settled about a run, and by what its key is known."""
    check = None if rows.cipher is None else rows.seal(_KEY_CHECK, terms.name)
    row = {"terms": _RUN_TERMS.dump_json(run_terms).decode(), "key_check": check}
    rows.run_each(adding(terms), [row])


def open_file(
    folder: Path, cipher: Cipher | None, *, is_read_only: bool
) -> tuple[RunRows, RunTerms]:
    """Open the file of a run.

    Raises `InputError` when there is none, and `ConfigurationError` for another version or key.
    """
    database = _database(folder, is_read_only=is_read_only) if _is_file(folder) else None
    try:
        version = None if database is None else _version(database)
        if database is None or version is None:
            msg = f"{str(folder)!r} holds no run: there is no {FILE_NAME} in it"
            raise InputError(msg, field="RUN")
        if version != RUN_SCHEMA_VERSION:
            msg = (
                f"the ledger has version {version}, this program knows {RUN_SCHEMA_VERSION}: use "
                "the version of the program that made the run to finish or export it, or run again"
            )
            raise ConfigurationError(msg)
        rows = RunRows(database=database, cipher=cipher)
        if any(row.sql not in TRIGGERS for row in rows.all(_FOREIGN)):
            what = "it holds views or triggers that this program did not make"
            raise LedgerUnusable(what)
        return rows, read_terms(rows)
    except BaseException:
        if database is not None:
            database.close()
        raise


def read_terms(rows: RunRows) -> RunTerms:
    """Return what is settled about a run.

    Raises `LedgerUnusable` when it is none of ours, and `ConfigurationError` for another key.
    """
    row = rows.one(_TERMS)
    if row is None:
        raise LedgerUnusable(_DAMAGED)
    try:
        found = _RUN_TERMS.validate_json(row.terms, strict=True)
    except ValidationError as error:
        where = error.errors(include_input=False)[0]["loc"]
        is_step = where[:1] == ("steps",) and len(where) > 1
        name = f"step {int(where[1]) + 1} has a name that no step can have" if is_step else None
        raise LedgerUnusable(name or _DAMAGED) from None
    if (row.key_check is None) != (rows.cipher is None):
        msg = (
            "the run is encrypted: set DATA_KEY_FILE to the file of its key"
            if rows.cipher is None
            else "the run is not encrypted: unset DATA_KEY_FILE to work with it"
        )
        raise ConfigurationError(msg)
    if rows.cipher is not None:
        rows.open(row.key_check, terms.name)
    return found


def _database(folder: Path, *, is_read_only: bool = False) -> Database:
    engine = sqlite_engine(folder / FILE_NAME, is_read_only=is_read_only)
    return Database(engine, translated=translated_of_run)


def _is_file(folder: Path) -> bool:
    """Return whether a folder has the file of a run, and not a link to another file."""
    path = folder / FILE_NAME
    return path.is_file() and not path.is_symlink()


def _version(database: Database) -> int | None:
    """Return the version of the tables, `None` when there are none."""
    with database.transaction("", writes=False) as connection:
        if not inspect(connection).has_table(meta.name):
            return None
        with refusing_damage():
            return int(connection.execute(_VERSION).scalar() or 0) or None


@contextmanager
def _refusing_what_cannot_be_made(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"the run's folder {str(folder)!r} cannot be made: {error.strerror}"
        raise InputError(msg, field="RUN") from None
