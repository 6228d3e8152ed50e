"""A turn's time is that of its calls under way, not of the queue at their backend."""

import asyncio

import pytest
from tests.fakes.permuting_loop import run_permuted

from ai_psychiatrist.interview.engine.turn_clock import TurnClock


async def turn(queue_seconds: list[float], call_seconds: float, *, turn_seconds: float) -> float:
    """Let calls queue side by side and then take their time; return when the last one ended."""
    async with asyncio.timeout(turn_seconds) as timeout:
        clock = TurnClock(timeout)

        async def call(queued: float) -> None:
            with clock.paused():
                await asyncio.sleep(queued)
            await asyncio.sleep(call_seconds)

        async with asyncio.TaskGroup() as calls:
            for queued in queue_seconds:
                calls.create_task(call(queued))
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("queued", [[100.0], [50.0, 70.0], [0.0, 30.0, 30.0]])
def test_time_in_the_queue_is_not_counted(queued: list[float]) -> None:
    for seed in range(20):
        ended = run_permuted(turn(queued, 4.0, turn_seconds=5.0), seed)
        assert ended == pytest.approx(max(queued) + 4.0)


def test_time_of_the_calls_is_counted() -> None:
    for seed in range(20):
        with pytest.raises(TimeoutError):
            run_permuted(turn([100.0], 6.0, turn_seconds=5.0), seed)


def test_time_that_was_used_before_the_queue_is_not_given_back() -> None:
    async def used_before() -> None:
        async with asyncio.timeout(5.0) as timeout:
            await asyncio.sleep(4.0)
            with TurnClock(timeout).paused():
                await asyncio.sleep(100.0)
            await asyncio.sleep(2.0)

    with pytest.raises(TimeoutError):
        run_permuted(used_before(), 0)
