"""Measure how many assessments a second one process makes, and what each costs in CPU."""

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.cpu_time import cpu_seconds_of

Work = Callable[[int], Awaitable[None]]
"""Makes the assessment with the given number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is measured, and whose CPU time counts."""

    work: Work
    cpu_seconds: Callable[[], float] = lambda: cpu_seconds_of(os.getpid())


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One run of one subject at one load."""

    assessments_per_second: float
    cpu_ms_per_assessment: float
    """User and system time of the process under test and of its workers."""
    wall_p50_seconds: float
    wall_p95_seconds: float


async def measure(subject: Subject, *, in_flight: int, total: int) -> Measurement:
    """Keep `in_flight` assessments going until `total` are made, after one warm-up round."""
    await _run_all(subject.work, iter(range(in_flight)), in_flight)
    cpu_start = subject.cpu_seconds()
    wall_start = time.perf_counter()
    walls = await _run_all(subject.work, iter(range(in_flight, in_flight + total)), in_flight)
    wall_seconds = time.perf_counter() - wall_start
    cpu_seconds = subject.cpu_seconds() - cpu_start
    return Measurement(
        assessments_per_second=total / wall_seconds,
        cpu_ms_per_assessment=1000 * cpu_seconds / total,
        wall_p50_seconds=statistics.median(walls),
        wall_p95_seconds=_percentile(walls, 0.95),
    )


async def _run_all(work: Work, numbers: Iterator[int], in_flight: int) -> list[float]:
    walls: list[float] = []

    async def keep_going() -> None:
        for number in numbers:
            start = time.perf_counter()
            await work(number)
            walls.append(time.perf_counter() - start)

    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(keep_going())
    return walls


def _percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
