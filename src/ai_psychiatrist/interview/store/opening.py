"""Make the file of the interviews or open it: its version and its key."""

from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.interview.store.tables import TABLES, VERSION
from ai_psychiatrist.ledger.cipher import Cipher
from ai_psychiatrist.ledger.database import Database, create_file

FILE_NAME: Final = "interviews.sqlite"

_KEY_CHECK: Final = b"interviews"
_KEY_CHECK_PLACE: Final = "key_check"


def open_database(path: Path, cipher: Cipher | None) -> Database:
    """Open the file, or make one that its owner alone can read.

    Raises `ConfigurationError` when it cannot be made, is of a newer version, or was written with
    another key.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        create_file(path)
    except OSError as error:
        msg = f"the file of the interviews {str(path)!r} cannot be made: {error.strerror}"
        raise ConfigurationError(msg) from None
    database = Database(path)
    try:
        # What is deleted is overwritten, not only forgotten.
        database.fetch("PRAGMA secure_delete = ON")
        with database.transaction():
            _lay_out(database, cipher)
        _check(database, cipher)
    except BaseException:
        database.close()
        raise
    return database


def _lay_out(database: Database, cipher: Cipher | None) -> None:
    if database.fetch("SELECT 1 FROM sqlite_master WHERE name = 'meta'"):
        return
    for statement in TABLES:
        database.execute(statement)
    database.execute("INSERT INTO meta VALUES ('schema_version', ?)", (VERSION,))
    if cipher is not None:
        sealed = cipher.seal(_KEY_CHECK, place=_KEY_CHECK_PLACE)
        database.execute("INSERT INTO meta VALUES ('key_check', ?)", (sealed,))


def _check(database: Database, cipher: Cipher | None) -> None:
    meta = {str(key): value for key, value in database.fetch("SELECT key, value FROM meta")}
    version = meta.get("schema_version")
    if version != VERSION:
        msg = (
            f"the file of the interviews has version {version!r}, this program knows {VERSION}: "
            "use the program's version that made the file"
        )
        raise ConfigurationError(msg)
    sealed = meta.get("key_check")
    if isinstance(sealed, bytes):
        if cipher is None:
            msg = "the interviews are encrypted: set the file of their key"
            raise ConfigurationError(msg)
        cipher.unseal(sealed, place=_KEY_CHECK_PLACE)
    elif cipher is not None:
        msg = "the interviews are not encrypted: unset the file of the key to work with them"
        raise ConfigurationError(msg)
