"""A ceiling in money: no unit is begun that could pass it, and past it no call is made."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.evaluation.pricing.used import CallPrices
from ai_psychiatrist.llm.call_store import CallStore, Judgement


@dataclass(slots=True, kw_only=True)
class _Unit:
    spent: Decimal = Decimal(0)
    calls_in_flight: int = 0


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
    _units: dict[str, _Unit] = field(default_factory=lambda: defaultdict(_Unit))

    def begin(self, unit_id: str) -> None:
        """Count a unit as under way."""
        self._units[unit_id] = _Unit()

    def end(self, unit_id: str) -> None:
        """Count a unit as done, and learn what it cost."""
        unit = self._units.pop(unit_id)
        self.unit_usd = max(self.unit_usd, unit.spent)
        self.settle()

    def has_room(self) -> bool:
        """Return whether another unit can begin, if all under way cost what they may."""
        open_usd = sum(
            (max(self.unit_usd - unit.spent, Decimal(0)) for unit in self._units.values()),
            Decimal(0),
        )
        has_room = self.spent + open_usd + self.unit_usd <= self.ceiling
        self.has_refused |= not has_room
        return has_room

    async def admit(self, unit_id: str) -> None:
        """Let a call be made; past the ceiling this waits until the run is cancelled."""
        if self.spent < self.ceiling:
            self._units[unit_id].calls_in_flight += 1
            return
        self.has_refused = True
        self.settle()
        await asyncio.Event().wait()

    def charge(self, unit_id: str, call: ModelCall) -> None:
        """Count what a call cost that has ended."""
        unit, usd = self._units[unit_id], self.prices.of_call(call) or Decimal(0)
        unit.spent += usd
        unit.calls_in_flight -= 1
        self.spent += usd

    @property
    def is_holding(self) -> bool:
        """Whether the ceiling is reached, and something is still to be done."""
        return self.has_refused and self.spent >= self.ceiling

    def settle(self) -> None:
        """Stop the run where the ceiling is reached and nothing is under way."""
        is_calling = any(unit.calls_in_flight > 0 for unit in self._units.values())
        if self.is_holding and not is_calling:
            self.stopped.set()


@dataclass(frozen=True, slots=True)
class PaidCalls:
    """The calls of one unit, paid from a purse."""

    unit_id: str
    calls: CallStore
    purse: Purse

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before: it costs nothing."""
        return await self.calls.recall(digest, occurrence)

    async def admit(self) -> None:
        """Let a call be made while there is money."""
        await self.purse.admit(self.unit_id)

    async def keep(self, call: ModelCall) -> None:
        """Keep a call, and count what it cost."""
        self.purse.charge(self.unit_id, call)
        await self.calls.keep(call)
        self.purse.settle()

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        self.calls.judged(judgement)
