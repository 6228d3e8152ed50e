"""The calls of one attempt at a unit: replayed, answered from a batch, or waiting for one."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Final, NoReturn, TypeVar

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.evaluation.runs.unit_calls import UnitCalls
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.off_loop import outside_work
from ai_psychiatrist.infrastructure.runtime import OutsideWork, current_runtime, use_runtime
from ai_psychiatrist.ledger.store.batch_book import BatchRequestRow, HandedIn
from ai_psychiatrist.llm.batches import DESK, BatchAnswer, CallState, EncodedCall, WaitingCall

T = TypeVar("T")
Place = tuple[str, int]
"""Digest and occurrence of a call."""

_ID_DIGITS: Final = 40
_QUIET_TURNS: Final = 100
"""Turns of the event loop after which tasks that could go on by themselves would have. To be wrong
costs nothing but time: a call that is not collected now is collected in the next wave."""
_LOOK_SECONDS: Final = 0.005
_ASKED: Final[ContextVar[Place]] = ContextVar("asked")


@dataclass(slots=True, kw_only=True)
class UnitDesk(UnitCalls):
    """The store of one attempt at a unit, at which its calls wait."""

    handed_in: Sequence[HandedIn]
    """Of this attempt, in the order of handing in."""
    tries: int
    """How often a call is handed in that batches leave unanswered."""
    take: Callable[[EncodedCall, BatchRequestRow], None]
    """Takes a call for the next batch."""
    waiting: int = 0
    """Calls that wait now."""
    _moves: int = 0
    _outside: OutsideWork = field(default_factory=OutsideWork)
    _by_place: Mapping[Place, Sequence[HandedIn]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort what was handed in by the calls that it is of."""
        by_place: defaultdict[Place, list[HandedIn]] = defaultdict(list)
        for one in self.handed_in:
            by_place[one.digest, one.occurrence].append(one)
        self._by_place = by_place

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before."""
        self._moves += 1
        # What is sent next in this task is the call that was looked for here.
        _ASKED.set((digest, occurrence))
        return self.known.get((digest, occurrence))

    async def keep(self, call: ModelCall) -> None:
        """Put the call on disk."""
        with outside_work():
            await UnitCalls.keep(self, call)
        self._moves += 1

    def asked(self) -> WaitingCall:
        """Return where the call is that this task looked for last."""
        place = _ASKED.get()
        before = self._by_place.get(place, ())
        for one in before:
            if one.result is not None and one.result.body is not None:
                answer = BatchAnswer(
                    custom_id=one.custom_id, status=one.result.status, body=one.result.body
                )
                return WaitingCall(custom_id=one.custom_id, state=CallState.ANSWERED, answer=answer)
        if any(one.is_waited_for for one in before):
            return WaitingCall(custom_id=before[-1].custom_id, state=CallState.HANDED_IN)
        state = CallState.NEW
        if sum(one.counts for one in before) >= self.tries:
            state = CallState.GIVEN_UP
        return WaitingCall(custom_id=self._custom_id(place, len(before)), state=state)

    def collect(self, call: EncodedCall) -> None:
        """Take a call for the next batch."""
        digest, occurrence = _ASKED.get()
        place = BatchRequestRow(
            custom_id=call.custom_id,
            unit_id=self.unit_id,
            attempt=self.attempt,
            digest=digest,
            occurrence=occurrence,
        )
        self.take(call, place)

    async def wait(self) -> NoReturn:
        """Stay here until the unit is broken off."""
        self.waiting += 1
        self._moves += 1
        try:
            while True:
                await asyncio.get_running_loop().create_future()
        finally:
            self.waiting -= 1

    async def until_it_waits(self, work: Coroutine[None, None, T]) -> T | None:
        """Return what the work returns; `None` when all that is left of it waits for batches."""
        DESK.set(self)
        use_runtime(replace(current_runtime(), outside_work=self._outside))
        task = asyncio.create_task(work)
        try:
            while not task.done() and not await self._is_still(task):
                pass
        finally:
            if not task.done():
                task.cancel()
            await asyncio.wait([task])
        return None if task.cancelled() else task.result()

    async def _is_still(self, task: asyncio.Task[T]) -> bool:
        """Return whether nothing moves any more without a reply."""
        if not self.waiting or self._outside.under_way:
            await asyncio.wait([task], timeout=_LOOK_SECONDS)
            return False
        moves = self._moves
        for _ in range(_QUIET_TURNS):
            await asyncio.sleep(0)
            if task.done() or self._moves != moves or self._outside.under_way:
                return False
        return True

    def _custom_id(self, place: Place, number: int) -> str:
        """Return an id that tells a provider nothing, and that no other handing in has."""
        known = json.dumps([self.unit_id, self.attempt, *place])
        return f"{keyed_digest(known, length=_ID_DIGITS)}-{number}"
