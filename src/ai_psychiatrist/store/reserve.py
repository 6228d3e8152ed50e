"""Room on the disk of the state folder, kept for commands that have to work where it is full.

SQLite needs some even to end a key: for its side files, and for what it writes before it replaces.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ai_psychiatrist.infrastructure.private_files import make_file

_NAME: Final = "reserve"
_CHUNK: Final = bytes(65_536)
_CHUNKS: Final = 16


@contextmanager
def using_reserve(folder: Path) -> Iterator[None]:
    """Give the room free for the block, and take it, or as much as there is, again after."""
    path = folder / _NAME
    with suppress(OSError):
        path.unlink()
    try:
        yield
    finally:
        with suppress(OSError):
            _take(path)


def _take(path: Path) -> None:
    descriptor = make_file(path)
    try:
        for _ in range(_CHUNKS):
            os.write(descriptor, _CHUNK)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
