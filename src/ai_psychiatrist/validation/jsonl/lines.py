"""Read a file or a stream by lines, with a bound on what one of them may hold in memory."""

import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

from ai_psychiatrist.domain.errors import InputError

FIELD: Final = "IN"
LONGEST_LINE_BYTES: Final = 10_000_000

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_SKIPPED_AT_ONCE: Final = 65_536


class Line(NamedTuple):
    """One line without its end."""

    number: int
    """From 1."""
    content: bytes | None
    """`None` when the line is too long, or cannot be written."""
    size: int
    """Bytes in the file, the end included."""
    is_writable: bool = True
    """False for what was given as an object, and is none in JSON."""


def read_lines(
    stream: BinaryIO,
    *,
    longest: int = LONGEST_LINE_BYTES,
    first: int = 1,
    size: int | None = None,
    ends_at_long: bool = False,
) -> Iterator[Line]:
    r"""Yield the lines, which end at `\n` alone, until `size` bytes have been read or the end.

    Of a line that is longer than `longest` bytes the rest is passed over without being kept; with
    `ends_at_long` it is not read. A byte order mark before line 1 is no part of it.
    """
    number, left = first, size
    while (left is None or left > 0) and (content := stream.readline(longest + 1)):
        taken = len(content)
        is_too_long = taken > longest and not content.endswith(b"\n")
        if is_too_long and not ends_at_long:
            taken += skip_line(stream)
        if number == 1:
            content = content.removeprefix(_BYTE_ORDER_MARK)
        yield Line(number, None if is_too_long else content.rstrip(b"\r\n"), taken)
        if is_too_long and ends_at_long:
            return
        number += 1
        left = None if left is None else left - taken


def skip_line(stream: BinaryIO) -> int:
    """Pass over what is left of a line and return its bytes."""
    skipped = 0
    while part := stream.readline(_SKIPPED_AT_ONCE):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


@contextmanager
def open_source(path: Path | None) -> Iterator[BinaryIO]:
    """Yield the bytes of a file, unpacked when its name ends in `.gz`; `None` is standard input.

    Raises `InputError` when it cannot be opened, and where all of it, not packed, is one object or
    array over several lines.
    """
    if path is None:
        yield _refusing_one_value(sys.stdin.buffer)
        return
    with ExitStack() as stack:
        try:
            stream: BinaryIO = stack.enter_context(path.open("rb"))
        except OSError as error:
            raise _unreadable(error.strerror) from None
        if path.suffix == ".gz":
            stream = cast("BinaryIO", stack.enter_context(gzip.GzipFile(fileobj=stream)))
            yield stream
            return
        yield _refusing_one_value(stream)


def _refusing_one_value(stream: BinaryIO) -> BinaryIO:
    """Return the stream from its beginning; raises `InputError` for one value over several lines.

    Only where the first line is no JSON is more read, and no more than a line may hold.
    """
    first = stream.readline(LONGEST_LINE_BYTES)
    begun = first.removeprefix(_BYTE_ORDER_MARK).lstrip()
    may_be_one = begun.startswith((b"{", b"[")) and not _is_json(begun)
    read = first + stream.read(LONGEST_LINE_BYTES) if may_be_one else first
    if may_be_one and _is_json(read.removeprefix(_BYTE_ORDER_MARK)):
        kind, jq = ("object", ".") if begun.startswith(b"{") else ("array", "'.[]'")
        msg = (
            f"the input is one JSON {kind} over several lines, and one object a line is wanted; "
            f"write it so with: jq -c {jq} FILE"
        )
        raise InputError(msg, field=FIELD)
    return cast("BinaryIO", io.BufferedReader(_Continued(read, stream)))


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


class _Continued(io.RawIOBase):
    """A stream, which a pipe is, again from the beginning of what was read of it already."""

    def __init__(self, read: bytes, stream: BinaryIO) -> None:
        self._read, self._stream = io.BytesIO(read), cast("io.BufferedReader", stream)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        # What has come of a pipe is passed on at once, and not when the buffer is full.
        content = self._read.read(len(buffer)) or self._stream.read1(len(buffer))
        buffer[: len(content)] = content
        return len(content)


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
