"""Nobody tries keys without end: an address whose logins fail is not heard for a while."""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.access.limits.failed_logins import FailedLogins
from ai_psychiatrist.api.own_path import own_path
from ai_psychiatrist.api.problems import problem
from ai_psychiatrist.api.session_form import SESSION_PATH

_IS_REFUSED: Final = "login_refused"


def note_refused_login(scope: Scope) -> None:
    """Let a login count as refused, whatever answers it: a form is answered with a page."""
    scope.setdefault("state", {})[_IS_REFUSED] = True


def is_refused_login(scope: Scope) -> bool:
    """Return whether the request is a login that was refused."""
    return bool(scope.get("state", {}).get(_IS_REFUSED, False))


class LoginGuard:
    """ASGI middleware around the routes that let somebody in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._failures = FailedLogins()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a login, unless too many of its address failed."""
        is_login = scope["type"] == "http" and scope["method"] == "POST"
        if not is_login or own_path(scope) != SESSION_PATH:
            await self._app(scope, receive, send)
            return
        address = (scope.get("client") or ("",))[0]
        seconds = self._failures.seconds_to_wait(address)
        if seconds:
            await _too_often(seconds)(scope, receive, send)
            return

        async def watched_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(address, scope, message["status"])
            await send(message)

        await self._app(scope, receive, watched_send)

    def _note(self, address: str, scope: Scope, status: int) -> None:
        if is_refused_login(scope):
            self._failures.failed(address)
        elif status < 400:
            self._failures.succeeded(address)


def _too_often(seconds: int) -> ASGIApp:
    return problem(
        429,
        "too_many_logins",
        "Too many logins of this address failed; try again after Retry-After seconds.",
        headers={"Retry-After": str(seconds)},
    )
