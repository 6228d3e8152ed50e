"""Validate one large file on several cores: each takes ranges of bytes and writes by itself."""

import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import BinaryIO, Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.process_pool import process_pool
from ai_psychiatrist.validation.checks.step_config import StepConfig
from ai_psychiatrist.validation.checks.step_validator import DEFAULT_LIMITS, StepValidator
from ai_psychiatrist.validation.jsonl.context import plain_copy
from ai_psychiatrist.validation.jsonl.join import ContextJoin
from ai_psychiatrist.validation.jsonl.line_ranges import LineRange, count_lines, split_ranges
from ai_psychiatrist.validation.jsonl.lines import read_lines, readable
from ai_psychiatrist.validation.jsonl.options import DEFAULT_OPTIONS, ValidationOptions, say_nothing
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.run import logged_summary
from ai_psychiatrist.validation.jsonl.summary import Summary
from ai_psychiatrist.validation.jsonl.tally import Tally
from ai_psychiatrist.validation.jsonl.unit_checker import UnitChecker, blocks
from ai_psychiatrist.validation.jsonl.unit_ids import DIGEST_BYTES, UnitIds
from ai_psychiatrist.validation.reply.limits import ParseLimits

WORTH_SHARING_BYTES: Final = 50_000_000
"""Smaller files are done sooner than further processes have started."""
SHARDS_PER_WORKER: Final = 4

_COPIED_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What a worker needs to know about one shard."""

    source: Path
    shard: LineRange
    first_line: int
    parts: Path
    """The beginning of the names of the files that it writes."""
    kinds: tuple[str, ...]
    """The outputs that somebody asked for."""
    context: Path | None
    deadline: float | None
    options: ValidationOptions
    earlier: bytes = field(default=b"", repr=False)
    """Digests of units of this shard that came in an earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """What a worker tells about one shard."""

    tally: Tally
    units: bytes = field(repr=False)
    """Digests of the units that the shard names."""
    size: int


class _Worker:
    """The checks of this process, compiled once."""

    validator: StepValidator


def validate_file(
    step: StepConfig,
    source: Path,
    outputs: Outputs,
    *,
    workers: int,
    limits: ParseLimits = DEFAULT_LIMITS,
    context: Path | None = None,
    options: ValidationOptions = DEFAULT_OPTIONS,
    smallest_shard: int = WORTH_SHARING_BYTES // SHARDS_PER_WORKER,
) -> Summary:
    """Check a file that is not compressed with several processes.

    The outputs are those of `validate_lines`, byte for byte, unless the deadline passes. Raises
    `ConfigurationError` when every outcome is to be told: only one process can do that in order.
    """
    if options.on_outcome is not None or options.earlier is not None:
        msg = "several workers cannot tell of every outcome, nor ask for each unit; use one"
        raise ConfigurationError(msg)
    validator = StepValidator(step, limits=limits)
    deadline = options.deadline()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        join = _join(context, folder, limits, stack)
        shards = split_ranges(source, count=workers * SHARDS_PER_WORKER, smallest=smallest_shard)
        count = min(workers, max(1, len(shards)))
        pool = stack.enter_context(process_pool(count, _start, step, limits))
        counts = pool.map(count_lines, [source] * len(shards), shards)
        told_nobody = replace(options, on_progress=say_nothing)
        jobs: list[_Job] = []
        first_line = 1
        for number, (shard, lines) in enumerate(zip(shards, counts, strict=True)):
            jobs.append(
                _Job(
                    source=source,
                    shard=shard,
                    first_line=first_line,
                    parts=folder / str(number),
                    kinds=_kinds(outputs),
                    context=None if join is None else join.path,
                    deadline=deadline,
                    options=told_nobody,
                )
            )
            first_line += lines
        last = UnitChecker(validator, outputs)
        _gather(pool, jobs, outputs, last, options)
        if join is not None:
            last.report_missing(join.unanswered(last.answered))
        asked = None if join is None else join.asked_count
        return logged_summary(last.tally, validator, asked=asked)


def _gather(
    pool: ProcessPoolExecutor,
    jobs: Sequence[_Job],
    outputs: Outputs,
    whole: UnitChecker,
    options: ValidationOptions,
) -> None:
    """Append the parts in order; a shard that repeats units of earlier ones is done again."""
    add = whole.answered.add
    for job, pending in [(job, pool.submit(_check, job)) for job in jobs]:
        finding = pending.result()
        earlier = b"".join(digest for digest in _digests(finding.units) if not add(digest))
        if earlier:
            finding = pool.submit(_check, replace(job, earlier=earlier)).result()
        whole.tally.add(finding.tally)
        for kind in job.kinds:
            _append(job, kind, getattr(outputs, kind))
        options.on_progress(finding.size, finding.tally.lines)


def _join(
    context: Path | None, folder: Path, limits: ParseLimits, stack: ExitStack
) -> ContextJoin | None:
    if context is None:
        return None
    join = ContextJoin(plain_copy(context, folder), folder, limits)
    stack.callback(join.close)
    join.use_index()
    return join


def _kinds(outputs: Outputs) -> tuple[str, ...]:
    names = (output.name for output in fields(outputs))
    return tuple(name for name in names if getattr(outputs, name) is not None)


def _append(job: _Job, kind: str, output: BinaryIO) -> None:
    part = _part(job, kind)
    with part.open("rb") as stream:
        shutil.copyfileobj(stream, output, _COPIED_AT_ONCE)
    part.unlink()


def _part(job: _Job, kind: str) -> Path:
    return job.parts.with_name(f"{job.parts.name}.{kind}")


def _digests(joined: bytes) -> list[bytes]:
    return [joined[at : at + DIGEST_BYTES] for at in range(0, len(joined), DIGEST_BYTES)]


def _start(step: StepConfig, limits: ParseLimits) -> None:
    """Prepare a worker."""
    _Worker.validator = StepValidator(step, limits=limits)


def _check(job: _Job) -> _Finding:
    """Check one shard in a worker."""
    validator = _Worker.validator
    with ExitStack() as stack:
        source = stack.enter_context(job.source.open("rb"))
        source.seek(job.shard.start)
        join = None
        if job.context is not None:
            join = ContextJoin(job.context, job.parts.parent, validator.limits)
            stack.callback(join.close)
            join.use_index()
        parts = {kind: stack.enter_context(_part(job, kind).open("wb")) for kind in job.kinds}
        checker = UnitChecker(
            validator,
            Outputs(**parts),
            join=join,
            answered=UnitIds(_digests(job.earlier)),
            deadline=job.deadline,
            options=job.options,
        )
        lines = read_lines(
            source, longest=job.options.longest_line, first=job.first_line, size=job.shard.size
        )
        for block in readable(blocks(lines)):
            checker.check(block)
        return _Finding(tally=checker.tally, units=b"".join(checker.answered), size=job.shard.size)
