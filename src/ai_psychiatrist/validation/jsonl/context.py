"""The units of a run: what each was asked with, and which have been answered."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

from ai_psychiatrist.domain.errors import InputError, OutputRejected
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.host_fields import SET_ASIDE, UNIT_ID
from ai_psychiatrist.validation.checks.verdict import Verdict, refusal
from ai_psychiatrist.validation.jsonl.lines import Line, read_lines
from ai_psychiatrist.validation.jsonl.unit import unit_id_of
from ai_psychiatrist.validation.reply.limits import ParseLimits
from ai_psychiatrist.validation.reply.parse import parse_line

FIELD: Final = "--context"

_DIGEST_BYTES: Final = 8
_ANSWERED: Final = -1
_CHUNK_BYTES: Final = 1 << 20
_MOST_GROWTH: Final = 100
"""Times its size that a file may become; lines of JSON become ten times as large."""
_ALWAYS_UNPACKED_BYTES: Final = 64 << 20
_DUPLICATE: Final = refusal(
    FailureStage.DUPLICATE, "duplicate", "the unit was answered on an earlier line, which counts"
)
NOT_ASKED: Final = refusal(
    FailureStage.PIPELINE_INTERNAL, "not_asked", "the context asks for no such unit"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A unit that was asked for."""

    number: int
    """The number of its line, from 1."""
    start: int
    """Where its line begins, in bytes."""
    unit_id: str | int
    context: dict[str, object] = field(repr=False)

    @property
    def key(self) -> str:
        """The id as text."""
        return str(self.unit_id)


class AskedUnits:
    """The units of a context file, each answered once; without a file every unit is asked for.

    A unit is a digest of eight bytes and the offset of its line: a million take about 120 MB.
    """

    def __init__(self, path: Path | None, limits: ParseLimits, stack: ExitStack) -> None:
        """Find the lines of a context file, which `stack` closes.

        Raises `InputError` naming a line that cannot be used, or that asks for a unit again.
        """
        self._limits = limits
        self._starts: dict[int, int] = {}
        self._file: BinaryIO | None = None
        self.count: int | None = None
        """Units that were asked for, `None` without a file."""
        if path is None:
            return
        self._file = stack.enter_context(_plain_file(path, stack).open("rb"))
        for asked in _asked_in(self._file, limits):
            if self._starts.setdefault(_digest(asked.key), asked.start) != asked.start:
                msg = f"line {asked.number} of the context asks for a unit a second time"
                raise InputError(msg, field=FIELD)
        self.count = len(self._starts)

    def take(self, key: str) -> Mapping[str, object] | Verdict | None:
        """Return what the context gives of a unit, or why its answer is not checked."""
        digest = _digest(key)
        start = self._starts.get(digest)
        self._starts[digest] = _ANSWERED
        if start == _ANSWERED:
            return _DUPLICATE
        if self._file is None:
            return None
        if start is None:
            return NOT_ASKED
        return next(_asked_in(self._file, self._limits, start=start)).context

    def unanswered(self) -> Iterator[Asked]:
        """Yield in the order of the context the units for which no answer was taken."""
        if self._file is not None:
            for asked in _asked_in(self._file, self._limits):
                if self._starts[_digest(asked.key)] != _ANSWERED:
                    yield asked


def read_contexts(path: Path, limits: ParseLimits) -> Iterator[Asked]:
    """Yield the units of a context file in order; raises `InputError` naming a line of no use."""
    with path.open("rb") as stream:
        yield from _asked_in(stream, limits)


def _asked_in(stream: BinaryIO, limits: ParseLimits, *, start: int = 0) -> Iterator[Asked]:
    stream.seek(start)
    for line in read_lines(stream, ends_at_long=True):
        if line.content is None or line.content.strip():
            yield _asked(line, start, limits)
        start += line.size


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
    return Asked(number=line.number, start=start, unit_id=unit_id, context=context)


def _unusable(number: int, problem: str) -> InputError:
    return InputError(f"line {number} of the context {problem}", field=FIELD)


def _digest(key: str) -> int:
    data = key.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest())


def _plain_file(path: Path, stack: ExitStack) -> Path:
    """Return a file that can be read from any offset: itself, or a copy without compression.

    Raises `InputError` when it is no such file, or becomes a hundred times as large.
    """
    if not path.is_file():
        msg = "the context is no regular file that can be read"
        raise InputError(msg, field=FIELD)
    if path.suffix != ".gz":
        return path
    copy = Path(stack.enter_context(TemporaryDirectory())) / "context.jsonl"
    left = max(_ALWAYS_UNPACKED_BYTES, _MOST_GROWTH * path.stat().st_size)
    try:
        with gzip.open(path) as packed, copy.open("wb") as plain:
            for chunk in iter(partial(packed.read, _CHUNK_BYTES), b""):
                left -= len(chunk)
                if left < 0:
                    break
                plain.write(chunk)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"the context cannot be unpacked: {type(error).__name__}"
        raise InputError(msg, field=FIELD) from None
    if left < 0:
        msg = f"the context becomes more than {_MOST_GROWTH} times as large: unpack it first"
        raise InputError(msg, field=FIELD)
    return copy
