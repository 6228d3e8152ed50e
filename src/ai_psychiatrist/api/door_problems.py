"""The problems of callers who are not let in."""

from collections.abc import Iterable

from fastapi.responses import JSONResponse

from ai_psychiatrist.api.problems import problem
from ai_psychiatrist.domain.access import Scope


def unauthenticated() -> JSONResponse:
    """Return the problem of a caller whom nobody knows; it never says what was wrong."""
    return problem(
        401,
        "unauthenticated",
        "Show a key that works: in the header Authorization: Bearer aip_..., or X-API-Key, or log "
        "in by POST /v1/session. Its operator makes one: ai-psychiatrist keys create",
        headers={"WWW-Authenticate": "Bearer"},
    )


def session_over() -> JSONResponse:
    """Return the problem of a page whose session has ended: nothing is done in another's name."""
    return problem(
        401,
        "unauthenticated",
        "The session in which this page was loaded has ended: log in, or give your name, again.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def forbidden(missing: Iterable[Scope], *, is_one_enough: bool) -> JSONResponse:
    """Return the problem of a caller who may do other things, but not this.

    `is_one_enough`: any of the scopes would do, and not all of them are needed.
    """
    names = sorted(missing)
    listed = (" or " if is_one_enough else " and ").join(names)
    return problem(
        403,
        "forbidden",
        f"The credential lacks the scope {listed}; its operator can make another: "
        "ai-psychiatrist keys create --scope",
        more={"missing_scopes": names},
    )


def cross_site() -> JSONResponse:
    """Return the problem of a request that a page of another site sends."""
    return problem(
        403,
        "cross_site",
        "A page of another site sent this request; programs call without the headers Origin and "
        "Sec-Fetch-Site, and pages that may call are named in API_CORS_ORIGINS.",
    )


def forgery_suspected() -> JSONResponse:
    """Return the problem of a session's request that does not show that our page made it."""
    return problem(
        403,
        "csrf_token_wrong",
        "A request of a session that changes something needs the session's token, in the header "
        "X-CSRF-Token or the form field csrf; GET /v1/session tells it.",
    )


def open_address() -> JSONResponse:
    """Return the problem of a server that was put where others reach it, and knows nobody."""
    return problem(
        503,
        "open_address",
        "Other machines can reach this address, and nobody is asked for a key: the operator of the "
        "service sets AUTH_REQUIRED=true and makes a key with `ai-psychiatrist keys create`; or, "
        "where something before the server asks instead, API_ALLOW_UNAUTHENTICATED=true.",
    )


def entrance_unusable() -> JSONResponse:
    """Return the problem of a server that cannot read its keys; the log says more."""
    return problem(
        503,
        "entrance_unusable",
        "Keys and sessions cannot be read now; the operator of the service has to look after "
        "their file.",
    )
