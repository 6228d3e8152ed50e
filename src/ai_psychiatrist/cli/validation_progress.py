"""A progress bar over the bytes of a file on a terminal, and nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def line_progress(size: int | None, *, is_shown: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield what is told of every block of lines: its bytes and their number.

    `size`: bytes in all, `None` when that is not known. Whatever `is_shown`, nothing is written
    unless standard error is a terminal.
    """
    console = Console(stderr=True)
    progress = Progress(
        TextColumn("validating"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[units]:,} lines, {task.fields[rate]:,.0f}/s", markup=False),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (is_shown and console.is_terminal),
    )
    with progress:
        task = progress.add_task("validating", total=size, units=0, rate=0.0)
        lines = 0

        def on_progress(taken: int, count: int) -> None:
            nonlocal lines
            lines += count
            spent = progress.tasks[0].elapsed or 0.0
            rate = lines / spent if spent else 0.0
            progress.update(task, advance=taken, units=lines, rate=rate)

        yield on_progress
