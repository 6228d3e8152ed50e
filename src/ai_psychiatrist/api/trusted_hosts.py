"""Under which names the service answers, and which proxies say how a request came.

A page whose name was made to point at this machine would otherwise read what is stored here: to the
browser it is the page's own server.
"""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ai_psychiatrist.api.paths import PROBES, own_path
from ai_psychiatrist.api.problems import Problem

EVERY_HOST: Final = "*"
_FORWARDED_PROTO: Final = b"x-forwarded-proto"
_LOCAL_NAMES: Final = frozenset({"localhost", "testserver"})
"""The second is what test clients send."""
_HOST: Final = re.compile(r"([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?", re.ASCII | re.IGNORECASE)


class TrustedHosts:
    """ASGI middleware that answers only under the names of this machine and the given ones.

    Monitors that ask how the service is may use any name: the answers say nothing of anybody.
    """

    def __init__(self, app: ASGIApp, *, allowed_hosts: Iterable[str]) -> None:
        self._app = app
        self._allowed = _LOCAL_NAMES | {host.strip("[]").casefold() for host in allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that names a host of ours; raises `Problem` for any other."""
        if EVERY_HOST not in self._allowed and own_path(scope) not in PROBES:
            self._refuse_other_hosts(scope)
        await self._app(scope, receive, send)

    def _refuse_other_hosts(self, scope: Scope) -> None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        found = _HOST.fullmatch(hosts[0].decode("latin-1")) if len(hosts) == 1 else None
        # A target in absolute form names a host of its own, which would count instead.
        if found is None or not scope["path"].startswith("/"):
            raise Problem("host_unclear")
        if not self._is_allowed(found[1].strip("[]").casefold(), scope):
            raise Problem("host_not_served")

    def _is_allowed(self, host: str, scope: Scope) -> bool:
        if host in self._allowed:
            return True
        try:
            address = ip_address(host)
        except ValueError:
            return False
        # No name can be rebound to an address that the caller wrote out, and probes write it out.
        return address.is_loopback or host == (scope.get("server") or [None])[0]


class TrustedProxies(ProxyHeadersMiddleware):
    """ASGI middleware: takes scheme and caller from the headers of named proxies alone."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401
        """Pass a request on as the proxy got it."""
        if scope["type"] == "http":
            # Of several proxies the last one is ours; what it was told before counts for nothing.
            scope["headers"] = [
                (name, value.rpartition(b",")[2] if name == _FORWARDED_PROTO else value)
                for name, value in scope["headers"]
            ]
        await super().__call__(scope, receive, send)
