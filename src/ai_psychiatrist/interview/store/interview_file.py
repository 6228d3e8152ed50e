"""Make the file of the interviews or open it: its place, its version and its key."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.interview.store.columns import fill_columns
from ai_psychiatrist.interview.store.sealer import Sealer
from ai_psychiatrist.interview.store.sealing_migration import seal_over
from ai_psychiatrist.interview.store.tables import (
    COLUMNS_VERSION,
    MIGRATIONS,
    SEALED_VERSION,
    VERSION,
)
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.ledger.store.database import Database, Value
from ai_psychiatrist.ledger.store.private_database import (
    empty_journal,
    open_private,
    refuse_newer,
)

FILE_NAME: Final = "interviews.sqlite"
KEY_NAME: Final = "interviews.key"

_KEY_CHECK: Final = b"interviews"
_KEY_CHECK_PLACE: Final = "key_check"
_KEPT: Final = "the interviews"
_CURE: Final = "set DATA_STATE_DIR, or INTERVIEW_STORE_FILE, to where it can be written"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """The file of the interviews, and what opens its words."""

    database: Database
    sealer: Sealer


def open_interview_file(path: Path, keys: StoreKeys, *, now: str) -> OpenedFile:
    """Open the file, or make one that its owner alone can read, and bring it to this version.

    A file of an older version is brought to this one in one transaction. Raises
    `ConfigurationError` when it cannot be made, others can read it, it is of a newer version or
    written with another key.
    """
    database = open_private(Database, path, kept=_KEPT, cure=_CURE)
    try:
        with database.transaction():
            meta = _meta(database)
            sealer = _sealer(meta, keys)
            version = _version(meta)
            _migrate(database, sealer, version, was_sealed="key_check" in meta, now=now)
        if 0 < version < SEALED_VERSION:
            database.execute("VACUUM")
        # Of a program that was killed the side file may still hold what was readable before.
        empty_journal(database)
    except BaseException:
        database.close()
        raise
    return OpenedFile(database=database, sealer=sealer)


def _meta(database: Database) -> dict[str, Value]:
    if not database.fetch("SELECT 1 FROM sqlite_master WHERE name = 'meta'"):
        return {}
    return {str(key): value for key, value in database.fetch("SELECT key, value FROM meta")}


def _version(meta: Mapping[str, Value]) -> int:
    return refuse_newer(meta.get("schema_version", 0), VERSION, kept=_KEPT)


def _sealer(meta: Mapping[str, Value], keys: StoreKeys) -> Sealer:
    """Return the key that fits; only a file that is not encrypted yet may get a new one."""
    check = meta.get("key_check")
    if check is None and _version(meta) < SEALED_VERSION:
        return Sealer(cipher=keys.first())
    sealed = check if isinstance(check, bytes) else b""
    return Sealer(cipher=keys.fitting(sealed, place=_KEY_CHECK_PLACE))


def _migrate(
    database: Database, sealer: Sealer, version: int, *, was_sealed: bool, now: str
) -> None:
    if version == VERSION:
        return
    for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
        for statement in statements:
            database.execute(statement)
        if number == SEALED_VERSION:
            seal_over(database, sealer, was_sealed=was_sealed, now=now)
        if number == COLUMNS_VERSION:
            fill_columns(database, sealer)
    database.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (VERSION,))
    check = sealer.cipher.seal(_KEY_CHECK, place=_KEY_CHECK_PLACE)
    database.execute("INSERT OR REPLACE INTO meta VALUES ('key_check', ?)", (check,))
