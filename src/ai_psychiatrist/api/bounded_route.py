"""A route whose JSON is looked at before anything is made of it."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from ai_psychiatrist.api.json_body import BoundedRequest


class BoundedRoute(APIRoute):
    """A route that asks no model, so that its requests need no place."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request."""
        handle = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            return await handle(BoundedRequest(request.scope, request.receive))

        return bounded
