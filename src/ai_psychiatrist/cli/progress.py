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
    """Yield a callback for each step: how many are done, and of how many."""
    with _bars(*Progress.get_default_columns(), stays=False) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def part_progress() -> Iterator[OnFinished]:
    """Yield a callback for each part that the pipeline has finished."""
    columns = SpinnerColumn(), "{task.description}", BarColumn(bar_width=24), TimeElapsedColumn()
    with _bars(*columns, stays=False) as progress:
        task = progress.add_task("assessing", total=len(Part) - 1)
        yield lambda part: progress.update(
            task, advance=1, description=f"{part.value.replace('_', ' ')} done"
        )


@contextmanager
def unit_progress(what: str, requested: int, done: int) -> Iterator[Callable[[str | None], None]]:
    """Yield a callback for each unit: the stage at which it failed, `None` when it did not.

    `done`: how many units were before.
    """
    before = StepCounts(requested=requested, valid=done, failed=0, pending=requested - done)
    with phase_progress({what: before}) as on_step:
        yield partial(on_step, what)


@contextmanager
def phase_progress(
    counts: Mapping[str, StepCounts],
) -> Iterator[Callable[[str, str | None], None]]:
    """Yield what is called when a unit has ended at a step: the step, and the stage if it failed.

    `counts`: by step in order, where the units were before. Each step has a bar of its own; a unit
    that is valid at one is asked for at the next.
    """
    failures = {step: Counter(one.by_stage) for step, one in counts.items()}
    with _bars(
        "{task.description}",
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        "{task.fields[rate]}",
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        "{task.fields[failures]}",
    ) as progress:
        tasks = {
            step: progress.add_task(
                step,
                total=one.requested,
                completed=one.valid + one.failed,
                rate="",
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
                progress.update(tasks[after], total=(progress.tasks[tasks[after]].total or 0) + 1)
            speed = progress.tasks[tasks[step]].speed
            progress.update(
                tasks[step],
                advance=1,
                rate="" if speed is None else f"{speed:.2f}/s",
                failures=_stages(failures[step]),
            )

        yield on_step


@contextmanager
def line_progress(size: int | None, *, is_shown: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback for each block of lines: its bytes and their number.

    `size`: bytes in all, `None` when that is not known. Whatever `is_shown`, nothing is written
    unless standard error is a terminal.
    """
    speed = "{task.fields[units]:,} lines, {task.fields[rate]:,.0f}/s"
    columns = "validating", BarColumn(bar_width=24), speed, TimeRemainingColumn()
    with _bars(*columns, stays=False, is_shown=is_shown) as progress:
        task = progress.add_task("validating", total=size, units=0, rate=0.0)

        def on_progress(taken: int, count: int) -> None:
            seen = progress.tasks[task]
            lines = seen.fields["units"] + count
            progress.update(task, advance=taken, units=lines, rate=lines / (seen.elapsed or 1.0))

        yield on_progress


@contextmanager
def index_progress(units: int) -> Iterator[tuple[Callable[[], None], Callable[[int], None]]]:
    """Yield a callback for each interview that is read, and for chunks that are indexed."""
    columns = (
        "{task.description}",
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with _bars(*columns) as progress:
        reading = progress.add_task("interviews", total=units)
        indexing = progress.add_task("chunks", total=None)
        yield partial(progress.advance, reading), partial(progress.advance, indexing)


def _bars(*columns: str | ProgressColumn, stays: bool = True, is_shown: bool = True) -> Progress:
    """`stays`: whether the last sight of them is left on the terminal."""
    console = Console(stderr=True)
    is_disabled = not (is_shown and console.is_terminal)
    # No name of a run or a step is markup.
    plain = (TextColumn(one, markup=False) if isinstance(one, str) else one for one in columns)
    return Progress(*plain, console=console, transient=not stays, disable=is_disabled)


def _stages(failures: Counter[str]) -> str:
    return " ".join(f"{stage}:{count}" for stage, count in failures.items())
