"""One process at a time works on a run."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ai_psychiatrist.infrastructure.private_files import open_own_file
from ai_psychiatrist.store.errors import LedgerUnusable, RunBusy

_LOCK_NAME: Final = ".lock"


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Hold the run inside the block; raises `RunBusy` when another process holds it.

    The system frees the lock when the process ends, however it ends. Raises `LedgerUnusable` when
    the folder takes no lock, and for a link in its place.
    """
    try:
        descriptor = open_own_file(folder / _LOCK_NAME)
    except OSError as error:
        raise LedgerUnusable(error.strerror or type(error).__name__) from None
    try:
        _take(descriptor)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RunBusy from None
    except OSError:
        raise LedgerUnusable("its folder takes no lock") from None
