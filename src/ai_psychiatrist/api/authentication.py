"""Who calls: nothing of a request is read before it is known whom it comes from."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.access.failed_logins import FailedLogins
from ai_psychiatrist.access.keys import START
from ai_psychiatrist.access.sessions import TOKEN, Session
from ai_psychiatrist.api.authorization import (
    COOKIE_BEHIND_TLS,
    COOKIE_ON_THIS_MACHINE,
    KEY_HEADER,
    LINK,
    LINK_COOKIE_BEHIND_TLS,
    LINK_COOKIE_ON_THIS_MACHINE,
    PRINCIPAL,
    SESSION,
    address_of,
)
from ai_psychiatrist.api.csrf import SAFE_METHODS, is_cross_site
from ai_psychiatrist.api.limits import MOST_BODY_BYTES
from ai_psychiatrist.api.page_policy import is_page
from ai_psychiatrist.api.paths import (
    PARTICIPANT_PATH,
    SESSION_PATH,
    is_of_participant,
    is_open,
    mounted_at,
    own_path,
)
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL, Principal
from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.infrastructure.options import is_address_of_others, is_of_this_machine
from ai_psychiatrist.wiring import Services

if TYPE_CHECKING:
    from ai_psychiatrist.access.interview_links import OpenedLink
    from ai_psychiatrist.access.oidc import TokenVerifier

logger = get_logger(__name__)

T = TypeVar("T")

KEY_READERS: Final = WorkerThreads(count=4, seconds=10.0)
"""Who reads keys and sessions."""
_BEARER: Final = "bearer"
_MOST_BYTES_OF_STRANGERS: Final = 4096
"""Of a body that is read of a caller without a credential: a login has less."""

_MOST_BYTES_OF_ANSWER: Final = 262_144
"""Of what the page of an interview sends: the longest answer, each character written as `\\u`."""


@dataclass(frozen=True, slots=True)
class _Credential:
    """What a request shows: the cookie of a session, or in a header a key or a token."""

    text: str = field(repr=False)
    is_session: bool = False

    @property
    def is_token(self) -> bool:
        """Whether an identity provider gave it out: what is neither a session nor a key of ours."""
        return not (self.is_session or self.text.startswith(START))


NEW_LINK_COOKIE: Final = "aip_new_link"
_NEW_LINK_SECONDS: Final = 120
LOOKED_COOKIE: Final = "aip_looked"
"""Of a browser that showed scores before its user gave a name, under which they may rate later."""
_LOOKED_SECONDS: Final = 365 * 24 * 3600


class Authentication:
    """ASGI middleware that puts the caller into the request's state, or refuses the request."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self._app = app
        self._is_required = settings.auth.required
        self._friends = frozenset(settings.api.cors_origins)
        self._is_open_to_others = settings.api.allow_unauthenticated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request whose caller is known, or for what is open to all."""
        login = None
        try:
            if is_of_participant(own_path(scope)):
                await self._let_participant_in(scope)
            else:
                given = self._credential(scope)
                principal = await self._principal(scope, given)
                scope["state"][PRINCIPAL] = principal
                if principal is None and given is not None and given.is_session:
                    send = _ending_session(scope, send)
                login = None if principal else _login_for_stranger(scope)
        except Problem as problem:
            login = problem.response(scope)
        await (login or self._app)(scope, receive, send)

    def _credential(self, scope: Scope) -> _Credential | None:
        """Return what the request shows, if anything; raises `Problem` where it is refused."""
        if not is_open(own_path(scope)):
            self._require_guarded_address(scope)
        given = _given_credential(scope)
        if given is not None and given.is_token and not self._is_required:
            # Meant for a proxy before this server, which asks for a credential of its own.
            given = None
        if given is None:
            is_forged = scope["method"] not in SAFE_METHODS and is_cross_site(scope, self._friends)
        else:
            is_forged = given.is_session and is_cross_site(scope)
        if is_forged:
            raise Problem("cross_site")
        if scope["method"] == "POST" and own_path(scope) == SESSION_PATH:
            _require_few_failures(scope)
        return given

    def _require_guarded_address(self, scope: Scope) -> None:
        """Raise `Problem` where other machines reach a server that requires no credential."""
        is_guarded = not (self._is_required or self._is_open_to_others)
        if is_guarded and is_address_of_others((scope.get("server") or ("",))[0]):
            # A server that listens as it likes was put where other machines reach it.
            raise Problem("open_address")

    async def _let_participant_in(self, scope: Scope) -> None:
        """Admit the browser that opened a link to its interview; other credentials do not count.

        Raises `Problem` for whoever has opened none, or none that lasts, but for the page itself
        and the exchange of a token.
        """
        self._require_guarded_address(scope)
        if scope["method"] not in SAFE_METHODS and is_cross_site(scope):
            raise Problem("cross_site")
        path, shown = own_path(scope), Request(scope).cookies.get(_link_cookie_name(scope), "")
        links = _services(scope).interview_links
        link = await _found(KEY_READERS.run(lambda: links.find(shown))) if shown else None
        if link is not None:
            scope["state"] |= {PRINCIPAL: link.principal, LINK: link}
        most = _MOST_BYTES_OF_STRANGERS if link is None else _MOST_BYTES_OF_ANSWER
        scope["state"][MOST_BODY_BYTES] = most
        if path == f"{PARTICIPANT_PATH}/session":
            _require_few_failures(scope)
        elif path != PARTICIPANT_PATH and link is None:
            if shown:
                _require_few_failures(scope)
                scope["app"].state.failed_logins.failed(address_of(scope))
            raise Problem("link_refused")

    async def _principal(self, scope: Scope, given: _Credential | None) -> Principal | None:
        """Return whom a credential stands for; raises `Problem` where that cannot be looked up."""
        if given is None:
            return None if self._is_required else LOCAL
        services = _services(scope)
        if given.is_token:
            verifier: TokenVerifier | None = services.token_verifier
            return None if verifier is None else await _found(verifier.principal_of(given.text))
        if not given.is_session:
            key = await _found(KEY_READERS.run(lambda: services.keys.find(given.text)))
            return None if key is None else key.principal
        takes_raters = not self._is_required
        found = await _found(
            KEY_READERS.run(lambda: services.sessions.find(given.text, takes_raters=takes_raters))
        )
        if found is not None:
            scope["state"][SESSION] = given.text
        return found


async def _found(looking: Awaitable[T]) -> T:
    """Return what is kept of a credential; raises `Problem` where that cannot be looked up."""
    try:
        return await looking
    except WorkTimedOut:
        raise Problem("overloaded") from None
    except AssessmentServiceError as error:
        logger.error("entrance_unusable", error_type=type(error).__name__)
        raise Problem("entrance_unusable") from None


def _services(scope: Scope) -> Services:
    services: Services = scope["app"].state.services
    return services


def _require_few_failures(scope: Scope) -> None:
    """Raise `Problem` where too many logins from the caller's address have failed."""
    failures: FailedLogins = scope["app"].state.failed_logins
    seconds = failures.seconds_to_wait(address_of(scope))
    if seconds:
        failures.unrecorded += 1
        raise Problem("too_many_logins", headers={"Retry-After": str(seconds)})


def set_link_cookie(response: Response, scope: Scope, opened: "OpenedLink") -> None:
    """Give what opens an interview to the browser, for the paths of its page alone."""
    response.set_cookie(
        _link_cookie_name(scope),
        opened.cookie,
        max_age=opened.lasts_seconds,
        path=f"{mounted_at(scope)}{PARTICIPANT_PATH}",
        secure=_is_secure(scope),
        httponly=True,
        samesite="strict",
    )


def set_new_link_cookie(response: Response, scope: Scope, path: str, sealed: str) -> None:
    """Give the sealed address of a new link to the browser, for its next look at one page.

    An empty one takes it from the browser.
    """
    response.set_cookie(
        NEW_LINK_COOKIE,
        sealed,
        max_age=_NEW_LINK_SECONDS if sealed else 0,
        path=f"{mounted_at(scope)}{path}",
        secure=_is_secure(scope),
        httponly=True,
        samesite="strict",
    )


def set_looked_cookie(response: Response, scope: Scope) -> None:
    """Note in a browser that scores were shown in it to a caller without a name."""
    response.set_cookie(
        LOOKED_COOKIE,
        "1",
        max_age=_LOOKED_SECONDS,
        path="/",
        secure=_is_secure(scope),
        httponly=True,
        samesite="strict",
    )


def set_cookie(response: Response, scope: Scope, session: Session | None) -> None:
    """Give a session to the browser, which shows it to no script and no other site.

    `None` takes the session from the browser.
    """
    response.set_cookie(
        _cookie_name(scope),
        "" if session is None else session.token,
        max_age=0 if session is None else session.lasts_seconds,
        path="/",
        secure=_is_secure(scope),
        httponly=True,
        samesite="strict",
    )


def _given_credential(scope: Scope) -> _Credential | None:
    """Return what the headers show; a header goes before the cookie, and the query holds none.

    Raises `Problem` where two headers show something, for it would not be clear which counts.
    """
    request = Request(scope)
    shown = [_bearer_in(value) for value in request.headers.getlist("authorization")]
    shown += request.headers.getlist(KEY_HEADER)
    if len(shown) > 1:
        raise Problem("credential_unclear")
    if shown:
        return _Credential(shown[0])
    token = request.cookies.get(_cookie_name(scope), "")
    return _Credential(token, is_session=True) if TOKEN.fullmatch(token) else None


def _bearer_in(header: str) -> str:
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.casefold() == _BEARER else ""


def _login_for_stranger(scope: Scope) -> Response | None:
    """Send a browser without a credential to the login, unless what it asks for is open to all.

    Raises `Problem` for any other caller.
    """
    path = own_path(scope)
    if is_open(path):
        scope["state"][MOST_BODY_BYTES] = _MOST_BYTES_OF_STRANGERS
        return None
    if scope["method"] in SAFE_METHODS and is_page(path):
        return RedirectResponse(f"{mounted_at(scope)}/login", 303)
    raise Problem("unauthenticated")


def _ending_session(scope: Scope, send: Send) -> Send:
    """Take a session that is over from the browser, unless the answer begins another."""

    async def observed_send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer = Response()
            answer.raw_headers = message.setdefault("headers", [])
            if "set-cookie" not in answer.headers:
                set_cookie(answer, scope, None)
        await send(message)

    return observed_send


def _cookie_name(scope: Scope) -> str:
    """Return the one name that counts on this connection."""
    return COOKIE_BEHIND_TLS if _is_secure(scope) else COOKIE_ON_THIS_MACHINE


def _link_cookie_name(scope: Scope) -> str:
    return LINK_COOKIE_BEHIND_TLS if _is_secure(scope) else LINK_COOKIE_ON_THIS_MACHINE


def _is_secure(scope: Scope) -> bool:
    """Return whether there is TLS, or has to be: a name of another machine may be a proxy's."""
    if scope["scheme"] == "https":
        return True
    return not is_of_this_machine(Request(scope).url.hostname or "")
