"""Read lines of bytes with a bound on what one of them may hold in memory."""

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

LONGEST_LINE_BYTES: Final = 10_000_000

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_SKIPPED_AT_ONCE: Final = 65_536


class Line(NamedTuple):
    """One line without its end."""

    number: int
    """From 1."""
    content: bytes | None
    """`None` when the line is too long."""
    size: int
    """Bytes in the file, the end included."""


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
