"""Assess every unit of a dataset; a run can be stopped at any point and resumed."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.pricing.prices import GivenPrice
from ai_psychiatrist.evaluation.pricing.spending import CallPrices
from ai_psychiatrist.evaluation.reading_list import ReadingList
from ai_psychiatrist.evaluation.runs.cost_file import RunCost, read_cost, write_cost
from ai_psychiatrist.evaluation.runs.results import (
    RunFailures,
    readings,
    run_failures,
    write_results,
)
from ai_psychiatrist.evaluation.runs.run_folder import (
    RunFolder,
    part_of,
    read_json_file,
    write_json,
)
from ai_psychiatrist.evaluation.runs.served_models import ServedModels
from ai_psychiatrist.evaluation.runs.unit import (
    ASSESSMENT_STEP,
    FinishedUnit,
    UnitCalls,
    UnitTools,
    made_unit,
    open_unit,
    record_unit,
)
from ai_psychiatrist.evaluation.runs.units_file import read_units
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import work_together
from ai_psychiatrist.store.run_records import StepCounts
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import BatchOptions

logger = get_logger(__name__)

OnUnit = Callable[[str | None], None]
"""Told after each unit at which stage it failed, `None` for one that did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """How much is done at once, and when to stop."""

    concurrency: int = 8
    """Units assessed at the same time."""
    max_failures: int | None = None
    """No unit is begun once more than so many have failed."""
    retries_failed: bool = False
    """Whether failed units whose attempts are not used up are done anew."""
    max_cost_usd: Decimal | None = None
    """What all sessions of the run together may cost; `None`: whatever it costs."""
    prices: Mapping[str, GivenPrice] = field(default_factory=dict)
    """Prices that are given by hand, by model."""


@dataclass(frozen=True, kw_only=True)
class RunTools(UnitTools):
    """What a run works with."""

    dataset: Dataset
    ledger: RunStore
    limits: RetryLimits
    only: Collection[str] | None = None
    """Of the units that are left, those that are assessed now; `None`: all."""
    opened: Callable[[RunStore, str, RunWriter], UnitCalls] = open_unit
    """Gives the store for the next attempt at a unit; called in a thread."""
    on_pending: Callable[[], Awaitable[None]] | None = None
    """Called after each unit of which a call is pending; `None` where none can be."""
    prices: CallPrices | None = None
    """What calls cost, as the run's account tells it; without it the run leaves none."""

    @property
    def is_served_otherwise(self) -> bool:
        """Whether a server answers as another model than before, and that is not accepted."""
        return self.served is not None and bool(self.served.changed)


@dataclass(slots=True, kw_only=True)
class RunTally:
    """What was done so far."""

    finished: int = 0
    failed: int = 0
    paid_calls: int = 0
    """Model calls that were made; those found in the ledger are not among them."""

    def has_reached(self, max_failures: int | None) -> bool:
        """Return whether too many units have failed to begin another."""
        return max_failures is not None and self.failed > max_failures


async def assess_units(
    tools: RunTools, options: EvaluationOptions, tally: RunTally, on_unit: OnUnit
) -> None:
    """Assess the units that are still to be done.

    Cancelling stops the calls under way; what has finished is kept, and counted in `tally`. Errors
    of the ledger end the run.
    """
    queued = tools.ledger.queue(
        ASSESSMENT_STEP, tools.limits, includes_failed=options.retries_failed
    )
    writer = RunWriter(tools.ledger)
    units = deque(
        unit.unit_id for unit in queued if tools.only is None or unit.unit_id in tools.only
    )

    async def work() -> None:
        while units:
            if tally.has_reached(options.max_failures) or tools.is_served_otherwise:
                return
            if tools.purse is not None and not tools.purse.has_room():
                return
            finished = await _do(tools, writer, tally, units.popleft())
            if finished is not None:
                on_unit(finished.stage)

    try:
        working = work_together(min(options.concurrency, len(queued)), work)
        await (working if tools.purse is None else tools.purse.until_stopped(working))
    finally:
        await writer.aclose()


async def _do(
    tools: RunTools, writer: RunWriter, tally: RunTally, unit_id: str
) -> FinishedUnit | None:
    # At once: units that begin beside it are to see that it is under way.
    with nullcontext() if tools.purse is None else tools.purse.under_way(unit_id):
        calls = await asyncio.to_thread(tools.opened, tools.ledger, unit_id, writer)
        unit = await made_unit(tools, calls)
        tally.paid_calls += calls.paid
        if calls.pending and tools.on_pending is not None:
            await tools.on_pending()
        # A unit whose time runs out while its calls wait for money did not fail.
        is_out_of_money = tools.purse is not None and tools.purse.is_holding
        if unit is None or (unit.stage is not None and is_out_of_money):
            return None
        await writer.write(partial(record_unit, tools.ledger, unit))
    tally.finished += 1
    tally.failed += unit.stage is not None
    return unit


Assess: TypeAlias = Callable[[RunTools, EvaluationOptions, RunTally, OnUnit], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands."""

    paid_calls: int
    """Model calls that were made in this session."""
    counts: StepCounts
    """Of the units as wholes."""
    failures: RunFailures
    """What went wrong in units and calls."""
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
    counted = part_of(folder.require_run(), "dataset", "not_read").items()
    not_read = {code: count for code, count in counted if isinstance(count, int)}
    return RunState(
        paid_calls=0,
        counts=by_step[ASSESSMENT_STEP],
        cost=read_cost(folder),
        failures=run_failures(ledger),
        readings=readings(ledger),
        notes=() if served is None else tuple(served.notes),
        is_served_otherwise=served is not None and bool(served.changed),
        unbalanced_steps=tuple(step for step, one in by_step.items() if not one.balances),
        unreadable=sum(one.text_digest is None for one in read_units(folder.units).values()),
        not_read=not_read,
    )


def _add_session(path: Path, session: Mapping[str, object]) -> None:
    sessions = (read_json_file(path, missing="") if path.exists() else {}).get("sessions")
    write_json(path, {"sessions": [*(sessions if isinstance(sessions, list) else []), session]})


async def run_in_rounds(
    tools: RunTools,
    folder: RunFolder,
    options: EvaluationOptions,
    *,
    batch: "BatchOptions",
    tally: RunTally,
    watch: Callable[[], AbstractContextManager[OnUnit]],
) -> RunState:
    """Go on until all units are done, or wait for batches that are not ready.

    `watch`: shows what becomes of units during a round. Raises `InputError` for a run that keeps no
    replies.
    """
    ledger, before = tools.ledger, tally.paid_calls
    if not ledger.keeps_raw:
        msg = "--batch needs the replies that it collects: leave out --no-raw"
        raise InputError(msg, field="--no-raw")
    rounds = batch.rounds(ledger)

    def opened(ledger: RunStore, unit_id: str, writer: RunWriter) -> UnitCalls:
        calls = open_unit(ledger, unit_id, writer)
        calls.batches = rounds.of_unit(unit_id, calls.attempt)
        return calls

    def ready() -> frozenset[str]:
        queued = ledger.queue(ASSESSMENT_STEP, tools.limits, includes_failed=options.retries_failed)
        return frozenset(unit.unit_id for unit in queued) - ledger.batches.waiting_units()

    async def work() -> None:
        units = await asyncio.to_thread(ready)
        if not units:
            return
        # Of the hours until a reply comes no deadline of an assessment says anything.
        these = replace(
            tools,
            only=units,
            opened=opened,
            on_pending=rounds.submit_full,
            deadline_seconds=None,
        )
        with watch() as on_unit:
            await run_session(these, folder, options, tally=tally, on_unit=on_unit)
        rounds.is_closed |= tools.is_served_otherwise

    waiting = await rounds.run(work)
    state = run_state(tools, folder, paid_calls=tally.paid_calls - before)
    return replace(state, waiting_calls=waiting)
