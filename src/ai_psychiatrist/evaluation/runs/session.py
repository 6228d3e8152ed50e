"""Work on a run until it ends, however it does: units assessed, result files written."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from ai_psychiatrist.evaluation.pricing.spending import CallPrices
from ai_psychiatrist.evaluation.reading_list import ReadingList
from ai_psychiatrist.evaluation.runs.cost_file import RunCost, read_cost, write_cost
from ai_psychiatrist.evaluation.runs.results import (
    CarriedFailures,
    carried_failures,
    readings,
    write_results,
)
from ai_psychiatrist.evaluation.runs.run import (
    EvaluationOptions,
    OnUnit,
    RunTally,
    RunTools,
    assess_units,
)
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, read_json_file, write_json
from ai_psychiatrist.evaluation.runs.served_models import ServedModels
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.runs.units_file import read_units
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.store.run_records import StepCounts
from ai_psychiatrist.store.runs import RunStore

logger = get_logger(__name__)

Assess: TypeAlias = Callable[[RunTools, EvaluationOptions, RunTally, OnUnit], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands."""

    paid_calls: int
    """Model calls that were made in this session."""
    counts: StepCounts
    """Of the units as wholes."""
    carried: CarriedFailures
    """Of the complete units."""
    unbalanced_steps: tuple[str, ...]
    """Steps of which a unit is in no place, or in two; empty unless something is broken."""
    unreadable: int
    """Units of the run that have no transcript that can be read."""
    not_read: Mapping[str, int]
    """What of the dataset is no unit although it may be an interview: code → count."""
    readings: ReadingList
    """Which interviews a person has to read for danger."""
    cost: RunCost | None = None
    """What was planned of the run and used, all sessions together."""
    has_reached_ceiling: bool = False
    """Whether units are left because the next could have cost more than may be spent."""
    notes: tuple[str, ...] = ()
    """What servers say of the models that answered, where it changed."""
    is_served_otherwise: bool = False
    """Whether that is why units are left."""
    waiting_calls: int = 0
    """Of batches whose results have not come."""
    queued_units: int = 0
    """Units in the queue of the database that no process is at."""
    running_units: int = 0
    """Units that a process is at, of a run in the database."""


async def run_session(
    tools: RunTools,
    folder: RunFolder,
    options: EvaluationOptions,
    *,
    tally: RunTally,
    on_unit: OnUnit,
    assess: Assess = assess_units,
) -> RunState:
    """Assess what is still to be done and write the result files, which a stop leaves as well.

    `tally`: of this session, and of those of other runs that the bound on failures is for as well.
    `assess`: does the units that are left.
    """
    started_at, started = datetime.now(UTC), time.perf_counter()
    before = replace(tally)
    try:
        await assess(tools, options, tally, on_unit)
    finally:
        ceiling = None if tools.purse is None else tools.purse.ceiling
        write_files(folder, tools.ledger, tools.prices, ceiling=ceiling)
        now = {
            "started_at": started_at.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - started, 3),
            "units": tally.finished - before.finished,
            "model_calls": tally.paid_calls - before.paid_calls,
        }
        _add_session(folder.timings, now)
    state = run_state(tools, folder, paid_calls=tally.paid_calls - before.paid_calls)
    logger.info(
        "run_finished",
        count=state.counts.requested,
        failures=state.counts.failed,
        model_calls=state.paid_calls,
        duration_ms=round((time.perf_counter() - started) * 1000, 3),
    )
    return state


def write_files(
    folder: RunFolder, ledger: RunStore, prices: CallPrices | None, *, ceiling: Decimal | None
) -> None:
    """Write what the run has so far: results, and where prices are known its account."""
    write_results(folder, ledger)
    if prices is not None:
        write_cost(folder, ledger, prices, ceiling=ceiling)


def run_state(tools: RunTools, folder: RunFolder, *, paid_calls: int) -> RunState:
    """Return where a run stands; `paid_calls`: those that this session made."""
    return replace(
        state_of(folder, tools.ledger, tools.served),
        paid_calls=paid_calls,
        has_reached_ceiling=tools.purse is not None and tools.purse.has_refused,
        not_read=tools.dataset.not_read,
    )


def state_of(folder: RunFolder, ledger: RunStore, served: ServedModels | None = None) -> RunState:
    """Return where a run stands, as its store and its folder tell it.

    `served`: tells which models answered.
    """
    by_step = ledger.counts_by_step()
    dataset = folder.require_run().get("dataset")
    not_read = dataset.get("not_read") if isinstance(dataset, dict) else None
    return RunState(
        paid_calls=0,
        counts=by_step[ASSESSMENT_STEP],
        cost=read_cost(folder),
        carried=carried_failures(ledger),
        readings=readings(ledger),
        notes=() if served is None else tuple(served.notes),
        is_served_otherwise=served is not None and bool(served.changed),
        unbalanced_steps=tuple(step for step, one in by_step.items() if not one.balances),
        unreadable=sum(one.text_digest is None for one in read_units(folder.units).values()),
        not_read=not_read if isinstance(not_read, dict) else {},
    )


def _add_session(path: Path, session: Mapping[str, object]) -> None:
    sessions = (read_json_file(path, missing="") if path.exists() else {}).get("sessions")
    write_json(path, {"sessions": [*(sessions if isinstance(sessions, list) else []), session]})
