"""Read a file or a stream by lines, with a bound on what one of them may hold in memory."""

import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Protocol

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
    is_reply: bool = False
    """Whether it is all that a model said, which may be nothing, or an object among words."""

    @property
    def is_blank(self) -> bool:
        """Whether the line holds no unit."""
        return self.content is not None and not self.content.strip() and not self.is_reply


class LineSource(Protocol):
    """What lines are read from."""

    def readline(self, size: int, /) -> bytes:
        """Return what is left of a line, at most `size` bytes of it."""
        ...


def read_lines(
    stream: LineSource,
    *,
    longest: int = LONGEST_LINE_BYTES,
    ends_at_long: bool = False,
) -> Iterator[Line]:
    r"""Yield the lines, which end at `\n` alone.

    Of a line that is longer than `longest` bytes the rest is passed over without being kept; with
    `ends_at_long` it is not read. A byte order mark before line 1 is no part of it.
    """
    number = 0
    while content := stream.readline(longest + 1):
        number += 1
        taken = len(content)
        is_too_long = taken > longest and not content.endswith(b"\n")
        if is_too_long and not ends_at_long:
            taken += skip_line(stream)
        if number == 1:
            content = content.removeprefix(_BYTE_ORDER_MARK)
        yield Line(number, None if is_too_long else content.rstrip(b"\r\n"), taken)
        if is_too_long and ends_at_long:
            return


def skip_line(stream: LineSource) -> int:
    """Pass over what is left of a line and return its bytes."""
    skipped = 0
    while part := stream.readline(_SKIPPED_AT_ONCE):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def source_lines(path: Path | None, *, longest: int = LONGEST_LINE_BYTES) -> Iterator[Line]:
    """Yield the lines of a file, unpacked when its name ends in `.gz`; `None` is standard input.

    Raises `InputError` when it cannot be read, and where all of it, not packed, is one object or
    array over several lines.
    """
    with ExitStack() as stack:
        try:
            file = sys.stdin.buffer if path is None else stack.enter_context(path.open("rb"))
            if path is not None and path.suffix == ".gz":
                stream: LineSource = stack.enter_context(gzip.GzipFile(fileobj=file))
            else:
                stream = _refusing_one_value(file)
            yield from read_lines(stream, longest=longest)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise _unreadable("it is not a whole gzip file") from None
        except OSError as error:
            raise _unreadable(error.strerror) from None


def _refusing_one_value(stream: BinaryIO) -> LineSource:
    """Return the stream from its beginning; raises `InputError` for one value over several lines.

    Only where the first line is no JSON is more read, and no more than a line may hold.
    """
    read = stream.readline(LONGEST_LINE_BYTES)
    begun = read.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if begun.startswith((b"{", b"[")) and not _is_json(begun):
        read += stream.read(LONGEST_LINE_BYTES)
        if _is_json(read.removeprefix(_BYTE_ORDER_MARK)):
            kind, jq = ("object", ".") if begun.startswith(b"{") else ("array", "'.[]'")
            msg = (
                f"the input is one JSON {kind} over several lines, and one object a line is "
                f"wanted; write it so with: jq -c {jq} FILE"
            )
            raise InputError(msg, field=FIELD)
    return _Rewound(read, stream)


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


class _Rewound:
    """A stream, which may be a pipe, again from the beginning of what was read of it already."""

    def __init__(self, read: bytes, stream: LineSource) -> None:
        self._read, self._stream = io.BytesIO(read), stream

    def readline(self, size: int, /) -> bytes:
        part = self._read.readline(size)
        if len(part) < size and not part.endswith(b"\n"):
            part += self._stream.readline(size - len(part))
        return part


def _unreadable(reason: str | None) -> InputError:
    return InputError(f"the input cannot be read: {reason}", field=FIELD)
