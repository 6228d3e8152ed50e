"""A progress bar on a terminal, and nothing elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ai_psychiatrist.assessment.part import OnFinished, Part


@contextmanager
def part_progress() -> Iterator[OnFinished]:
    """Yield what the pipeline tells of each finished part."""
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not Console(stderr=True).is_terminal,
    )
    with progress:
        task = progress.add_task("assessing", total=len(Part) - 1)

        def on_finished(part: Part) -> None:
            progress.update(task, advance=1, description=f"{part.value.replace('_', ' ')} done")

        yield on_finished
