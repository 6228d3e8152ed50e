"""One process at a time works on a run."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from ai_psychiatrist.infrastructure.private_files import make_file
from ai_psychiatrist.store.errors import LedgerUnusable, RunBusy

_LOCK_NAME: Final = ".lock"
_NO_LOCK: Final = "its folder takes no lock"


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Hold the run inside the block; raises `RunBusy` when another process holds it.

    It is SQLite's lock on an empty file, which works on every system that has ledgers, and which
    the system frees when the process ends, however it ends. Raises `LedgerUnusable` when the
    folder takes no lock.
    """
    path = folder / _LOCK_NAME
    _make_plain(path)
    with closing(_connected(path)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            is_held = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            raise (RunBusy() if is_held else LedgerUnusable(_NO_LOCK)) from None
        yield


def _make_plain(path: Path) -> None:
    """Make the file where there is none; raises `LedgerUnusable` for a link and for a folder.

    One that is there is never opened: to close it again would free what this process holds.
    """
    try:
        with suppress(FileExistsError):
            os.close(make_file(path))
        is_plain = stat.S_ISREG(path.lstat().st_mode)
    except OSError as error:
        raise LedgerUnusable(error.strerror or type(error).__name__) from None
    if not is_plain:
        raise LedgerUnusable(_NO_LOCK)


def _connected(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error:
        raise LedgerUnusable(_NO_LOCK) from None
