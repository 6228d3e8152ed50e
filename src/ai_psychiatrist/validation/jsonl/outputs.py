"""Where the records go: each kind to a stream of its own, files whole or not at all."""

import gzip
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.private_files import is_device

_NAME_BYTES: Final = 8
_OWNERS_ALONE: Final = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The open streams of a run."""

    valid: BinaryIO
    failures: BinaryIO
    coercions: BinaryIO | None = None
    """`None` when nobody asked for them."""
    following: BinaryIO | None = None
    """The contexts of the next step; `None` when nobody asked for them."""


@contextmanager
def output_file(path: Path, *, field: str) -> Iterator[BinaryIO]:
    """Yield a stream whose content appears under its name when the block ends without an error.

    The file can be read by its owner alone and is compressed when its name ends in `.gz`. Raises
    `InputError` naming `field` when it cannot be written.
    """
    target = path.resolve()
    if is_device(path) or target.is_dir():
        # A device or a pipe has no place that a finished file could be moved to, and what
        # /dev/stdout stands for belongs to somebody else.
        with _opened(path, field) as stream:
            yield stream
        return
    # Named before it is there: an interrupt at any moment finds what is to be removed.
    draft = target.with_name(f".{target.name}.{secrets.token_hex(_NAME_BYTES)}")
    try:
        with ExitStack() as stack:
            plain = stack.enter_context(_created(draft, field))
            packed = path.suffix == ".gz"
            yield stack.enter_context(_packer(plain)) if packed else plain
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path, field: str) -> Iterator[BinaryIO]:
    try:
        stream = path.open("ab")
    except OSError as error:
        raise _unwritable(field, error) from None
    with stream:
        yield stream


def _packer(plain: BinaryIO) -> BinaryIO:
    """Return a stream whose bytes do not tell when or under which name they were written."""
    packer = gzip.GzipFile(filename="", mode="wb", fileobj=plain, compresslevel=6, mtime=0)
    return cast("BinaryIO", packer)


def _created(draft: Path, field: str) -> BinaryIO:
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNERS_ALONE)
    except OSError as error:
        raise _unwritable(field, error) from None
    return os.fdopen(descriptor, "wb")


def _unwritable(field: str, error: OSError) -> InputError:
    return InputError(f"{field} cannot be written: {error.strerror}", field=field)
