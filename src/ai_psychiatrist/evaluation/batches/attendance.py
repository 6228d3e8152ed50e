"""Attends to units whose calls wait for batches."""

from collections.abc import Coroutine
from dataclasses import dataclass, field

from ai_psychiatrist.evaluation.batches.collector import Collector
from ai_psychiatrist.evaluation.batches.handing_in import HandingIn
from ai_psychiatrist.evaluation.batches.unit_desk import UnitDesk
from ai_psychiatrist.evaluation.runs.unit_calls import UnitCalls, open_unit
from ai_psychiatrist.evaluation.runs.unit_records import FinishedUnit
from ai_psychiatrist.ledger.ledger_writer import LedgerWriter
from ai_psychiatrist.ledger.store.ledger import Ledger


@dataclass(slots=True, kw_only=True)
class BatchAttendance:
    """Works on each unit until it waits, and hands in batches as they fill."""

    collector: Collector
    handing_in: HandingIn
    tries: int
    waiting: set[str] = field(default_factory=set)
    """Units that wait for a batch."""
    answered: set[str] = field(default_factory=set)
    """Units that something came in for."""

    def can_go_on(self, unit_id: str) -> bool:
        """Return whether anything came in that a unit has waited for, or it waits for nothing."""
        return unit_id in self.answered or unit_id not in self.waiting

    def opened(self, ledger: Ledger, unit_id: str, writer: LedgerWriter) -> UnitCalls:
        """Return the store for the next attempt at a unit."""
        calls = open_unit(ledger, unit_id, writer)
        return UnitDesk(
            unit_id=unit_id,
            attempt=calls.attempt,
            writer=writer,
            known=calls.known,
            handed_in=ledger.batches.of_unit(unit_id, calls.attempt),
            tries=self.tries,
            take=self.collector.take,
        )

    async def finished(
        self, calls: UnitCalls, work: Coroutine[None, None, FinishedUnit]
    ) -> FinishedUnit | None:
        """Work on a unit until it has finished; `None` when it waits, and is broken off."""
        if not isinstance(calls, UnitDesk):
            msg = "the unit was not opened here"
            raise TypeError(msg)
        finished = await calls.until_it_waits(work)
        for batch in self.collector.full():
            await self.handing_in.hand_in(batch)
        return finished
