"""HEAD is answered wherever GET is: with the same status and headers, and without a body."""

from anyio import CancelScope
from anyio.lowlevel import checkpoint
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadRequests:
    """ASGI middleware that asks for what GET would get, and keeps the body of the answer back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; an answer that goes on for long ends with its headers."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        is_sent = False

        async def send_without_body(message: Message) -> None:
            nonlocal is_sent
            if message["type"] == "http.response.start":
                # The server, too, has to know that no body follows.
                scope["method"] = "HEAD"
                await send(message)
            elif not is_sent:
                is_sent = True
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            if is_sent and message.get("more_body", False):
                ended.cancel()
                await checkpoint()

        scope["method"] = "GET"
        try:
            with CancelScope() as ended:
                await self._app(scope, receive, send_without_body)
        finally:
            # For whoever answers in the place of an application that failed.
            scope["method"] = "HEAD"
