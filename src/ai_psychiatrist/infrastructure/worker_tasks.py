"""Several tasks that share the work of one iterator."""

import asyncio
from collections.abc import Awaitable, Callable


async def work_together(count: int, work: Callable[[], Awaitable[None]]) -> None:
    """Run so many tasks of the same work to their end; one that fails ends the others.

    Raises what failed as it is: tasks share what can fail, so they fail alike.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(_awaited(work))
    except ExceptionGroup as group_error:
        raise _first(group_error) from None


async def _awaited(work: Callable[[], Awaitable[None]]) -> None:
    await work()


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
