"""Memory that requests share is never held twice, and comes to all who wait for it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ai_psychiatrist.api.shared_room import SharedRoom


def _run(work: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await work()

    asyncio.run(run())


def test_who_finds_no_room_waits_for_its_turn() -> None:
    order: list[str] = []
    held = 0

    async def take(room: SharedRoom, name: str, size: int) -> None:
        nonlocal held
        async with room.hold(size):
            held += size
            assert held <= 10
            order.append(name)
            await asyncio.sleep(0.01)
            held -= size

    async def work() -> None:
        room = SharedRoom(10)
        # The small one does not overtake the large one, which would then never have its turn.
        await asyncio.gather(
            *(take(room, name, size) for name, size in zip("abcd", (6, 6, 10, 1), strict=True))
        )

    _run(work)
    assert order == ["a", "b", "c", "d"]


def test_nobody_needs_more_than_all() -> None:
    async def work() -> None:
        async with SharedRoom(10).hold(10**9):
            pass

    _run(work)


@pytest.mark.parametrize("is_let_in", [False, True])
def test_who_gives_up_waiting_leaves_the_room_to_the_next(*, is_let_in: bool) -> None:
    async def wait(room: SharedRoom) -> None:
        async with room.hold(10):
            pass

    async def work() -> None:
        room = SharedRoom(10)
        async with room.hold(10):
            waiting = asyncio.create_task(wait(room))
            await asyncio.sleep(0)
            if not is_let_in:
                waiting.cancel()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(60), room.hold(10):
            pass

    _run(work)


def test_who_is_slow_is_hurried_when_others_wait() -> None:
    async def work() -> None:
        room = SharedRoom(10)
        async with asyncio.timeout(1_000) as slow:
            planned = slow.when()
            with room.may_be_hurried(slow):
                async with room.hold(10):
                    assert slow.when() == planned
                    waiting = asyncio.create_task(room.hold(1).__aenter__())
                    await asyncio.sleep(0)
                    hurried = slow.when()
                    assert hurried is not None
                    assert planned is not None
                    assert hurried < planned - 900
                    waiting.cancel()

    _run(work)
