"""Predictions read into columns: quickly where a line is as we write it, thoroughly elsewhere.

The quick way makes no object for what it reads, and refuses all that is not as `to_line` writes it.
Lines that it refuses go the thorough way of `from_line`, whose errors name the line and the field.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

import orjson

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.scores.column_block import ColumnBlock
from ai_psychiatrist.evaluation.scores.joined_blocks import joined
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_columns import FIRST_KEPT, PredictionColumns
from ai_psychiatrist.evaluation.scores.prediction_lines import from_line, to_line
from ai_psychiatrist.evaluation.scores.record_checks import UNLIKE_OURS
from ai_psychiatrist.evaluation.scores.record_lines import numbered_lines
from ai_psychiatrist.infrastructure.process_pool import process_pool
from ai_psychiatrist.validation.jsonl.line_ranges import LineRange, count_lines, split_ranges

RANGE_BYTES: Final = 64_000_000
"""What a process reads at a time; a file of fewer than two of these is read by one."""

_FIELD: Final = "predictions"
_LINES_AT_ONCE: Final = 1000
_Lines: TypeAlias = Sequence[tuple[int, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What a range of lines holds."""

    blocks: Sequence[ColumnBlock]
    first: Sequence[UnitPrediction]
    """Those of its first lines, at most `FIRST_KEPT`."""


def read_columns(
    path: Path,
    wanted: Container[str] | None = None,
    *,
    workers: int = 1,
    range_bytes: int = RANGE_BYTES,
) -> PredictionColumns:
    """Read the predictions of a file, or those of the `wanted` units.

    A large file is read by as many processes as there are `workers`, which gives the same columns.
    Raises `InputError` as `read_predictions` does; of what no figure needs the quick way sees only
    that it is there.
    """
    if workers > 1 and path.is_file() and path.stat().st_size >= 2 * range_bytes:
        parts = list(_by_processes(path, wanted, workers=workers, range_bytes=range_bytes))
    else:
        parts = [_part_of(path, wanted)]
    first = chain.from_iterable(part.first for part in parts)
    blocks = chain.from_iterable(part.blocks for part in parts)
    return joined(list(blocks), list(islice(first, FIRST_KEPT)))


def columns_of(predictions: Sequence[UnitPrediction] | PredictionColumns) -> PredictionColumns:
    """Return predictions as columns. Raises `InputError` when a unit is predicted twice."""
    if isinstance(predictions, PredictionColumns):
        return predictions
    blocks = [
        _filled(map(_record, predictions[start : start + _LINES_AT_ONCE]), None)
        for start in range(0, len(predictions), _LINES_AT_ONCE)
    ]
    return joined(blocks, predictions[:FIRST_KEPT])


def _by_processes(
    path: Path, wanted: Container[str] | None, *, workers: int, range_bytes: int
) -> Iterator[_Part]:
    count = path.stat().st_size // range_bytes
    ranges = split_ranges(path, count=count, smallest=range_bytes)
    with process_pool(min(workers, len(ranges)), _Worker.start, path, wanted) as pool:
        for lines, pending in [(lines, pool.submit(_Worker.read, lines)) for lines in ranges]:
            try:
                part = pending.result()
            except BrokenProcessPool:
                part = None
            yield part or _part_of(path, wanted, lines, first_line=_first_line_of(path, lines))


def _first_line_of(path: Path, lines: LineRange) -> int:
    """Return the number of a range's first line, which only an error needs."""
    return 1 + count_lines(path, LineRange(start=0, size=lines.start))


class _Worker:
    """What the processes share."""

    path: ClassVar[Path]
    wanted: ClassVar[Container[str] | None]

    @classmethod
    def start(cls, path: Path, wanted: Container[str] | None) -> None:
        """Prepare this process."""
        cls.path, cls.wanted = path, wanted

    @classmethod
    def read(cls, lines: LineRange) -> _Part | None:
        """Read a range, `None` where that cannot be done.

        Its lines are numbered from anything but 1, where a byte order mark would be passed over.
        """
        try:
            return _part_of(cls.path, cls.wanted, lines, first_line=1 + lines.start)
        except InputError:
            return None


def _part_of(
    path: Path, wanted: Container[str] | None, part: LineRange | None = None, *, first_line: int = 1
) -> _Part:
    """Read a part of a file, or all of it."""
    lines = numbered_lines(path, field=_FIELD, part=part, first=first_line)
    first: list[UnitPrediction] = []
    blocks = []
    while block := list(islice(lines, _LINES_AT_ONCE)):
        blocks.append(_block_of(block, wanted))
        if len(first) < FIRST_KEPT:
            _add_first(first, block, wanted)
    return _Part(blocks=blocks, first=first)


def _block_of(lines: _Lines, wanted: Container[str] | None) -> ColumnBlock:
    try:
        return _filled((orjson.loads(line) for _, line in lines), wanted)
    except UNLIKE_OURS:
        whole = (from_line(line, line_number=number) for number, line in lines)
        return _filled(map(_record, whole), wanted)


def _record(prediction: UnitPrediction) -> object:
    return orjson.loads(to_line(prediction))


def _filled(records: Iterable[object], wanted: Container[str] | None) -> ColumnBlock:
    block = ColumnBlock()
    for record in records:
        block.add(record, wanted)
    block.close()
    return block


def _add_first(first: list[UnitPrediction], lines: _Lines, wanted: Container[str] | None) -> None:
    for number, line in lines:
        if len(first) == FIRST_KEPT:
            return
        prediction = from_line(line, line_number=number)
        if wanted is None or prediction.unit_id in wanted:
            first.append(prediction)
