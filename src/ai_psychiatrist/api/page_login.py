"""Logging in with a key, or giving a name where none is asked for, by a plain form."""

from typing import Final

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.doors import DOORKEEPERS
from ai_psychiatrist.api.doors_of import requires, session_of
from ai_psychiatrist.api.page_frame import sent_to, shown
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.api.session_cookie import clear_cookie

router = APIRouter(include_in_schema=False)

_REFUSED: Final = "refused"
_WRONG_KEY: Final = "This key does not work: it may be mistyped, expired or revoked."
_WRONG_NAME: Final = "A name has 1-60 letters, digits and blanks."


@router.get("/login")
async def login_page(request: Request, services: ServicesOf) -> Response:
    """Ask for a key, or for a name; the form goes to `/v1/session`, which sends back here."""
    if _REFUSED not in request.query_params:
        return await shown(request, "login")
    problem = _WRONG_KEY if services.settings.auth.required else _WRONG_NAME
    return await shown(request, "login", status=422, problem=problem)


@router.post("/logout", dependencies=[requires()])
async def logout(request: Request, services: ServicesOf) -> Response:
    """End the session."""
    token = session_of(request)
    if token is not None:
        await DOORKEEPERS.run(lambda: services.entrance.sessions.end(token))
    answer = sent_to(request, "/login")
    clear_cookie(answer, request.scope)
    return answer
