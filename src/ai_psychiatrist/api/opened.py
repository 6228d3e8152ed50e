"""A request is served by the services that its application was opened with, and by no others."""

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from ai_psychiatrist.api.problems import problem
from ai_psychiatrist.wiring import Services

_NOT_OPENED: Final = (
    "The application is not opened: a server does that for the application that it runs, and "
    "nobody for one that is mounted in it. Enter its running() in the lifespan of the outer one."
)


class Opened:
    """ASGI middleware: log and digests of a request are those of its application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or say that the application was never opened."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        services: Services | None = scope["app"].state.services
        if services is not None:
            with services.active():
                await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await problem(503, "not_opened", _NOT_OPENED)(scope, receive, send)
        else:
            await send({"type": "websocket.close"})
