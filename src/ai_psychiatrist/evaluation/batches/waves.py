"""A run in waves: all units as far as they come, one handing in, and on with the replies."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.batches.attendance import BatchAttendance
from ai_psychiatrist.evaluation.batches.collecting import Collecting
from ai_psychiatrist.evaluation.batches.collector import Collector
from ai_psychiatrist.evaluation.batches.handing_in import HandingIn, Tell
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, OnUnit, RunTally, RunTools
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.session import RunState, run_session, run_state
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.runs.start import BY_BATCHES
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.llm.batches import BatchModels
from ai_psychiatrist.llm.settings import BatchSettings
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.errors import LedgerUnusable

_LONGER: Final = 1.5
"""How much longer each wait is than the one before it."""
_MOST_WAIT_SECONDS: Final = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWishes:
    """How calls are handed in, and whether the command waits for them."""

    models: BatchModels
    settings: BatchSettings
    tell: Tell
    waits: bool = False
    hands_in_again: bool = False


@dataclass(frozen=True, kw_only=True)
class Waves:
    """One run that is made in waves."""

    tools: RunTools
    folder: RunFolder
    options: EvaluationOptions
    wishes: BatchWishes
    tally: RunTally
    watch: Callable[[], AbstractContextManager[OnUnit]]
    """Shows what becomes of units during a wave."""

    async def run(self) -> RunState:
        """Go on until all units are done, or wait for batches that are not ready.

        Raises `InputError` for a run that keeps no replies.
        """
        ledger, wishes = self.tools.ledger, self.wishes
        if not ledger.keeps_raw:
            msg = "--batch needs the replies that it collects: leave out --no-raw"
            raise InputError(msg, field="--no-raw")
        handing_in = HandingIn(ledger=ledger, models=wishes.models, tell=wishes.tell)
        collecting = Collecting(
            ledger=ledger,
            models=wishes.models,
            tell=wishes.tell,
            hands_in_again=wishes.hands_in_again,
        )
        before, seconds = self.tally.paid_calls, wishes.settings.poll_seconds
        while True:
            await collecting.look()
            if await self._can_go_on(collecting.units):
                await self._wave(handing_in, collecting.units)
                collecting.units.clear()
                seconds = wishes.settings.poll_seconds
            waiting = await asyncio.to_thread(ledger.batches.waiting_calls)
            is_over = handing_in.is_refused or self.tools.is_served_otherwise
            if not waiting or not wishes.waits or is_over:
                break
            wishes.tell(f"{waiting} calls wait for their batch; looked at in {seconds:.0f} s")
            await asyncio.sleep(seconds)
            seconds = min(seconds * _LONGER, _MOST_WAIT_SECONDS)
        paid = self.tally.paid_calls - before
        return replace(run_state(self.tools, self.folder, paid_calls=paid), waiting_calls=waiting)

    async def _can_go_on(self, answered: set[str]) -> bool:
        """Return whether a unit has something to do other than to wait."""
        if answered:
            return True
        tools, ledger = self.tools, self.tools.ledger
        queued = await asyncio.to_thread(
            ledger.queue, ASSESSMENT_STEP, tools.limits, includes_failed=self.options.retries_failed
        )
        waiting = await asyncio.to_thread(ledger.batches.waiting_units)
        return any(unit.unit_id not in waiting for unit in queued)

    async def _wave(self, handing_in: HandingIn, answered: set[str]) -> None:
        tools, wishes = self.tools, self.wishes
        collector = Collector(wishes.models, wishes.settings)
        attendance = BatchAttendance(
            collector=collector,
            handing_in=handing_in,
            tries=wishes.settings.tries,
            waiting=await asyncio.to_thread(tools.ledger.batches.waiting_units),
            answered=set(answered),
        )
        # A call waits for hours: no deadline of an assessment is meant for that.
        attended = replace(tools, attendance=attendance, deadline_seconds=None)
        with self.watch() as on_unit:
            await run_session(
                attended, self.folder, self.options, tally=self.tally, on_unit=on_unit
            )
        if tools.is_served_otherwise:
            return
        for batch in collector.all():
            await handing_in.hand_in(batch)


def was_made_by_batches(folder: Path, cipher: Cipher | None) -> bool:
    """Return whether a folder holds a run, or runs, that were begun or gone on with by batches."""
    return any(
        _holds_batches(path, cipher)
        for path in (folder, *(run.path for run in RunFolder(folder).inside()))
    )


def _holds_batches(folder: Path, cipher: Cipher | None) -> bool:
    # A ledger of an earlier version, and one that is none, hold no batches.
    with (
        suppress(InputError, LedgerUnusable),
        Ledger.open(folder, cipher=cipher, is_read_only=True) as ledger,
    ):
        # A run may have been killed before its first batch.
        return BY_BATCHES in ledger.about or ledger.batches.has_any()
    return False
