"""Ranges of the bytes of a file that begin and end with whole lines."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from ai_psychiatrist.validation.jsonl.lines import skip_line

_COUNTED_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRange:
    """A range of whole lines."""

    start: int
    size: int


def split_ranges(path: Path, *, count: int, smallest: int) -> list[LineRange]:
    """Return at most `count` ranges of about equal size that begin and end with whole lines."""
    size = path.stat().st_size
    count = max(1, min(count, size // max(1, smallest)))
    borders = [0]
    with path.open("rb") as stream:
        for number in range(1, count):
            stream.seek(size * number // count - 1)
            skip_line(stream)
            borders.append(stream.tell())
    borders.append(size)
    return [
        LineRange(start=start, size=end - start) for start, end in pairwise(borders) if end > start
    ]


def count_lines(source: Path, lines: LineRange) -> int:
    """Return how many lines end in a range."""
    count, left = 0, lines.size
    with source.open("rb") as stream:
        stream.seek(lines.start)
        while left > 0 and (part := stream.read(min(left, _COUNTED_AT_ONCE))):
            count += part.count(b"\n")
            left -= len(part)
    return count
