"""Read files that users name: regular ones alone, and never more of one than is wanted.

A read of a named pipe may never return, a device may give bytes without end, and a link may lead
anywhere.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from ai_psychiatrist.domain.errors import ConfigurationError, InputError

_LONGEST_PATH: Final = 1_000

_BUFFER_BYTES: Final = 1 << 18
"""Lines of some kilobytes are read in much less time than through the small buffers of Python."""


class NotRegularFile(OSError):
    """A path leads to a folder, a pipe, a device or, where none is followed, a link."""


class FileTooLarge(OSError):
    """A file has more bytes than are read of it."""


class LinkLeadsOut(NotRegularFile):
    """A path inside a folder is a link to something outside of it."""


def expanded(path: Path, *, setting: str) -> Path:
    """Return a path with the home folder in place of its `~`.

    Raises `ConfigurationError`, naming the setting, where no home folder is known.
    """
    try:
        return path.expanduser()
    except RuntimeError:
        msg = f"{setting}: no home folder is known for its ~; write the path out, or set HOME"
        raise ConfigurationError(msg) from None


def could_be_path(text: str) -> bool:
    """Return whether a text can name a file: one line, and not too long."""
    return len(text) <= _LONGEST_PATH and not any(end in text for end in "\n\r\0")


def read_regular(path: Path, *, most_bytes: int, follows_links: bool = True) -> bytes:
    """Return the bytes of a regular file, of which at most `most_bytes` + 1 are read.

    Raises `NotRegularFile`, `FileTooLarge`, `FileNotFoundError` or another `OSError`; none of them
    names the path in its text.
    """
    with open_regular(path, follows_links=follows_links) as file:
        return read_at_most(file, most_bytes)


def read_inside(folder: Path, path: Path, *, most_bytes: int) -> bytes:
    """Return the bytes of a regular file that lies in a folder, links within it included.

    Raises `LinkLeadsOut` besides what `read_regular` raises.
    """
    return read_regular(inside(folder, path), most_bytes=most_bytes, follows_links=False)


def inside(folder: Path, path: Path) -> Path:
    """Return where a path of a folder leads; raises `LinkLeadsOut` where that is outside of it."""
    try:
        place = path.resolve()
    except (RuntimeError, ValueError):
        raise LinkLeadsOut from None
    if not place.is_relative_to(folder.resolve()):
        raise LinkLeadsOut
    return place


def is_inside(folder: Path, path: Path) -> bool:
    """Return whether a path of a folder leads to a place inside of it."""
    try:
        inside(folder, path)
    except LinkLeadsOut:
        return False
    return True


def open_regular(path: Path, *, follows_links: bool = True) -> BinaryIO:
    """Open a regular file for reading, without waiting for what is none.

    Raises `NotRegularFile`, `FileNotFoundError` or another `OSError`; none names the path.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        if not stat.S_ISREG(path.stat(follow_symlinks=follows_links).st_mode):
            raise NotRegularFile
        descriptor = os.open(path, flags if follows_links else flags | os.O_NOFOLLOW)
    except ValueError:
        raise FileNotFoundError from None
    except OSError as problem:
        raise _without_path(problem) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularFile
    return os.fdopen(descriptor, "rb", buffering=_BUFFER_BYTES)


def read_at_most(file: BinaryIO, most_bytes: int) -> bytes:
    """Return what a file or a pipe holds; raises `FileTooLarge` after `most_bytes` + 1."""
    content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise FileTooLarge
    return content


@contextmanager
def naming_setting(setting: str) -> Iterator[None]:
    """Raise `ConfigurationError`, which names the setting, for its file that cannot be read."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"{setting} cannot be read: {reason_of(error)}") from None


@contextmanager
def reading_from(what: object, *, field: str) -> Iterator[None]:
    """Raise `InputError` that names what a caller gave, where the block finds it unreadable."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{what} cannot be read: {reason_of(error)}", field=field) from None


def reason_of(problem: OSError) -> str:
    """Return why a file was not read or written, for people, without its path."""
    match problem:
        case LinkLeadsOut():
            return "it is a link that leads out of its folder"
        case NotRegularFile():
            return "it is no regular file"
        case FileTooLarge():
            return "it is too large"
        case _:
            return problem.strerror or "the system does not say why"


def _without_path(problem: OSError) -> OSError:
    if problem.errno is None:
        return problem
    return type(problem)(problem.errno, os.strerror(problem.errno))
