"""Join each unit with what was known before its answer, in little memory."""

import gzip
import sqlite3
import zlib
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, Self

from ai_psychiatrist.domain.errors import InputError, OutputRejected
from ai_psychiatrist.validation.checks.host_fields import SET_ASIDE, UNIT_ID
from ai_psychiatrist.validation.jsonl.lines import Line, read_lines
from ai_psychiatrist.validation.jsonl.unit import unit_id_of
from ai_psychiatrist.validation.reply.limits import ParseLimits
from ai_psychiatrist.validation.reply.parse import parse_line

FIELD: Final = "--context"

_CACHE_KIB: Final = 8_192
_CHUNK_BYTES: Final = 1 << 20
_MOST_GROWTH: Final = 100
"""Times its size that a file may become; lines of JSON become ten times as large."""
_ALWAYS_UNPACKED_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A unit that was asked for."""

    number: int
    """The number of its line, from 1."""
    start: int
    """Where its line begins, in bytes."""
    size: int
    unit_id: str | int
    context: dict[str, object] = field(repr=False)

    @property
    def key(self) -> str:
        """The id as text."""
        return str(self.unit_id)


class ContextIndex:
    """Finds the line of a unit in a context file by an index on disk."""

    def __init__(self, path: Path, index: Path, limits: ParseLimits) -> None:
        """Open an index that `build` made."""
        self._limits = limits
        self._file: BinaryIO = path.open("rb")
        self._rows = sqlite3.connect(f"file:{index}?mode=ro", uri=True, check_same_thread=False)
        self._rows.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")

    @classmethod
    def build(cls, path: Path, index: Path, limits: ParseLimits) -> Self:
        """Write the index of a file; raises `InputError` for a line that cannot be used."""
        with closing(sqlite3.connect(index)) as rows:
            rows.execute("PRAGMA journal_mode = OFF")
            rows.execute(
                "CREATE TABLE asked (key TEXT PRIMARY KEY, number INTEGER, start INTEGER,"
                " size INTEGER) WITHOUT ROWID"
            )
            for asked in read_contexts(path, limits):
                row = (asked.key, asked.number, asked.start, asked.size)
                try:
                    rows.execute("INSERT INTO asked VALUES (?, ?, ?, ?)", row)
                except sqlite3.IntegrityError:
                    raise asked_twice(asked.number) from None
            rows.commit()
        return cls(path, index, limits)

    def find(self, key: str) -> Asked | None:
        """Return a unit, `None` when it was not asked for."""
        row = self._rows.execute(
            "SELECT number, start, size FROM asked WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        number, start, size = row
        self._file.seek(start)
        line = next(read_lines(self._file, first=number, size=size))
        return _asked(line, start, self._limits)

    def __len__(self) -> int:
        """Return how many units were asked for."""
        count: int = self._rows.execute("SELECT count(*) FROM asked").fetchone()[0]
        return count

    def close(self) -> None:
        """Close index and file."""
        self._rows.close()
        self._file.close()


def read_contexts(path: Path, limits: ParseLimits) -> Generator[Asked, None, None]:
    """Yield the units of a context file in order; raises `InputError` naming a line of no use."""
    start = 0
    with path.open("rb") as stream:
        for line in read_lines(stream, ends_at_long=True):
            if line.content is None or line.content.strip():
                yield _asked(line, start, limits)
            start += line.size


def plain_copy(path: Path, folder: Path) -> Path:
    """Return a file that can be read from any place: itself, or its copy without compression.

    Raises `InputError` when it is no such file, or becomes a hundred times as large.
    """
    if not path.is_file():
        msg = "the context is no regular file that can be read"
        raise InputError(msg, field=FIELD)
    if path.suffix != ".gz":
        return path
    copy = folder / "context.jsonl"
    try:
        _unpack(path, copy)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"the context cannot be unpacked: {type(error).__name__}"
        raise InputError(msg, field=FIELD) from None
    return copy


def _unpack(path: Path, copy: Path) -> None:
    """Write what a compressed file holds, and no more than it may."""
    left = max(_ALWAYS_UNPACKED_BYTES, _MOST_GROWTH * path.stat().st_size)
    with gzip.open(path) as packed, copy.open("wb") as plain:
        for chunk in iter(partial(packed.read, _CHUNK_BYTES), b""):
            left -= len(chunk)
            if left < 0:
                msg = (
                    f"the context becomes more than {_MOST_GROWTH} times as large: unpack it first"
                )
                raise InputError(msg, field=FIELD)
            plain.write(chunk)


def asked_twice(number: int) -> InputError:
    """Return the refusal of a context file that holds a unit twice."""
    return InputError(f"line {number} of the context asks for a unit a second time", field=FIELD)


def _asked(line: Line, start: int, limits: ParseLimits) -> Asked:
    try:
        if line.content is None:
            raise _unusable(line.number, "is too long")
        value = parse_line(line.content, limits).value
    except OutputRejected as rejection:
        raise _unusable(line.number, f"is no JSON object ({rejection.code.value})") from None
    unit_id = unit_id_of(value)
    if unit_id is None:
        raise _unusable(line.number, f"has no {UNIT_ID!r} that is a text or a whole number")
    context = {name: inner for name, inner in value.items() if name not in SET_ASIDE}
    return Asked(number=line.number, start=start, size=line.size, unit_id=unit_id, context=context)


def _unusable(number: int, problem: str) -> InputError:
    return InputError(f"line {number} of the context {problem}", field=FIELD)
