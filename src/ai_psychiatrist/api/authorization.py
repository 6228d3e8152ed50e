"""Who calls, as the routes see it, and which scopes a route asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, APIKeyHeader, HTTPBearer
from starlette.types import Scope as ConnectionScope

from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.domain.access import Principal, Scope

KEY_HEADER: Final = "X-API-Key"
COOKIE_BEHIND_TLS: Final = "__Host-session"
"""A browser takes a cookie of this name from this host alone, and over TLS alone."""
COOKIE_ON_THIS_MACHINE: Final = "aip_session"
"""Cookies do not know ports: `session` would be shared with whatever else runs here."""
LINK_COOKIE_BEHIND_TLS: Final = "__Secure-interview"
"""Of the person of an interview: for the paths of its page alone, so `__Host-` is not for it."""
LINK_COOKIE_ON_THIS_MACHINE: Final = "aip_interview"
PRINCIPAL: Final = "principal"
LINK: Final = "interview_link"
"""The link that whoever asks has opened."""
ONE_OF: Final = "|"
"""Between scopes of which one is enough, where FastAPI's document lists those of a route."""
SESSION: Final = "session_token"
LOGIN_REFUSED: Final = "login_refused"
"""Set in the state of a login that was refused, whatever answers it: a form gets a page."""

# They describe credentials for the document; `Authentication` is what looks at them.
_BEARER: Final = HTTPBearer(
    scheme_name="bearer", auto_error=False, description="A key: `Authorization: Bearer aip_...`."
)
_HEADER: Final = APIKeyHeader(
    name=KEY_HEADER, scheme_name="header", auto_error=False, description="The same key."
)
_COOKIE: Final = APIKeyCookie(
    name=COOKIE_BEHIND_TLS,
    scheme_name="cookie",
    auto_error=False,
    description="Of a browser that logged in by POST /v1/session; "
    f"`{COOKIE_ON_THIS_MACHINE}` on loopback without TLS.",
)


def known_principal(scope: ConnectionScope) -> Principal | None:
    """Return the caller of a request, `None` where it is not identified."""
    principal: Principal | None = scope.get("state", {}).get(PRINCIPAL)
    return principal


def caller_of(scope: ConnectionScope) -> str:
    """Return the id of the caller, for what is shared fairly; of an unknown one the address."""
    principal = known_principal(scope)
    return address_of(scope) if principal is None else principal.id


def address_of(scope: ConnectionScope) -> str:
    """Return the address that a request comes from, empty where the server does not know it."""
    client: tuple[str, int] = scope.get("client") or ("", 0)
    return client[0]


def principal_of(request: Request) -> Principal:
    """Return the caller of the request; raises `Problem` where it is not identified."""
    principal = known_principal(request.scope)
    if principal is None:
        raise Problem("unauthenticated")
    return principal


def found_by(find: Callable[[Request], object]) -> Any:  # noqa: ANN401  as FastAPI types it
    """Return the dependency of a route on what is found by its request."""

    async def found(request: Request) -> object:
        # A dependency that is no coroutine is called in a thread, which costs more than all layers.
        return find(request)

    return Depends(found)


PrincipalOf: TypeAlias = Annotated[Principal, found_by(principal_of)]


def session_of(request: Request) -> str | None:
    """Return the token of the session that a browser comes with, if it does."""
    token: str | None = request.scope.get("state", {}).get(SESSION)
    return token


@dataclass(frozen=True, slots=True)
class Required:
    """The scopes that a route asks for."""

    scopes: frozenset[Scope]
    is_one_enough: bool = False

    async def __call__(
        self,
        principal: PrincipalOf,
        _bearer: Annotated[object, Security(_BEARER)],
        _header: Annotated[object, Security(_HEADER)],
        _cookie: Annotated[object, Security(_COOKIE)],
    ) -> None:
        """Raise `Problem` where one of them is missing."""
        self.check(principal)

    def check(self, principal: Principal) -> None:
        """Raise `Problem` where a caller lacks one of them."""
        missing = self.scopes - principal.scopes
        if missing and not (self.is_one_enough and missing < self.scopes):
            names = sorted(missing)
            listed = (" or " if self.is_one_enough else " and ").join(names)
            options = " ".join(f"--scope {name}" for name in names[: self._fewest])
            detail = (
                f"The credential lacks the scope {listed}. The operator of the service can make "
                f"another: ai-psychiatrist keys create --name NAME {options}"
            )
            member = "missing_one_of" if self.is_one_enough else "missing_scopes"
            raise Problem("forbidden", detail, more={member: names})

    @property
    def _fewest(self) -> int:
        return 1 if self.is_one_enough else len(self.scopes)


def requires(*scopes: Scope) -> Any:  # noqa: ANN401  as FastAPI types it
    """Return the dependency of a route, or of a router, that asks for all of these scopes.

    Without any it asks for a credential of any scope, where credentials are asked for at all.
    """
    return Security(Required(frozenset(scopes)), scopes=sorted(scopes))


def requires_one_of(*scopes: Scope) -> Any:  # noqa: ANN401  as FastAPI types it
    """Return the dependency of a route, or of a router, that asks for any of these scopes."""
    required = Required(frozenset(scopes), is_one_enough=True)
    return Security(required, scopes=[ONE_OF.join(sorted(scopes))])
