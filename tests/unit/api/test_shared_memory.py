"""Memory that requests share is never held twice, and comes to all who wait for it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ai_psychiatrist.api.shared_memory import SharedMemory


def _run(work: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await work()

    asyncio.run(run())


def test_who_finds_no_room_waits_for_its_turn() -> None:
    order: list[str] = []
    held = 0

    async def take(memory: SharedMemory, name: str, size: int) -> None:
        nonlocal held
        async with memory.hold(size):
            held += size
            assert held <= 10
            order.append(name)
            await asyncio.sleep(0.01)
            held -= size

    async def work() -> None:
        memory = SharedMemory(10)
        # The small one does not overtake the large one, which would then never have its turn.
        await asyncio.gather(
            *(take(memory, name, size) for name, size in zip("abcd", (6, 6, 10, 1), strict=True))
        )

    _run(work)
    assert order == ["a", "b", "c", "d"]


def test_nobody_needs_more_than_all() -> None:
    async def work() -> None:
        async with SharedMemory(10).hold(10**9):
            pass

    _run(work)


@pytest.mark.parametrize("is_let_in", [False, True])
def test_who_gives_up_waiting_leaves_the_memory_to_the_next(*, is_let_in: bool) -> None:
    async def wait(memory: SharedMemory) -> None:
        async with memory.hold(10):
            pass

    async def work() -> None:
        memory = SharedMemory(10)
        async with memory.hold(10):
            waiting = asyncio.create_task(wait(memory))
            await asyncio.sleep(0)
            if not is_let_in:
                waiting.cancel()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(60), memory.hold(10):
            pass

    _run(work)


def test_a_caller_who_holds_its_share_does_not_keep_others_waiting() -> None:
    order: list[str] = []

    async def take(memory: SharedMemory, caller: str) -> None:
        async with memory.hold(4, caller):
            order.append(caller)
            await asyncio.sleep(0.01)

    async def work() -> None:
        memory = SharedMemory(10, share=5)
        await asyncio.gather(*(take(memory, caller) for caller in "aaab"))

    _run(work)
    assert order == ["a", "b", "a", "a"]
