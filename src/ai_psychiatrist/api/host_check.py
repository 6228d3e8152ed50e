"""Under which names the service answers.

A page whose name was made to point at this machine would otherwise read what is stored here: to the
browser it is the page's own server.
"""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ai_psychiatrist.api.problems import problem

EVERY_HOST: Final = "*"
_LOCAL_NAMES: Final = frozenset({"localhost", "testserver"})
"""The second is what test clients send."""
_HOST: Final = re.compile(r"([\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?", re.ASCII | re.IGNORECASE)


class HostCheck:
    """ASGI middleware that answers only under the names of this machine and the given ones."""

    def __init__(self, app: ASGIApp, *, allowed_hosts: Iterable[str]) -> None:
        self._app = app
        self._allowed = _LOCAL_NAMES | {host.strip("[]").casefold() for host in allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that names a host of ours."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        if EVERY_HOST in self._allowed:
            return None
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        found = _HOST.fullmatch(hosts[0].decode("latin-1")) if len(hosts) == 1 else None
        # A target in absolute form names a host of its own, which would count instead.
        if found is None or not scope["path"].startswith("/"):
            detail = "The request has to name one host, in its Host header alone."
            return problem(400, "host_unclear", detail)
        if self._is_allowed(found[1].strip("[]").casefold(), scope):
            return None
        detail = (
            "The service does not answer under this name; its operator can add the name to "
            "API_ALLOWED_HOSTS."
        )
        return problem(421, "host_not_served", detail)

    def _is_allowed(self, host: str, scope: Scope) -> bool:
        if host in self._allowed:
            return True
        try:
            address = ip_address(host)
        except ValueError:
            return False
        # No name can be rebound to an address that the caller wrote out, and probes write it out.
        return address.is_loopback or host == (scope.get("server") or [None])[0]
