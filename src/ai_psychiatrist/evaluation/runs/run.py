"""Assess every unit of a dataset, so that a run can be stopped anywhere and gone on with."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.pricing.prices import GivenPrice
from ai_psychiatrist.evaluation.pricing.spending import CallPrices, CostLimit
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.runs.unit import UnitTools, made_unit
from ai_psychiatrist.evaluation.runs.unit_calls import UnitCalls, open_unit
from ai_psychiatrist.evaluation.runs.unit_records import FinishedUnit, record_unit
from ai_psychiatrist.infrastructure.tasks import work_together
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

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
    if tools.purse is not None:
        # Before anything is waited for: others are to see that it is under way.
        tools.purse.begin(unit_id)
    try:
        return await _done(tools, writer, tally, unit_id)
    finally:
        if tools.purse is not None:
            tools.purse.end(unit_id)


async def _done(
    tools: RunTools, writer: RunWriter, tally: RunTally, unit_id: str
) -> FinishedUnit | None:
    calls = await asyncio.to_thread(tools.opened, tools.ledger, unit_id, writer)
    unit = await made_unit(tools, calls)
    if calls.pending and tools.on_pending is not None:
        await tools.on_pending()
    if unit is None or (unit.stage is not None and _is_out_of_money(tools.purse)):
        tally.paid_calls += calls.paid
        return None
    await writer.write(partial(record_unit, tools.ledger, unit))
    tally.finished += 1
    tally.failed += unit.stage is not None
    tally.paid_calls += calls.paid
    return unit


def _is_out_of_money(purse: CostLimit | None) -> bool:
    """Return whether calls wait for money: a unit whose time runs out meanwhile did not fail."""
    return purse is not None and purse.is_holding
