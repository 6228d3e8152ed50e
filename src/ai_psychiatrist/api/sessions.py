"""The routes by which a browser or a program logs in, asks who it is, and logs out."""

import re
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from pydantic import ConfigDict, Field, SecretStr, ValidationError

from ai_psychiatrist.access.failed_logins import FailedLogins
from ai_psychiatrist.access.sessions import Session, forgery_token
from ai_psychiatrist.api.authentication import KEY_READERS, LOOKED_COOKIE, set_cookie
from ai_psychiatrist.api.authorization import (
    LOGIN_REFUSED,
    PRINCIPAL,
    PrincipalOf,
    address_of,
    requires,
    session_of,
)
from ai_psychiatrist.api.csrf import form_fields
from ai_psychiatrist.api.dependencies import ServicesOf, json_of
from ai_psychiatrist.api.json_body import read_json
from ai_psychiatrist.api.media_types import FORM_TYPE, content_type
from ai_psychiatrist.api.paths import SESSION_PATH, mounted_at
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.requests import RequestBody, chosen
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.errors import ConfigurationError, InputError, StoreUnusable
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.reviews.blindness import name_late
from ai_psychiatrist.wiring import Services

_FIELDS: Final = "The fields of the body are key and rater; no others."


class SessionRequest(RequestBody):
    """A key, or where the server asks for none the name of a rater: one of the two."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [chosen(name, ("key", "rater")) for name in ("key", "rater")]}
    )

    key: SecretStr | None = Field(default=None, max_length=200)
    """An API key, `aip_...`."""
    rater: str | None = Field(default=None, min_length=1, max_length=60)
    """Who rates: letters, digits and blanks; the same name is the same rater."""


router = APIRouter(tags=["session"])

_AFTER: Final = re.compile(
    r"/(assessments|interviews)/[A-Za-z0-9_-]{1,100}(/rate|/adjudicate|\?show=result)?(#[a-z0-9-]{1,60})?",
    re.ASCII,
)
"""The pages that a login comes back to: none of another server, and none that does something."""


def page_after(given: str | None) -> str:
    """Return the page of ours that was open before a login, empty for the first page."""
    return given if given and _AFTER.fullmatch(given) else ""


class SessionResult(Result):
    """Who a browser or a program is to this server."""

    id: str
    """The same for each request of one person or program."""
    name: str
    """Of the key, or the name that a rater gave; `local` for whoever gave none."""
    tenant: str
    """Whose stored assessments and interviews the caller works with; `local` without keys."""
    scopes: tuple[Scope, ...]
    """What the caller may do: `assess`, `read` results, `review` (rate), `admin` (erase, see all
    ratings)."""
    csrf: str | None
    """What a session's requests that change something show in `X-CSRF-Token`; null without one."""


async def _session_request(request: Request) -> SessionRequest:
    """Return what a body in JSON, or of a form, asks for.

    Raises `RequestValidationError`, and `Problem` for what is no JSON or has other fields.
    """
    body, ours = await request.body(), SessionRequest.model_fields.keys()
    if content_type(request.scope) == FORM_TYPE:
        # Our page has other fields beside these.
        fields = form_fields(body)
        given: object = {name: fields[name] for name in fields.keys() & ours}
    else:
        given = read_json(body)
        if isinstance(given, dict) and not given.keys() <= ours:
            raise Problem("invalid_request", _FIELDS)
    try:
        return SessionRequest.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
        placed = [{**one, "loc": ("body", *one["loc"])} for one in found]
        raise RequestValidationError(placed) from None


@router.post(
    SESSION_PATH,
    status_code=201,
    response_model=SessionResult,
    responses={
        303: {"description": "Answer to a form: on to the page, or back to the login."},
        400: {"description": "The body is no valid JSON."},
        401: {"description": "The key does not work."},
        422: {"description": "Neither a key nor a name that can be used."},
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            # Forms are for our own page, whose answer is a page.
            "content": {"application/json": {"schema": SessionRequest.model_json_schema()}},
        }
    },
)
async def begin_session(
    given: Annotated[SessionRequest, Depends(_session_request)],
    request: Request,
    services: ServicesOf,
) -> Response:
    """Begin a session: its cookie is set, and the one that there was ends."""
    failures: FailedLogins = request.app.state.failed_logins
    before = session_of(request)
    is_required = services.settings.auth.required
    is_form = content_type(request.scope) == FORM_TYPE
    root = mounted_at(request.scope)
    after = page_after(form_fields(await request.body()).get("next")) if is_form else ""
    try:
        session = await KEY_READERS.run(lambda: _begun(services, given, is_required=is_required))
        if given.rater is not None and LOOKED_COOKIE in request.cookies:
            records = services.stores.records(session.principal.tenant)
            await records.ask(lambda store: name_late(store, session.principal))
    except (ConfigurationError, StoreUnusable):
        raise Problem("entrance_unusable") from None
    except (InputError, Problem):
        request.scope["state"][LOGIN_REFUSED] = True
        if not is_form:
            raise
        kept = urlencode({"refused": 1} | ({"next": after} if after else {}))
        return RedirectResponse(f"{root}/login?{kept}", 303)
    failures.succeeded(address_of(request.scope))
    request.scope["state"][PRINCIPAL] = session.principal
    if before is not None:
        await KEY_READERS.run(lambda: services.sessions.end(before))
    done = json_of(_result(session.principal, session.token), 201)
    answer = RedirectResponse(f"{root}{after or '/'}", 303) if is_form else done
    set_cookie(answer, request.scope, session)
    return answer


@router.get(SESSION_PATH, response_model=SessionResult, dependencies=[requires()])
async def read_session(principal: PrincipalOf, request: Request) -> Response:
    """Say who asks, and what the pages of a session have to show."""
    return json_of(_result(principal, session_of(request)))


@router.delete(SESSION_PATH, status_code=204, dependencies=[requires()])
async def end_session(request: Request, services: ServicesOf) -> Response:
    """End the session of the cookie; other credentials work on."""
    answer = Response(status_code=204)
    if await has_ended(request, services):
        set_cookie(answer, request.scope, None)
    return answer


async def has_ended(request: Request, services: Services) -> bool:
    """End the session that a browser comes with; returns whether there was one."""
    token = session_of(request)
    if token is not None:
        await KEY_READERS.run(lambda: services.sessions.end(token))
    return token is not None


def _begun(services: Services, given: SessionRequest, *, is_required: bool) -> Session:
    """Return a session that has begun.

    Raises `InputError` for a body that cannot begin one, and `Problem` for a key that is none.
    """
    if (given.key is None) is (given.rater is None):
        msg = "send either a key or, where the server asks for none, the name of a rater"
        raise InputError(msg, field="key")
    if given.rater is not None:
        if is_required:
            msg = "a name is not enough here: send a key"
            raise InputError(msg, field="key")
        return services.sessions.begin_local(given.rater)
    key = services.keys.find(given.key.get_secret_value().strip() if given.key else "")
    if key is None:
        raise Problem("unauthenticated")
    return services.sessions.begin(key)


def _result(principal: Principal, token: str | None) -> SessionResult:
    return SessionResult(
        id=principal.id,
        name=principal.name,
        tenant=principal.tenant,
        scopes=tuple(sorted(principal.scopes)),
        csrf=None if token is None else forgery_token(token),
    )
