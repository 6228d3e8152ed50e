"""Progress bars on a terminal, and nothing elsewhere."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import pairwise

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ai_psychiatrist.assessment.parts import OnFinished, Part
from ai_psychiatrist.store.run_records import StepCounts


@contextmanager
def step_progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what is told of each step: how many are done, and of how many."""
    with _bars(*Progress.get_default_columns(), stays=False) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def part_progress() -> Iterator[OnFinished]:
    """Yield what the pipeline tells of each finished part."""
    columns = SpinnerColumn(), _words("{task.description}"), _bar(), TimeElapsedColumn()
    with _bars(*columns, stays=False) as progress:
        task = progress.add_task("assessing", total=len(Part) - 1)

        def on_finished(part: Part) -> None:
            progress.update(task, advance=1, description=f"{part.value.replace('_', ' ')} done")

        yield on_finished


@contextmanager
def unit_progress(what: str, requested: int, done: int) -> Iterator[Callable[[str | None], None]]:
    """Yield what the run tells of each unit: the stage at which it failed, `None` when it did not.

    `done`: how many units were before.
    """
    columns = (
        _words(what),
        _bar(),
        MofNCompleteColumn(),
        _words("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        _words("{task.fields[failures]}"),
    )
    failures: Counter[str] = Counter()
    with _bars(*columns) as progress:
        task = progress.add_task("units", total=requested, completed=done, rate="", failures="")

        def on_unit(stage: str | None) -> None:
            if stage is not None:
                failures[stage] += 1
            speed = progress.tasks[task].speed
            progress.update(
                task,
                advance=1,
                rate="" if speed is None else f"{speed:.2f}/s",
                failures=_stages(failures),
            )

        yield on_unit


@contextmanager
def phase_progress(
    counts: Mapping[str, StepCounts],
) -> Iterator[Callable[[str, str | None], None]]:
    """Yield what is called when a unit has ended at a step: the step, and the stage if it failed.

    `counts`: by step in order, where the units were before. Each step has a bar of its own; a unit
    that is valid at one is asked for at the next.
    """
    columns = (
        _words("{task.description}"),
        _bar(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        _words("{task.fields[failures]}"),
    )
    failures = {step: Counter(one.by_stage) for step, one in counts.items()}
    with _bars(*columns) as progress:
        tasks = {
            step: progress.add_task(
                step,
                total=one.requested,
                completed=one.valid + one.failed,
                failures=_stages(failures[step]),
            )
            for step, one in counts.items()
        }
        following = dict(pairwise(counts))

        def on_step(step: str, stage: str | None) -> None:
            after = following.get(step)
            if stage is not None:
                failures[step][stage] += 1
            elif after is not None:
                asked = progress.tasks[tasks[after]].total or 0
                progress.update(tasks[after], total=asked + 1)
            progress.update(tasks[step], advance=1, failures=_stages(failures[step]))

        yield on_step


@contextmanager
def line_progress(size: int | None, *, is_shown: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield what is told of every block of lines: its bytes and their number.

    `size`: bytes in all, `None` when that is not known. Whatever `is_shown`, nothing is written
    unless standard error is a terminal.
    """
    speed = _words("{task.fields[units]:,} lines, {task.fields[rate]:,.0f}/s")
    columns = _words("validating"), _bar(), speed, TimeRemainingColumn()
    with _bars(*columns, stays=False, is_shown=is_shown) as progress:
        task = progress.add_task("validating", total=size, units=0, rate=0.0)
        lines = 0

        def on_progress(taken: int, count: int) -> None:
            nonlocal lines
            lines += count
            spent = progress.tasks[0].elapsed or 0.0
            rate = lines / spent if spent else 0.0
            progress.update(task, advance=taken, units=lines, rate=rate)

        yield on_progress


@contextmanager
def index_progress(units: int) -> Iterator[tuple[Callable[[], None], Callable[[int], None]]]:
    """Yield what is told of each interview that is read, and of chunks that are indexed."""
    columns = _words("{task.description}"), _bar(), MofNCompleteColumn(), TimeElapsedColumn()
    with _bars(*columns) as progress:
        reading = progress.add_task("interviews", total=units)
        indexing = progress.add_task("chunks", total=None)
        yield partial(progress.advance, reading), partial(progress.advance, indexing)


def _bars(*columns: str | ProgressColumn, stays: bool = True, is_shown: bool = True) -> Progress:
    """`stays`: whether the last sight of them is left on the terminal."""
    console = Console(stderr=True)
    is_disabled = not (is_shown and console.is_terminal)
    return Progress(*columns, console=console, transient=not stays, disable=is_disabled)


def _stages(failures: Counter[str]) -> str:
    return " ".join(f"{stage}:{count}" for stage, count in failures.items())


def _bar() -> BarColumn:
    return BarColumn(bar_width=24)


def _words(text: str) -> TextColumn:
    return TextColumn(text, markup=False)
