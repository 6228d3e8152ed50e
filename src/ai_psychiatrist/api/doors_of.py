"""Who calls, as the routes see it."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from ai_psychiatrist.domain.access import LOCAL, Principal


def principal_of(request: Request) -> Principal:
    """Return whoever the request comes from; without authentication, whoever reaches the server."""
    principal: Principal = request.scope.get("state", {}).get("principal", LOCAL)
    return principal


PrincipalOf: TypeAlias = Annotated[Principal, Depends(principal_of)]
