"""Who calls, as the routes see it, and what a route asks of them."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, APIKeyHeader, HTTPBearer
from starlette.types import Scope as ConnectionScope

from ai_psychiatrist.api.door_problems import forbidden, unauthenticated
from ai_psychiatrist.api.problems import Refusal
from ai_psychiatrist.domain.access import Principal, Scope

PRINCIPAL: Final = "principal"
SESSION: Final = "session_token"

# They describe the ways in for the document; `Doors` is what looks at them.
_BEARER: Final = HTTPBearer(
    scheme_name="bearer", auto_error=False, description="A key: `Authorization: Bearer aip_...`."
)
_HEADER: Final = APIKeyHeader(
    name="X-API-Key", scheme_name="header", auto_error=False, description="The same key."
)
_COOKIE: Final = APIKeyCookie(
    name="__Host-session",
    scheme_name="cookie",
    auto_error=False,
    description="Of a browser that logged in by POST /v1/session; `aip_session` on loopback "
    "without TLS.",
)


def known_principal(scope: ConnectionScope) -> Principal | None:
    """Return whoever a request comes from, `None` where nobody knows."""
    principal: Principal | None = scope.get("state", {}).get(PRINCIPAL)
    return principal


def principal_of(request: Request) -> Principal:
    """Return whoever the request comes from; raises `Refusal` where nobody knows."""
    principal = known_principal(request.scope)
    if principal is None:
        raise Refusal(unauthenticated())
    return principal


async def _principal(request: Request) -> Principal:
    # A dependency that is no coroutine is called in a thread, which costs more than all layers.
    return principal_of(request)


PrincipalOf: TypeAlias = Annotated[Principal, Depends(_principal)]


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
        """Raise `Refusal` where one of them is missing."""
        missing = self.scopes - principal.scopes
        if missing and not (self.is_one_enough and missing < self.scopes):
            raise Refusal(forbidden(missing, is_one_enough=self.is_one_enough))


def requires(*scopes: Scope) -> Any:  # noqa: ANN401  as FastAPI types it
    """Return the dependency of a route, or of a router, that asks for all of these scopes.

    Without any it asks for a credential of any scope, where credentials are asked for at all.
    """
    return Depends(Required(frozenset(scopes)))


def requires_one_of(*scopes: Scope) -> Any:  # noqa: ANN401  as FastAPI types it
    """Return the dependency of a route, or of a router, that asks for any of these scopes."""
    return Depends(Required(frozenset(scopes), is_one_enough=True))
