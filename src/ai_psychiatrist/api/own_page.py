"""Whether a browser sends a request for a page of this server, or for somebody else's."""

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""They change nothing."""
_OWN: Final = frozenset({"same-origin", "none"})
"""What a browser says of a request of our own page, and of an address that a person typed."""


def is_from_elsewhere(scope: Scope, friends: Collection[str] = ()) -> bool:
    """Return whether a page of another origin sends it; programs that are no browsers say nothing.

    `friends`: origins whose pages may call.
    """
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None and origin in friends:
        return False
    site = headers.get("sec-fetch-site")
    if site is not None and site not in _OWN:
        return True
    return origin is not None and not _is_own(origin, headers.get("host", ""))


def _is_own(origin: str, host: str) -> bool:
    """Compare without the scheme: a proxy that has TLS speaks to us without it."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.casefold() == host.casefold()
