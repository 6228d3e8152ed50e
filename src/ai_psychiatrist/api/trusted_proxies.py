"""Who calls, and how, where a proxy that is named stands before the server."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

_Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Network | IPv6Network


class TrustedProxies:
    """ASGI middleware: takes scheme and caller from the headers of named proxies alone."""

    def __init__(self, app: ASGIApp, *, proxies: Iterable[str]) -> None:
        self._app = app
        self._proxies: tuple[_Network, ...] = tuple(map(ip_network, proxies))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as the proxy got it."""
        client = scope.get("client")
        if scope["type"] == "http" and client and self._is_proxy(_address(client[0])):
            headers = Headers(scope=scope)
            caller = self._caller(headers.getlist("x-forwarded-for"))
            if caller is not None:
                scope["client"] = (str(caller), 0)
            # Of several proxies the last one is ours; what it was told before counts for nothing.
            scheme = ",".join(headers.getlist("x-forwarded-proto")).rpartition(",")[2].strip()
            if scheme in {"http", "https"}:
                scope["scheme"] = scheme
        await self._app(scope, receive, send)

    def _caller(self, lists: list[str]) -> _Address | None:
        """Return the last address that is no proxy's; before it anybody can have written."""
        caller = None
        for one in reversed(",".join(lists).split(",")):
            address = _address(one.strip())
            if address is None:
                return caller
            caller = address
            if not self._is_proxy(address):
                return caller
        return caller

    def _is_proxy(self, address: _Address | None) -> bool:
        return address is not None and any(address in network for network in self._proxies)


def _address(text: str) -> _Address | None:
    try:
        found = ip_address(text.strip("[]"))
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
