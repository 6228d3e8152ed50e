"""A dataset assessed from Python: opened, selected, and run into its folder."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.selection import Selection, selected
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, OnUnit, RunTally
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.start import StartOptions
from ai_psychiatrist.interface.dataset_run import (
    DatasetRun,
    DatasetRunResult,
    make_run,
    run_result,
)
from ai_psychiatrist.wiring import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRun:
    """Which run over which dataset; the options are those of `ai-psychiatrist evaluate run`."""

    dataset: Path
    folder: Path
    is_resumed: bool
    retries_failed: bool
    limit: int | None
    split: str | None
    concurrency: int
    max_failures: int | None
    keeps_raw: bool


async def evaluated(
    services: Services, wanted: WantedRun, *, on_progress: Callable[[int, int], None]
) -> DatasetRunResult:
    """Make the run, or go on with it; raises `ArtifactMismatch` where units are unaccounted for."""
    folder = RunFolder(wanted.folder)
    opened = await asyncio.to_thread(open_dataset, wanted.dataset, labels=services.labels)
    run = DatasetRun(
        dataset=selected(opened, Selection(split=wanted.split)),
        folder=folder,
        start=StartOptions(
            limit=wanted.limit, is_resumed=wanted.is_resumed, keeps_raw=wanted.keeps_raw
        ),
        options=EvaluationOptions(
            concurrency=wanted.concurrency,
            max_failures=wanted.max_failures,
            retries_failed=wanted.retries_failed,
        ),
    )
    watch = partial(_counting, on_progress)
    state = await make_run(services, run, tally=RunTally(), watch=watch)
    if state.unbalanced_steps:
        msg = f"the account does not balance at {', '.join(state.unbalanced_steps)}"
        raise ArtifactMismatch(f"{msg}: keep the folder")
    return run_result(state, folder)


@contextmanager
def _counting(
    on_progress: Callable[[int, int], None], requested: int, done: int
) -> Iterator[OnUnit]:
    count = done

    def on_unit(_: object) -> None:
        nonlocal count
        count += 1
        on_progress(count, requested)

    yield on_unit
