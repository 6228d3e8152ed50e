"""What a run has used so far, and its ceiling in money: past it no call is made.

No unit is begun that could pass the ceiling. What was used is that of all sessions together,
whatever became of units.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Final

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.evaluation.pricing.plan import RunPlan
from ai_psychiatrist.evaluation.pricing.prices import (
    CallTokens,
    PriceList,
    possible_tokens,
    summed,
    total_of,
    usd_number,
)
from ai_psychiatrist.llm.calls import CallStore, Judgement
from ai_psychiatrist.store.run_records import CallUsage

_LEAST_ERROR_STATUS: Final = 400
_CANCEL_AGAIN_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedCalls:
    """What one agent's calls to one model used."""

    agent: str
    model: str
    calls: int
    refused: int
    """Answered with an error, or never made by a batch, and free."""
    uncounted: int
    """Of which the backend did not tell the tokens in and out; priced as they were planned."""
    tokens: CallTokens
    usd: Decimal | None
    """`None` where no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPrices:
    """The prices of calls, those without a count by what was planned of them."""

    prices: PriceList
    plan: RunPlan

    def of_call(self, call: ModelCall) -> Decimal | None:
        """Return the price of one call that was made live, `None` where none is known."""
        if call.http_status is not None and call.http_status >= _LEAST_ERROR_STATUS:
            return Decimal(0)
        if call.input_tokens is None or call.output_tokens is None:
            return self._planned(call.agent, call.model)
        tokens = possible_tokens(
            sent=call.input_tokens,
            written=call.output_tokens,
            cache_read=call.cache_read_tokens or 0,
            cache_write=call.cache_write_tokens or 0,
        )
        return self.prices.usd(call.model, tokens)

    def of_usage(self, one: CallUsage) -> Decimal | None:
        """Return the price of calls of about one length, `None` where none is known."""
        is_batch, tokens = bool(one.is_batch), _tokens([one])
        usd = self.prices.usd_of_calls(one.model, tokens, one.counted, is_batch=is_batch)
        uncounted = _uncounted(one)
        if not uncounted or usd is None:
            return usd
        mean = self._planned(one.agent, one.model, is_batch=is_batch)
        return None if mean is None else usd + mean * uncounted

    def _planned(self, agent: str, model: str, *, is_batch: bool = False) -> Decimal | None:
        """Return the mean price of an agent's calls as planned; of others, that of all calls."""
        rows = [one for one in self.plan.by_agent if one.agent == agent] or self.plan.by_agent
        calls, tokens = sum(one.calls for one in rows), summed(one.tokens for one in rows)
        uncached = CallTokens(input=tokens.input, output=tokens.output)
        usd = self.prices.usd_of_calls(model, uncached, calls, is_batch=is_batch)
        return usd if usd is None or not calls else usd / Decimal(str(calls))


def used_calls(usage: Iterable[CallUsage], prices: CallPrices) -> list[UsedCalls]:
    """Return what each agent's calls to each model used, in the order of their names."""
    rows: dict[tuple[str, str], list[CallUsage]] = defaultdict(list)
    for one in usage:
        rows[one.agent, one.model].append(one)
    return [
        UsedCalls(
            agent=agent,
            model=model,
            calls=sum(one.calls for one in ones),
            refused=sum(one.refused for one in ones),
            uncounted=sum(map(_uncounted, ones)),
            tokens=_tokens(ones),
            usd=total_of(map(prices.of_usage, ones)),
        )
        for (agent, model), ones in sorted(rows.items())
    ]


def _uncounted(one: CallUsage) -> int:
    return max(one.calls - one.counted - one.refused, 0)


def _tokens(rows: list[CallUsage]) -> CallTokens:
    return possible_tokens(
        sent=sum(one.input for one in rows),
        written=sum(one.output for one in rows),
        cache_read=sum(one.cache_read for one in rows),
        cache_write=sum(one.cache_write for one in rows),
    )


def total_usd(used: Iterable[UsedCalls]) -> Decimal | None:
    """Return the price of all calls, `None` where a model has none."""
    return total_of(one.usd for one in used)


def used_as_json(used: list[UsedCalls]) -> dict[str, object]:
    """Return calls, tokens and money in USD, `null` where no price is known."""
    tokens = summed(one.tokens for one in used)
    return {
        "calls": sum(one.calls for one in used),
        "calls_refused": sum(one.refused for one in used),
        "calls_without_tokens": sum(one.uncounted for one in used),
        "tokens": asdict(tokens),
        "cache_share": round(tokens.cache_share, 4),
        "usd": usd_number(total_usd(used)),
        "by_agent": [
            {
                "agent": one.agent,
                "model": one.model,
                "calls": one.calls,
                "calls_refused": one.refused,
                "calls_without_tokens": one.uncounted,
                "tokens": asdict(one.tokens),
                "usd": usd_number(one.usd),
            }
            for one in used
        ],
    }


@dataclass(slots=True, kw_only=True)
class CostLimit:
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

    @contextmanager
    def under_way(self, unit_id: str) -> Iterator[None]:
        """Count a unit as under way, and learn at its end what it cost."""
        self._spent_by[unit_id] = Decimal(0)
        try:
            yield
        finally:
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
    """The calls of one unit, counted against a limit."""

    unit_id: str
    calls: CallStore
    limit: CostLimit

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before: it costs nothing."""
        return await self.calls.recall(digest, occurrence)

    def admitted(self) -> AbstractAsyncContextManager[None]:
        """Let a call be made while there is money."""
        return self.limit.admitted()

    async def keep(self, call: ModelCall) -> None:
        """Keep a call, and count what it cost."""
        self.limit.charge(self.unit_id, call)
        await self.calls.keep(call)

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        self.calls.judged(judgement)
