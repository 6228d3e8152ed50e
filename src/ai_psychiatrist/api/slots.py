"""Slots: how many requests that cost something may be under way at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from ai_psychiatrist.api.authorization import Required, principal_of
from ai_psychiatrist.api.json_body import BoundedRequest
from ai_psychiatrist.api.limits import hold_slot
from ai_psychiatrist.api.request_context import ClientGone

T = TypeVar("T")


class AdmittedRoute(APIRoute):
    """A route whose requests take a slot before anything of them is parsed.

    When the caller leaves, all that is under way for the request ends.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request."""
        handle = super().get_route_handler()
        asked = [one.call for one in self.dependant.dependencies if isinstance(one.call, Required)]

        async def admitted(request: Request) -> Response:
            for required in asked:
                # Whoever may not come in keeps nobody waiting.
                required.check(principal_of(request))
            # It is held until the answer is sent: one that is not read costs its caller a slot.
            await hold_slot(request.scope)
            bounded = BoundedRequest(request.scope, request.receive)
            # From here on only the end of the connection is still to come from the caller.
            await bounded.received()
            return await _while_connected(bounded, lambda: handle(bounded))

        return admitted


async def _while_connected(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """Return what the work returns; cancels it and raises `ClientGone` when the caller leaves.

    The work is done in the caller's own task, so that the ids it gives stay with the request.
    """
    try:
        async with asyncio.timeout(None) as connection:
            watcher = asyncio.create_task(_end_with(connection, request))
            try:
                return await work()
            finally:
                watcher.cancel()
                await asyncio.gather(watcher, return_exceptions=True)
    except TimeoutError:
        if connection.expired():
            raise ClientGone from None
        raise


async def _end_with(connection: asyncio.Timeout, request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    connection.reschedule(asyncio.get_running_loop().time())
