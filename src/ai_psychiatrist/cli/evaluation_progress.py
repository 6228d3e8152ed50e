"""A progress bar for a run on a terminal: rate, time left and failures by code."""

from collections import Counter
from collections.abc import Iterator
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

from ai_psychiatrist.evaluation.runs.run import OnUnit
from ai_psychiatrist.evaluation.runs.unit_records import FinishedUnit
from ai_psychiatrist.ledger.store.records import Account


@contextmanager
def unit_progress(account: Account, name: str) -> Iterator[OnUnit]:
    """Yield what takes each finished unit; `account` says how many were done before."""
    console = Console(stderr=True)
    progress = Progress(
        TextColumn(f"assessing {name}", markup=False),
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
        done = account.valid + account.failed
        task = progress.add_task(
            "units", total=account.requested, completed=done, rate="", failures=""
        )

        def on_unit(unit: FinishedUnit) -> None:
            if unit.stage is not None:
                failures[unit.stage] += 1
            speed = progress.tasks[task].speed
            progress.update(
                task,
                advance=1,
                rate="" if speed is None else f"{speed:.2f}/s",
                failures=" ".join(f"{stage}:{count}" for stage, count in failures.items()),
            )

        yield on_unit
