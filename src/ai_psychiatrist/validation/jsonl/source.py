"""Open what is to be read: a file, a compressed file, or standard input."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.validation.jsonl.lines import Line

FIELD: Final = "IN"


@contextmanager
def open_source(path: Path | None) -> Iterator[BinaryIO]:
    """Yield the bytes of a file, unpacked when its name ends in `.gz`; `None` is standard input.

    Raises `InputError` when it cannot be opened.
    """
    if path is None:
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            stream: BinaryIO = stack.enter_context(path.open("rb"))
        except OSError as error:
            raise _unreadable(error.strerror) from None
        if path.suffix == ".gz":
            stream = cast("BinaryIO", stack.enter_context(gzip.GzipFile(fileobj=stream)))
        yield stream


def readable(blocks: Iterator[list[Line]]) -> Iterator[list[Line]]:
    """Yield blocks of lines; raises `InputError` where they cannot be read any further."""
    try:
        yield from blocks
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise _unreadable("it is not a whole gzip file") from None
    except OSError as error:
        raise _unreadable(error.strerror) from None


def _unreadable(reason: str | None) -> InputError:
    return InputError(f"the input cannot be read: {reason}", field=FIELD)
