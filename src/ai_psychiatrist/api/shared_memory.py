"""Slots and memory that requests share: a fair queue, of which one caller never takes all."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    part: int
    caller: str
    turn: asyncio.Future[None]


class SharedMemory:
    """So many slots, bytes or characters, held by requests in the order in which they ask.

    A caller who holds its share waits without keeping the others waiting.
    """

    def __init__(self, size: int, *, share: int | None = None) -> None:
        """`share`: how much of it one caller may hold; all of it without."""
        self._share = size if share is None else share
        self._has_shares = share is not None
        self._free = size
        self._held: Counter[str] = Counter()
        self._waiting: list[_Waiting] = []

    @asynccontextmanager
    async def hold(self, wanted: int, caller: str = "") -> AsyncIterator[None]:
        """Hold a part inside the block, and wait for it before; no more than the caller's share."""
        waiting = _Waiting(
            min(wanted, self._share), caller, asyncio.get_running_loop().create_future()
        )
        self._waiting.append(waiting)
        self._let_in()
        try:
            await waiting.turn
            yield
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            else:
                self._free += waiting.part
                self._held[caller] -= waiting.part
                self._held += Counter()  # forgets callers that hold nothing
            self._let_in()

    def _let_in(self) -> None:
        waits_for_itself: set[str] = set()
        for one in tuple(self._waiting):
            is_over = self._held[one.caller] + one.part > self._share
            if self._has_shares and (is_over or one.caller in waits_for_itself):
                # What its caller holds has to be given back first, and others need not wait for it.
                waits_for_itself.add(one.caller)
                continue
            if one.part > self._free:
                return
            self._waiting.remove(one)
            self._free -= one.part
            self._held[one.caller] += one.part
            if not one.turn.done():
                one.turn.set_result(None)
