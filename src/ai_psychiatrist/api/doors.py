"""Who is let in: nothing of a request is read before it is known whom it comes from."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.access.entrance import Entrance
from ai_psychiatrist.access.key_text import read_key
from ai_psychiatrist.access.keys import Key
from ai_psychiatrist.access.oidc.token_verifier import TokenVerifier
from ai_psychiatrist.api.body_limit import MOST_BODY_BYTES
from ai_psychiatrist.api.credentials import (
    Credential,
    GivenKey,
    GivenSession,
    GivenToken,
    given_credential,
)
from ai_psychiatrist.api.door_problems import (
    cross_site,
    entrance_unusable,
    open_address,
    unauthenticated,
)
from ai_psychiatrist.api.doors_of import PRINCIPAL, SESSION
from ai_psychiatrist.api.forgery_check import SAFE_METHODS, is_from_elsewhere
from ai_psychiatrist.api.own_path import mounted_at, own_path
from ai_psychiatrist.api.page_policy import is_page
from ai_psychiatrist.api.problems import Refusal, overloaded
from ai_psychiatrist.api.session_cookie import clear_cookie
from ai_psychiatrist.api.session_form import SESSION_PATH
from ai_psychiatrist.domain.access import LOCAL, Principal
from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.own_machine import is_address_of_others
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut

logger = get_logger(__name__)

OPEN_PATHS: Final = frozenset(
    {
        *("/healthz", "/readyz", "/v1/healthz", "/v1/readyz", "/login", SESSION_PATH),
        *("/docs", "/docs/style.css", "/openapi.json"),
    }
)
"""What anybody may ask for; each of them says nothing of anybody."""
OPEN_FOLDER: Final = "/static/"
DOORKEEPERS: Final = WorkerThreads(count=4, seconds=10.0)
"""Who reads keys and sessions."""
_IS_OVER: Final = "session_is_over"
_MOST_BYTES_OF_STRANGERS: Final = 4096
"""Of a body that is read of somebody unknown: a login has less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorRules:
    """Who is let in."""

    is_required: bool
    """Whether every caller needs a credential."""
    friends: Collection[str]
    """Origins whose pages may call without a cookie."""
    is_open_to_others: bool = False
    """Whether callers at an address of other machines are let in without one."""


class Doors:
    """ASGI middleware that puts whoever calls into the request's state, or turns them away."""

    def __init__(self, app: ASGIApp, *, rules: DoorRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request of somebody who may come in, or for what is open to anybody."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = await self._refusal(scope)
        is_over = scope["state"].get(_IS_OVER, False)
        await (refusal or self._app)(
            scope, receive, _ending_session(scope, send) if is_over else send
        )

    async def _refusal(self, scope: Scope) -> Response | None:
        try:
            return await self._looked_at(scope)
        except Refusal as refusal:
            return refusal.response
        except WorkTimedOut:
            return overloaded({})
        except AssessmentServiceError as error:
            logger.error("entrance_unusable", error_type=type(error).__name__)
            return entrance_unusable()

    async def _looked_at(self, scope: Scope) -> Response | None:
        if self._is_open_by_mistake(scope):
            return open_address()
        given = given_credential(scope)
        if not self._rules.is_required and isinstance(given, GivenToken):
            # Meant for a proxy before this server, which asks for a credential of its own.
            given = None
        if _is_forged(scope, given, self._rules.friends):
            return cross_site()
        state = scope["state"]
        state[PRINCIPAL] = await self._principal(scope, given)
        if state[PRINCIPAL] is not None:
            return None
        state[_IS_OVER] = isinstance(given, GivenSession)
        if is_open(own_path(scope)):
            state[MOST_BODY_BYTES] = _MOST_BYTES_OF_STRANGERS
            return None
        return _to_login(scope) or unauthenticated()

    def _is_open_by_mistake(self, scope: Scope) -> bool:
        """Return whether a server that listens as it likes was put where others reach it."""
        if self._rules.is_required or self._rules.is_open_to_others or is_open(own_path(scope)):
            return False
        return is_address_of_others((scope.get("server") or ("",))[0])

    async def _principal(self, scope: Scope, given: Credential | None) -> Principal | None:
        entrance: Entrance = scope["app"].state.services.entrance
        match given:
            case None:
                return None if self._rules.is_required else LOCAL
            case GivenKey(text):
                return await DOORKEEPERS.run(lambda: _of_key(entrance, text))
            case GivenSession(token):
                takes_raters = not self._rules.is_required
                found = await DOORKEEPERS.run(
                    lambda: entrance.sessions.find(token, takes_raters=takes_raters)
                )
                if found is not None:
                    scope["state"][SESSION] = token
                return found
            case GivenToken(text):
                verifier: TokenVerifier | None = scope["app"].state.services.token_verifier
                return None if verifier is None else await verifier.principal_of(text)


def _to_login(scope: Scope) -> Response | None:
    """Send a browser that asks for a page to where it can log in."""
    if scope["method"] not in SAFE_METHODS or not is_page(own_path(scope)):
        return None
    return RedirectResponse(f"{mounted_at(scope)}/login", 303)


def is_open(path: str) -> bool:
    """Return whether a path is open to anybody."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDER)


def _is_forged(scope: Scope, given: Credential | None, friends: Collection[str]) -> bool:
    """Return whether a page of somebody else drives a browser that is let in by itself."""
    if isinstance(given, GivenSession):
        return is_from_elsewhere(scope)
    if given is not None or scope["method"] in SAFE_METHODS:
        return False
    return is_from_elsewhere(scope, friends)


def live_key(entrance: Entrance, text: str) -> Key | None:
    """Return the key that a text is, if it lets its holder in; logs the attempt if not."""
    given = read_key(text)
    key = None if given is None else entrance.keys.find(given)
    if key is None:
        # An id that somebody made up is not repeated.
        key_id = given.id if given is not None and entrance.keys.knows(given.id) else None
        logger.warning("credential_refused", key_id=key_id)
    return key


def _of_key(entrance: Entrance, text: str) -> Principal | None:
    key = live_key(entrance, text)
    return None if key is None else key.principal


def _ending_session(scope: Scope, send: Send) -> Send:
    """Take a session that is over from the browser, unless the answer begins another."""

    async def observed_send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer = Response()
            answer.raw_headers = message.setdefault("headers", [])
            if "set-cookie" not in answer.headers:
                clear_cookie(answer, scope)
        await send(message)

    return observed_send
