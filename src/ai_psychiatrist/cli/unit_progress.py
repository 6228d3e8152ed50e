"""A progress bar for a run on a terminal: rate, time left and failures by code."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


@contextmanager
def unit_progress(
    what: str, *, requested: int, done: int
) -> Iterator[Callable[[str | None], None]]:
    """Yield what the run tells of each unit: the stage at which it failed, `None` when it did not.

    `done`: how many units were before.
    """
    console = Console(stderr=True)
    progress = Progress(
        TextColumn(what, markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failures]}", markup=False),
        console=console,
        disable=not console.is_terminal,
    )
    failures: Counter[str] = Counter()
    with progress:
        task = progress.add_task("units", total=requested, completed=done, rate="", failures="")

        def on_unit(stage: str | None) -> None:
            if stage is not None:
                failures[stage] += 1
            speed = progress.tasks[task].speed
            progress.update(
                task,
                advance=1,
                rate="" if speed is None else f"{speed:.2f}/s",
                failures=" ".join(f"{stage}:{count}" for stage, count in failures.items()),
            )

        yield on_unit
