"""The routes by which a browser logs in, asks who it is, and logs out."""

from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from ai_psychiatrist.access.entrance import Entrance
from ai_psychiatrist.access.forgery_token import forgery_token
from ai_psychiatrist.access.sessions import Session
from ai_psychiatrist.api.content_type import FORM_TYPE, content_type
from ai_psychiatrist.api.door_problems import entrance_unusable, unauthenticated
from ai_psychiatrist.api.doors import DOORKEEPERS, live_key
from ai_psychiatrist.api.doors_of import PRINCIPAL, PrincipalOf, requires, session_of
from ai_psychiatrist.api.login_guard import note_refused_login
from ai_psychiatrist.api.own_path import mounted_at
from ai_psychiatrist.api.problems import Refusal
from ai_psychiatrist.api.served import ServicesOf, json_of
from ai_psychiatrist.api.session_cookie import clear_cookie, set_cookie
from ai_psychiatrist.api.session_form import SESSION_PATH, SessionRequest, session_request
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.ledger.errors import LedgerUnusable
from ai_psychiatrist.results.result import Result

_LOGIN_PATH: Final = "/login"
_BODY: Final = SessionRequest.model_json_schema()
_FORM: Final = {name: said for name, said in _BODY.items() if name != "oneOf"} | {
    "additionalProperties": True,
    "properties": _BODY["properties"]
    | {"rater": {**_BODY["properties"]["rater"], "anyOf": [{"type": "string", "maxLength": 60}]}},
}
"""A page may have other fields beside ours, and one that is empty was not filled in."""

router = APIRouter(tags=["session"])


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


SessionRequestOf: TypeAlias = Annotated[SessionRequest, Depends(session_request)]


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
            "content": {"application/json": {"schema": _BODY}, FORM_TYPE: {"schema": _FORM}},
        }
    },
)
async def begin_session(
    given: SessionRequestOf, request: Request, services: ServicesOf
) -> Response:
    """Begin a session: its cookie is set, and the one that there was ends."""
    entrance, before = services.entrance, session_of(request)
    is_required = services.settings.auth.required
    is_form = content_type(request.scope) == FORM_TYPE
    root = mounted_at(request.scope)
    try:
        session = await DOORKEEPERS.run(lambda: _begun(entrance, given, is_required=is_required))
    except (ConfigurationError, LedgerUnusable):
        raise Refusal(entrance_unusable()) from None
    except (InputError, Refusal):
        note_refused_login(request.scope)
        if not is_form:
            raise
        return RedirectResponse(f"{root}{_LOGIN_PATH}?refused=1", 303)
    request.scope["state"][PRINCIPAL] = session.principal
    if before is not None:
        await DOORKEEPERS.run(lambda: entrance.sessions.end(before))
    done = json_of(_result(session.principal, session.token), 201)
    answer = RedirectResponse(f"{root}/", 303) if is_form else done
    set_cookie(answer, request.scope, session)
    return answer


@router.get(SESSION_PATH, response_model=SessionResult, dependencies=[requires()])
async def read_session(principal: PrincipalOf, request: Request) -> Response:
    """Say who asks, and what the pages of a session have to show."""
    return json_of(_result(principal, session_of(request)))


@router.delete(SESSION_PATH, status_code=204, dependencies=[requires()])
async def end_session(request: Request, services: ServicesOf) -> Response:
    """End the session of the cookie; other credentials work on."""
    token = session_of(request)
    answer = Response(status_code=204)
    if token is not None:
        await DOORKEEPERS.run(lambda: services.entrance.sessions.end(token))
        clear_cookie(answer, request.scope)
    return answer


def _begun(entrance: Entrance, given: SessionRequest, *, is_required: bool) -> Session:
    """Return a session that has begun.

    Raises `InputError` for a body that cannot begin one, and `Refusal` for a key that is none.
    """
    if (given.key is None) is (given.rater is None):
        msg = "send either a key or, where the server asks for none, the name of a rater"
        raise InputError(msg, field="key")
    if given.rater is not None:
        if is_required:
            msg = "a name is not enough here: send a key"
            raise InputError(msg, field="key")
        return entrance.sessions.begin_local(given.rater)
    key = live_key(entrance, given.key.get_secret_value().strip() if given.key else "")
    if key is None:
        raise Refusal(unauthenticated())
    return entrance.sessions.begin(key)


def _result(principal: Principal, token: str | None) -> SessionResult:
    return SessionResult(
        id=principal.id,
        name=principal.name,
        tenant=principal.tenant,
        scopes=tuple(sorted(principal.scopes)),
        csrf=None if token is None else forgery_token(token),
    )
