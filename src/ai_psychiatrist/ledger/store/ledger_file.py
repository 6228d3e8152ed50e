"""Make a ledger's file or open it: its version, its key and the terms of its run."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.infrastructure.private_files import make_folder
from ai_psychiatrist.ledger.store.database import Database, Value, create_file
from ai_psychiatrist.ledger.store.tables import MIGRATIONS, TRIGGERS, VERSION
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.errors import LedgerUnusable, refusing_damage
from ai_psychiatrist.validation.checks.step_config import STEP_NAME

FILE_NAME: Final = "ledger.sqlite"

_TERMS: Final = ("steps", "keeps_raw", "about")
_KEY_CHECK: Final = b"ledger"
_KEY_CHECK_PLACE: Final = "key_check"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTerms:
    """What is settled when a run begins."""

    steps: tuple[str, ...]
    keeps_raw: bool
    about: Mapping[str, str]


def create_database(folder: Path, terms: RunTerms, cipher: Cipher | None) -> Database:
    """Make the file in a folder that its owner alone can enter.

    Raises `InputError` when there is one, or the folder cannot be made.
    """
    make_private_folder(folder)
    with _refusing_what_cannot_be_made(folder):
        create_file(folder / FILE_NAME)
    database = Database(folder / FILE_NAME)
    try:
        with database.transaction():
            _lay_out(database, folder, terms, cipher)
    except BaseException:
        database.close()
        raise
    return database


def _lay_out(database: Database, folder: Path, terms: RunTerms, cipher: Cipher | None) -> None:
    if _version(database):
        msg = f"{str(folder)!r} holds a run already; continue it or name another folder"
        raise InputError(msg, field="RUN")
    _migrate(database, 0)
    meta: dict[str, Value] = {name: json.dumps(term) for name, term in asdict(terms).items()}
    if cipher is not None:
        meta["key_check"] = cipher.seal(_KEY_CHECK, place=_KEY_CHECK_PLACE)
    for key, value in meta.items():
        database.execute("INSERT INTO meta VALUES (?, ?)", (key, value))


def holds_run(folder: Path) -> bool:
    """Return whether a ledger was made in a folder, and not only begun."""
    path = folder / FILE_NAME
    if not _is_file(path):
        return False
    with closing(Database(path)) as database:
        return _version(database) > 0


def _is_file(path: Path) -> bool:
    """Return whether a ledger's file is one, and no link to somebody else's."""
    return path.is_file() and not path.is_symlink()


def make_private_folder(folder: Path) -> None:
    """Make a folder that its owner alone can enter; one that holds something keeps its rights.

    Raises `InputError` when it cannot be made.
    """
    with _refusing_what_cannot_be_made(folder):
        make_folder(folder)


@contextmanager
def _refusing_what_cannot_be_made(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"the run's folder {str(folder)!r} cannot be made: {error.strerror}"
        raise InputError(msg, field="RUN") from None


def open_database(
    folder: Path, cipher: Cipher | None, *, is_read_only: bool
) -> tuple[Database, RunTerms]:
    """Open the file and bring it to this version.

    Raises `InputError` when there is none, and `ConfigurationError` for a newer version or another
    key.
    """
    if not _is_file(folder / FILE_NAME):
        raise _no_ledger(folder)
    database = Database(folder / FILE_NAME, is_read_only=is_read_only)
    try:
        _refuse_foreign_parts(database)
        version = _version(database)
        if not version:
            raise _no_ledger(folder)
        _refuse_newer(version)
        if version < VERSION and not is_read_only:
            with database.transaction():
                _migrate(database, version)
        meta = dict(map(tuple, database.fetch("SELECT key, value FROM meta")))
        _check_key(meta.get("key_check"), cipher)
        return database, _terms(meta)
    except BaseException:
        database.close()
        raise


def _refuse_foreign_parts(database: Database) -> None:
    """Raise `LedgerUnusable` for views and triggers that are not this program's."""
    found = database.fetch("SELECT name, sql FROM sqlite_master WHERE type IN ('view', 'trigger')")
    if any(row["sql"] not in TRIGGERS for row in found):
        what = "it holds views or triggers that this program did not make"
        raise LedgerUnusable(what)


def _terms(meta: Mapping[str, object]) -> RunTerms:
    """Return what the file says of its run; raises `LedgerUnusable` when it is none of ours.

    Files are named after steps, so a step whose name could be a path elsewhere is refused.
    """
    try:
        steps, keeps_raw, about = (json.loads(str(meta[name])) for name in _TERMS)
    except (KeyError, ValueError, RecursionError):
        steps = keeps_raw = about = None
    if not isinstance(steps, list) or not isinstance(about, dict) or type(keeps_raw) is not bool:
        what = "its record of the run is damaged"
        raise LedgerUnusable(what)
    for number, step in enumerate(steps, start=1):
        if not isinstance(step, str) or STEP_NAME.match(step) is None:
            what = f"step {number} has a name that no step can have"
            raise LedgerUnusable(what)
    return RunTerms(
        steps=tuple(steps),
        keeps_raw=keeps_raw,
        about={str(name): str(value) for name, value in about.items()},
    )


def _no_ledger(folder: Path) -> InputError:
    return InputError(f"{str(folder)!r} holds no run: there is no {FILE_NAME} in it", field="RUN")


def _version(database: Database) -> int:
    """Return the version of the tables, 0 when there are none."""
    if not database.fetch("SELECT 1 FROM sqlite_master WHERE name = 'meta'"):
        return 0
    rows = database.fetch("SELECT value FROM meta WHERE key = 'schema_version'")
    with refusing_damage():
        return int(rows[0][0] or 0) if rows else 0


def _refuse_newer(version: int) -> None:
    if version > VERSION:
        msg = (
            f"the ledger has version {version}, this program knows versions up to {VERSION}: "
            "use the program's version that made the run, or a newer one"
        )
        raise ConfigurationError(msg)


def _migrate(database: Database, version: int) -> None:
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            database.execute(statement)
    database.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (VERSION,))


def _check_key(sealed: object, cipher: Cipher | None) -> None:
    if isinstance(sealed, bytes):
        if cipher is None:
            msg = "the run is encrypted: set DATA_KEY_FILE to the file of its key"
            raise ConfigurationError(msg)
        cipher.unseal(sealed, place=_KEY_CHECK_PLACE)
    elif cipher is not None:
        msg = "the run is not encrypted: unset DATA_KEY_FILE to work with it"
        raise ConfigurationError(msg)
