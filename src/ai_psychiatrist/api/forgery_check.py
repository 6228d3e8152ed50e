"""Whether what a browser asks for was asked for by our own page."""

from collections.abc import Collection
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.access.forgery_token import is_forgery_token
from ai_psychiatrist.api.content_type import FORM_TYPE, content_type
from ai_psychiatrist.api.door_problems import forgery_suspected, session_over
from ai_psychiatrist.api.doors_of import PRINCIPAL, SESSION
from ai_psychiatrist.api.own_path import own_path
from ai_psychiatrist.api.session_form import MOST_FIELDS, SESSION_PATH
from ai_psychiatrist.domain.access import LOCAL

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""They change nothing."""
_OWN: Final = frozenset({"same-origin", "none"})
"""What a browser says of a request of our own page, and of an address that a person typed."""
_HEADER: Final = "x-csrf-token"
_FIELD: Final = "csrf"


class ForgeryCheck:
    """ASGI middleware that asks the unsafe requests of a session for the session's token.

    It is for the inside of `BodyLimit`, which has read the body.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that shows the token, or needs none."""
        if scope["type"] == "http" and _had_session(scope):
            await session_over()(scope, receive, send)
            return
        if scope["type"] != "http" or not _needs_token(scope):
            await self._app(scope, receive, send)
            return
        given, received = Headers(scope=scope).get(_HEADER), receive
        if given is None and content_type(scope) == FORM_TYPE:
            message = await receive()
            given, received = _token_in(message.get("body", b"")), _again(message, receive)
        session: str = scope["state"][SESSION]
        is_own = given is not None and is_forgery_token(given, session)
        await (self._app if is_own else forgery_suspected())(scope, received, send)


def _had_session(scope: Scope) -> bool:
    """Return whether a page of somebody's session would now act as nobody in particular."""
    state = scope.get("state", {})
    if state.get(PRINCIPAL) != LOCAL or state.get(SESSION) is not None:
        return False
    is_unsafe = scope["method"] not in SAFE_METHODS and own_path(scope) != SESSION_PATH
    return is_unsafe and bool(Headers(scope=scope).get(_HEADER))


def _needs_token(scope: Scope) -> bool:
    if scope.get("state", {}).get(SESSION) is None or scope["method"] in SAFE_METHODS:
        return False
    # Who logs in anew shows a key; no page of another site gets so far.
    return not (scope["method"] == "POST" and own_path(scope) == SESSION_PATH)


def _token_in(body: bytes) -> str | None:
    try:
        fields = dict(parse_qsl(body.decode(), max_num_fields=MOST_FIELDS))
    except ValueError:
        return None
    return fields.get(_FIELD)


def _again(message: Message, receive: Receive) -> Receive:
    """Hand out a message that was received already, and then what else comes."""
    pending = [message]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


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
