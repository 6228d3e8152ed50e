"""The cookie that holds a session."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from ai_psychiatrist.access.sessions import Session
from ai_psychiatrist.infrastructure.own_machine import is_of_this_machine

_BEHIND_TLS: Final = "__Host-session"
"""A browser takes a cookie of this name from this host alone, and over TLS alone."""
_ON_THIS_MACHINE: Final = "aip_session"
"""Cookies do not know ports: `session` would be shared with whatever else runs here."""


def cookie_name(scope: Scope) -> str:
    """Return the one name that counts on this connection."""
    return _BEHIND_TLS if _is_secure(scope) else _ON_THIS_MACHINE


def set_cookie(response: Response, scope: Scope, session: Session) -> None:
    """Give a session to the browser, which shows it to no script and to no other site."""
    _write(response, scope, session.token, session.lasts_seconds)


def clear_cookie(response: Response, scope: Scope) -> None:
    """Take the session from the browser."""
    _write(response, scope, "", 0)


def _write(response: Response, scope: Scope, value: str, seconds: int) -> None:
    response.set_cookie(
        cookie_name(scope),
        value,
        max_age=seconds,
        path="/",
        secure=_is_secure(scope),
        httponly=True,
        samesite="strict",
    )


def _is_secure(scope: Scope) -> bool:
    """Return whether there is TLS, or has to be: a name of another machine may be a proxy's."""
    if scope["scheme"] == "https":
        return True
    return not is_of_this_machine(Request(scope).url.hostname or "")
