"""A dataset assessed from Python: opened, selected, and run into its folder."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.datasets.options import LabelOptions
from ai_psychiatrist.evaluation.datasets.selection import Selection, selected
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, OnUnit, RunTally
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.start import StartOptions
from ai_psychiatrist.interface.dataset_run import DatasetRun, DatasetRunResult, make_run
from ai_psychiatrist.interface.given import GivenMode, wanted_mode
from ai_psychiatrist.wiring import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDataset:
    """Which units of which dataset are assessed, and how its labels are read."""

    path: Path
    split: str | None
    scores: LabelOptions


async def evaluated(
    services: Services,
    dataset: GivenDataset,
    folder: Path,
    *,
    mode: GivenMode,
    ablates: bool,
    start: StartOptions,
    options: EvaluationOptions,
    told: Callable[[int, int], None],
) -> DatasetRunResult:
    """Make the run, or go on with it; raises `ArtifactMismatch` where units are unaccounted for.

    `told`: after each unit, how many are done, and of how many.
    """
    opened = await asyncio.to_thread(
        open_dataset, dataset.path, labels=services.labels, scores=dataset.scores
    )
    run = DatasetRun(
        dataset=selected(opened, Selection(split=dataset.split)),
        folder=RunFolder(folder),
        start=start,
        options=options,
        mode=wanted_mode(mode),
        ablates=ablates,
    )
    state = await make_run(services, run, tally=RunTally(), watch=partial(_counting, told))
    if state.unbalanced_steps:
        msg = f"the account does not balance at {', '.join(state.unbalanced_steps)}"
        raise ArtifactMismatch(f"{msg}: keep the folder")
    account = state.counts
    return DatasetRunResult(
        folder=folder,
        requested=account.requested,
        valid=account.valid,
        failed=account.failed,
        pending=account.pending,
        failed_at=dict(account.by_stage),
        carrying_failures=state.carried.units,
        model_calls=state.paid_calls,
        unreadable=state.unreadable,
        not_read=dict(state.not_read),
    )


@contextmanager
def _counting(told: Callable[[int, int], None], requested: int, done: int) -> Iterator[OnUnit]:
    count = done

    def on_unit(_: object) -> None:
        nonlocal count
        count += 1
        told(count, requested)

    yield on_unit
