"""One process at a time works on a run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ai_psychiatrist.infrastructure.private_files import open_own_file
from ai_psychiatrist.ledger.errors import LedgerUnusable, RunBusy

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind.
    fcntl = None  # type: ignore[assignment]

_LOCK_NAME: Final = ".lock"


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Hold the run inside the block; raises `RunBusy` when another process holds it.

    Raises `LedgerUnusable` when the folder takes no lock. The system frees the lock when the
    process ends, however it ends.
    """
    try:
        descriptor = open_own_file(folder / _LOCK_NAME)
    except OSError as error:
        raise LedgerUnusable(error.strerror or type(error).__name__) from None
    try:
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RunBusy from None
        yield
    finally:
        os.close(descriptor)
