"""Where a webhook may go: hosts and ports that the operator names, and nowhere else.

An address is read by the HTTP client that will follow it, so that nobody can make the check read
one host and the client another.
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.options import is_of_this_machine

if TYPE_CHECKING:
    import httpx2

MOST_URL_CHARACTERS: Final = 2_048
_PORTS: Final = {"https": 443, "http": 80}
_MOST_PORT: Final = 65_535
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_USER: Final = re.compile(r"[^/]*//[^/?#]*@")
_UNSEEN: Final = re.compile(r"[\x00-\x20\x7f\\]")


class CallbackRefused(InputError):
    """A `callback_url` leads where no webhook goes."""

    def __init__(self, message: str) -> None:
        super().__init__(message, field="callback_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where one webhook goes."""

    place: str
    """Host and port."""
    url: str = field(repr=False)


def named_place(host: str) -> str:
    """Return `host` or `host:port` of a setting as host and port; raises `ValueError`."""
    url = None if re.search(r"[/?#@]", host) else _read(f"https://{host}")
    place = None if url is None else _place(url)
    if place is None:
        msg = "a host is written `hooks.example.org` or `hooks.example.org:8443`, with no wildcard"
        raise ValueError(msg)
    return place


def destination_of(callback_url: str, places: tuple[str, ...], *, allows_http: bool) -> Destination:
    """Return where a `callback_url` leads; raises `CallbackRefused`.

    `places`: as `named_place` returns them.
    """
    if not places:
        msg = "no callbacks are made here: JOBS_WEBHOOK_HOSTS names the hosts that may get some"
        raise CallbackRefused(msg)
    url = _read(callback_url) if len(callback_url) <= MOST_URL_CHARACTERS else None
    place = None if url is None else _place(url)
    if url is None or place is None:
        msg = f"is no address of at most {MOST_URL_CHARACTERS} characters that begins with https://"
        raise CallbackRefused(msg)
    if _USER.match(callback_url) or "#" in callback_url:
        msg = "holds no user, no password and no fragment: leave out what is before @ or after #"
        raise CallbackRefused(msg)
    is_allowed_http = allows_http and url.scheme == "http" and is_of_this_machine(url.host)
    if url.scheme != "https" and not is_allowed_http:
        msg = (
            "begins with https://; http:// is for this machine alone, with JOBS_WEBHOOK_ALLOW_HTTP"
        )
        raise CallbackRefused(msg)
    if place not in places:
        msg = "names a host and port that JOBS_WEBHOOK_HOSTS does not name: add it there"
        raise CallbackRefused(msg)
    return Destination(place=place, url=str(url))


def _read(text: str) -> "httpx2.URL | None":
    import httpx2  # noqa: PLC0415  only who makes callbacks needs it

    if _UNSEEN.search(text):
        return None
    try:
        return httpx2.URL(text)
    except httpx2.InvalidURL:
        return None


def _place(url: "httpx2.URL") -> str | None:
    host = url.raw_host.decode("ascii")
    port = _PORTS.get(url.scheme) if url.port is None else url.port
    if port is None or not 0 < port <= _MOST_PORT:
        return None
    if ":" in host and "%" not in host:
        return f"[{host}]:{port}"
    return f"{host}:{port}" if _NAME.fullmatch(host) else None
