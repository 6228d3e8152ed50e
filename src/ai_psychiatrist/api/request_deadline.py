"""When a request ends, whatever is under way inside it."""

import asyncio
from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.own_path import VERSION_PREFIX, own_path
from ai_psychiatrist.api.problems import late, stopping
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.infrastructure.stopping import Stopping

MARGIN_SECONDS: Final = 5.0
"""How much longer than its time a request may take, so that what has finished can be told."""
_ALWAYS_ANSWERED: Final = frozenset({"/healthz", f"{VERSION_PREFIX}/healthz"})
_DUE: Final = "due"
_RENEWAL: Final = "renewal"


class RequestDeadline:
    """ASGI middleware: no request outlives its time, and none begins when the service stops.

    An answer that comes in parts can renew its time with each of them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        seconds: float,
        stopping: Stopping,
        margin_seconds: float = MARGIN_SECONDS,
    ) -> None:
        self._app = app
        self._seconds = seconds
        self._stopping = stopping
        self._margin_seconds = margin_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request until its time is up."""
        if scope["type"] != "http" or own_path(scope) in _ALWAYS_ANSWERED:
            await self._app(scope, receive, send)
        elif self._stopping.is_begun:
            await stopping({})(scope, receive, send)
        else:
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_answered = False

        async def observed_send(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        due = asyncio.get_running_loop().time() + self._seconds
        scope.setdefault("state", {})[_DUE] = due
        try:
            async with asyncio.timeout_at(due + self._margin_seconds) as deadline:
                scope["state"][_RENEWAL] = lambda: self._renew(deadline)
                with self._stopping.holding(deadline):
                    await self._app(scope, receive, observed_send)
        except TimeoutError:
            if is_answered or not deadline.expired():
                raise
            response = (stopping if self._stopping.is_begun else late)(kept_risk(scope))
            await response(scope, receive, send)

    def _renew(self, deadline: asyncio.Timeout) -> None:
        if not self._stopping.is_begun and not deadline.expired():
            now = asyncio.get_running_loop().time()
            deadline.reschedule(now + self._seconds + self._margin_seconds)


def renew_deadline(scope: Scope) -> None:
    """Give a request its whole time again: for an answer that is sent as long as there is more."""
    renewal: Callable[[], None] = scope["state"][_RENEWAL]
    renewal()


def seconds_left(scope: Scope) -> float:
    """Return how much of the time of a request is left; it began with the request's arrival."""
    due: float = scope["state"][_DUE]
    return max(0.0, due - asyncio.get_running_loop().time())
