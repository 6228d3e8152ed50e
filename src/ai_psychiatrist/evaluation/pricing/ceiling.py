"""A ceiling in money: no unit is begun that could pass it, and past it no call is made."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.evaluation.pricing.used import CallPrices
from ai_psychiatrist.llm.calls import CallStore, Judgement

_CANCEL_AGAIN_SECONDS: Final = 5.0


@dataclass(slots=True, kw_only=True)
class Purse:
    """What a run may spend, and has spent; used in one event loop."""

    ceiling: Decimal
    """USD, all sessions of the run together."""
    spent: Decimal
    prices: CallPrices
    unit_usd: Decimal
    """What a unit is expected to cost; a dearer one raises it."""
    has_refused: bool = False
    """Whether a unit was not begun, or a call not made, for the ceiling."""
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the ceiling is reached and no call is under way any more."""
    calls_in_flight: int = 0
    """Until what came of them is kept."""
    _spent_by: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))

    def begin(self, unit_id: str) -> None:
        """Count a unit as under way."""
        self._spent_by[unit_id] = Decimal(0)

    def end(self, unit_id: str) -> None:
        """Count a unit as done, and learn what it cost."""
        self.unit_usd = max(self.unit_usd, self._spent_by.pop(unit_id))
        self.settle()

    def has_room(self) -> bool:
        """Return whether another unit can begin, if all under way cost what they may."""
        open_usd = sum(
            (max(self.unit_usd - spent, Decimal(0)) for spent in self._spent_by.values()),
            Decimal(0),
        )
        has_room = self.spent + open_usd + self.unit_usd <= self.ceiling
        self.has_refused |= not has_room
        return has_room

    @asynccontextmanager
    async def admitted(self) -> AsyncIterator[None]:
        """Let a call be made; past the ceiling this waits until the run is cancelled."""
        if self.spent >= self.ceiling:
            self.has_refused = True
            self.settle()
            await asyncio.Event().wait()
        self.calls_in_flight += 1
        try:
            yield
        finally:
            # However it ends: one that was broken off is under way no longer, either.
            self.calls_in_flight -= 1
            self.settle()

    def charge(self, unit_id: str, call: ModelCall) -> None:
        """Count what a call cost that has ended."""
        usd = self.prices.of_call(call) or Decimal(0)
        self._spent_by[unit_id] += usd
        self.spent += usd

    @property
    def is_holding(self) -> bool:
        """Whether the ceiling is reached, and something is still to be done."""
        return self.has_refused and self.spent >= self.ceiling

    def settle(self) -> None:
        """Stop the run where the ceiling is reached and nothing is under way."""
        if self.is_holding and not self.calls_in_flight:
            self.stopped.set()

    async def until_stopped(self, working: Coroutine[None, None, None]) -> None:
        """Work until all is done or no more may be spent; what is under way is still to be done."""
        work, stop = asyncio.create_task(working), asyncio.create_task(self.stopped.wait())
        try:
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
        finally:
            stop.cancel()
            # More than once: a library below may take one for its own, and wait for ever.
            while not work.done():
                work.cancel()
                await asyncio.wait({work}, timeout=_CANCEL_AGAIN_SECONDS)


@dataclass(frozen=True, slots=True)
class PaidCalls:
    """The calls of one unit, paid from a purse."""

    unit_id: str
    calls: CallStore
    purse: Purse

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before: it costs nothing."""
        return await self.calls.recall(digest, occurrence)

    def admitted(self) -> AbstractAsyncContextManager[None]:
        """Let a call be made while there is money."""
        return self.purse.admitted()

    async def keep(self, call: ModelCall) -> None:
        """Keep a call, and count what it cost."""
        self.purse.charge(self.unit_id, call)
        await self.calls.keep(call)

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        self.calls.judged(judgement)
