"""Whether what a browser asks for was asked for by our own page."""

from collections.abc import Collection
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ai_psychiatrist.access.sessions import is_forgery_token
from ai_psychiatrist.api.authorization import PRINCIPAL, SESSION
from ai_psychiatrist.api.limits import replayed
from ai_psychiatrist.api.media_types import FORM_TYPE, content_type
from ai_psychiatrist.api.paths import SESSION_PATH, own_path
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.domain.access import LOCAL

SAFE_METHODS: Final = frozenset({"GET", "OPTIONS"})
"""They change nothing."""
_MOST_FIELDS: Final = 1000
"""Of a form."""
_OWN: Final = frozenset({"same-origin", "none"})
"""What a browser says of a request of our own page, and of an address that a person typed."""
_HEADER: Final = "x-csrf-token"
_FIELD: Final = "csrf"
_SESSION_OVER: Final = (
    "The session in which this page was loaded has ended: log in, or give your name, again."
)


class Csrf:
    """ASGI middleware that asks the unsafe requests of a session for the session's token.

    It is for the inside of `Limits`, which has read the body.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that shows the token, or needs none; raises `Problem` for others."""
        # Who logs in again shows a key; no page of another site gets so far.
        is_login = scope["method"] == "POST" and own_path(scope) == SESSION_PATH
        if scope["method"] not in SAFE_METHODS and not is_login:
            receive = await _checked(scope, receive)
        await self._app(scope, receive, send)


async def _checked(scope: Scope, receive: Receive) -> Receive:
    """Return what still gives the body; raises `Problem` where the session's token is not shown."""
    state, given = scope["state"], Headers(scope=scope).get(_HEADER)
    session: str | None = state.get(SESSION)
    if session is None:
        # A page of a session that has ended would now act as nobody in particular.
        if state.get(PRINCIPAL) == LOCAL and given and own_path(scope) != SESSION_PATH:
            raise Problem("unauthenticated", _SESSION_OVER)
        return receive
    if given is None and content_type(scope) == FORM_TYPE:
        message = await receive()
        given, receive = (
            form_fields(message.get("body", b"")).get(_FIELD),
            replayed([message], receive),
        )
    if given is None or not is_forgery_token(given, session):
        raise Problem("csrf_token_wrong")
    return receive


def is_cross_site(scope: Scope, friends: Collection[str] = ()) -> bool:
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


def form_fields(body: bytes) -> dict[str, str]:
    """Return the fields of a form that were filled in; none of what is no form."""
    try:
        return dict(parse_qsl(body.decode(), max_num_fields=_MOST_FIELDS))
    except ValueError:
        return {}


def _is_own(origin: str, host: str) -> bool:
    """Compare without the scheme: a proxy that has TLS speaks to us without it."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.casefold() == host.casefold()
