"""Files and folders that nobody but their owner may look into."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError

_BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite adds to the name of a file for those that it makes beside it."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def make_private_file(path: Path) -> None:
    """Make the file, and its folder, when they are not there.

    Raises `ConfigurationError` for a file that is a link, is no regular file or can be read by
    others, for a folder that others may write to, and `OSError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.parent.stat().st_mode & _OTHERS_MAY_WRITE:
        msg = f"others can write to the folder: chmod go-w {str(path.parent)!r}"
        raise ConfigurationError(msg)
    with suppress(FileExistsError):
        flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_RDWR
        os.close(os.open(path, flags, 0o600))
    for ending in _BESIDE:
        beside = path.with_name(path.name + ending)
        with suppress(FileNotFoundError):
            refuse_shared(beside.lstat(), beside)


def refuse_shared(found: os.stat_result, path: Path) -> None:
    """Raise `ConfigurationError` unless it is a regular file that its owner alone can use."""
    if not stat.S_ISREG(found.st_mode):
        msg = f"no file, but a link or a device: put the file itself at {str(path)!r}"
        raise ConfigurationError(msg)
    if found.st_mode & _OTHERS:
        msg = f"others can read it: chmod 600 {str(path)!r}"
        raise ConfigurationError(msg)
