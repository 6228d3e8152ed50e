"""Tasks that end pending: what becomes of their siblings, and of who waits for them."""

import asyncio

import pytest

from ai_psychiatrist.infrastructure.tasks import JoinedTasks, Pending

pytestmark = pytest.mark.anyio


async def is_pending() -> None:
    raise Pending


async def test_a_pending_task_cancels_no_sibling_and_its_group_ends_pending() -> None:
    done = []

    async def sibling() -> None:
        for step in range(3):
            await asyncio.sleep(0)
            done.append(step)

    async def joined() -> None:
        async with JoinedTasks() as group:
            group.create_task(is_pending())
            group.create_task(sibling())

    async with asyncio.TaskGroup() as outer:
        joining, other = outer.create_task(joined()), outer.create_task(sibling())
    assert done == [0, 0, 1, 1, 2, 2]
    assert other.done()
    with pytest.raises(Pending):
        joining.result()


async def test_a_defect_in_a_task_is_raised_whoever_is_pending() -> None:
    async def broken() -> None:
        raise ValueError

    async def joined() -> None:
        async with JoinedTasks() as group:
            group.create_task(is_pending())
            group.create_task(broken())

    with pytest.raises(ExceptionGroup) as raised:
        await joined()
    assert [type(error) for error in raised.value.exceptions] == [ValueError]


async def test_a_group_that_is_cancelled_is_not_pending() -> None:
    async def joined() -> None:
        async with JoinedTasks() as group:
            group.create_task(is_pending())
            group.create_task(asyncio.sleep(60))

    task = asyncio.create_task(joined())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await task
    assert not isinstance(raised.value, Pending)
