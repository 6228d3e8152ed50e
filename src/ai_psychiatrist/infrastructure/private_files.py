"""Files that their owner alone can read, and that are there whole or not at all."""

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.infrastructure.given_files import reason_of

STATE_DIR_CURE: Final = "set DATA_STATE_DIR to a folder that can be written"

_DRAFT: Final = re.compile(r"\..+\.[0-9a-f]{16}")
_DEVICES: Final = Path("/dev")
_FILES_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108  a place that users name
_NOT_DONE_TO_FOLDERS: Final = frozenset({errno.EACCES, errno.EINVAL, errno.ENOTSUP, errno.EPERM})
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite adds to the name of a file for those that it makes beside it."""


def write_new(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file where none is; raises `FileExistsError` where one is, and changes nothing then.

    It is on the disk before it has its name: of several programs that write at once one succeeds,
    and the others find it whole.
    """
    make_folders(path.parent)
    with _draft(path, os.link) as file:
        file.writelines(chunks)


@contextmanager
def draft_of(path: Path) -> Iterator[BinaryIO]:
    """Yield a file in the folder of a path, which takes the path's place when the block ends well.

    It is on the disk before it does, and its name after it. A link that is put in the place is
    replaced, not followed. Raises `OSError` for a device, such as /dev/stdout.
    """
    if is_device(path):
        raise OSError(errno.EINVAL, "it is a device or a pipe, and no file can take its place")
    with _draft(path, os.replace) as file:
        yield file


@contextmanager
def _draft(path: Path, give_name: Callable[[Path, Path], None]) -> Iterator[BinaryIO]:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(make_file(draft), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        give_name(draft, path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Return whether a path is for a device, a pipe or a stream, and not for a file or folder."""
    place = path.absolute()
    if place.is_relative_to(_DEVICES) and not place.is_relative_to(_FILES_IN_MEMORY):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def remove_drafts(folder: Path) -> None:
    """Remove what killed writers left in a folder, into which no other program may be writing."""
    for path in folder.glob(".*"):
        if _DRAFT.fullmatch(path.name):
            path.unlink()


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk, where the system does that to folders."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NOT_DONE_TO_FOLDERS:
            raise


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file from its parts."""
    with draft_of(path) as file:
        file.writelines(chunks)


def make_file(path: Path) -> int:
    """Return the descriptor of a file that is new; raises `FileExistsError` for a link as well."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def open_own_file(path: Path) -> int:
    """Return the descriptor of a private file, made where there is none.

    Raises `OSError` for a link and for what is no regular file.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return descriptor


def make_folders(path: Path) -> None:
    """Make a folder, and those above it that are missing, which their owner alone can enter.

    Those that are there keep their rights.
    """
    missing = [one for one in path.parents if not os.path.lexists(one)]
    for one in (*reversed(missing), path):
        is_new = not os.path.lexists(one)
        one.mkdir(exist_ok=True, mode=0o700)
        if is_new:
            # A folder of a group hands its own bits down.
            one.chmod(0o700)


def make_folder(path: Path) -> None:
    """Make a folder that its owner alone can enter; one that holds something keeps its rights.

    So does one of another owner, such as the root of a mounted disk. Raises `OSError` for a folder
    in which everybody can put files and links.
    """
    make_folders(path)
    if not any(path.iterdir()):
        with suppress(PermissionError):
            path.chmod(0o700)
    if path.stat().st_mode & stat.S_IWOTH:
        raise OSError(errno.EPERM, "everybody can write into it; name a folder of your own")


def make_subfolder(path: Path) -> None:
    """Make a folder inside a private one; raises `OSError` where a link is in its place."""
    path.mkdir(exist_ok=True, mode=0o700)
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a link is in the place of a folder")


def make_private_file(path: Path) -> None:
    """Make the file, and its folder, when they are not there.

    Raises `ConfigurationError` for a file, or one that SQLite keeps beside it, that is a link, is
    no regular file or can be read by others, and `OSError` as `make_folder` does.
    """
    make_folder(path.parent)
    with suppress(FileExistsError):
        os.close(make_file(path))
    for ending in _BESIDE:
        beside = path.with_name(path.name + ending)
        with suppress(FileNotFoundError):
            require_private(beside.lstat(), beside)


def require_private(found: os.stat_result, path: Path) -> None:
    """Raise `ConfigurationError` unless it is a regular file that its owner alone can use."""
    if not stat.S_ISREG(found.st_mode):
        msg = f"no file, but a link or a device: put the file itself at {str(path)!r}"
        raise ConfigurationError(msg)
    if found.st_mode & _OTHERS:
        msg = f"others can read it: chmod 600 {str(path)!r}"
        raise ConfigurationError(msg)


def require_secret(found: os.stat_result, *, setting: str) -> None:
    """Raise `ConfigurationError` for a named file of a secret that all can read, or others write.

    Its group may read it: secrets are mounted so.
    """
    if found.st_mode & (stat.S_IRWXO | stat.S_IWGRP):
        msg = f"{setting} can be used by others: chmod 600 it, or 640 for its group"
        raise ConfigurationError(msg)


@contextmanager
def writing_to(place: Path, *, field: str) -> Iterator[None]:
    """Refuse a path that a user gave, where the block finds that it cannot be written.

    Raises `InputError` naming the place and the `field` that it was named by.
    """
    try:
        yield
    except OSError as error:
        msg = f"{place} cannot be written: {reason_of(error)}"
        raise InputError(msg, field=field) from None
