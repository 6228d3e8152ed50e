"""A run over a dataset whose calls are answered by batches, round after round."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, OnUnit, RunTally, RunTools
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.session import RunState, run_session, run_state
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.runs.unit_calls import UnitCalls, open_unit
from ai_psychiatrist.llm.batch_rounds import BatchOptions
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore


async def run_in_rounds(
    tools: RunTools,
    folder: RunFolder,
    options: EvaluationOptions,
    *,
    batch: BatchOptions,
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
