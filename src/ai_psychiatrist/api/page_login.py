"""Logging in with a key, or giving a name where none is asked for, by a plain form."""

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.access.key_text import read_key
from ai_psychiatrist.access.sessions import Session
from ai_psychiatrist.api.doors_of import session_of
from ai_psychiatrist.api.page_forms import Form, read_form
from ai_psychiatrist.api.page_frame import sent_to, shown
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.api.session_cookie import clear_cookie, set_cookie
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads
from ai_psychiatrist.wiring import Services

router = APIRouter(include_in_schema=False)
_THREADS = WorkerThreads(count=2, seconds=10.0)
_WRONG_KEY = "This key does not work: it may be mistyped, expired or revoked."


@router.get("/login")
async def login_page(request: Request) -> Response:
    """Ask for a key, or for a name."""
    return await shown(request, "login")


@router.post("/login")
async def login(request: Request, services: ServicesOf) -> Response:
    """Begin a session, and say on the same page what is wrong where none can begin."""
    form = await read_form(request)
    try:
        session = await _THREADS.run(lambda: _begin(form, services))
    except InputError as error:
        return await shown(request, "login", status=422, problem=str(error))
    answer = sent_to(request, "/")
    set_cookie(answer, request.scope, session)
    return answer


@router.post("/logout")
async def logout(request: Request, services: ServicesOf) -> Response:
    """End the session."""
    await read_form(request)
    token = session_of(request)
    if token is not None:
        await _THREADS.run(lambda: services.entrance.sessions.end(token))
    answer = sent_to(request, "/login")
    clear_cookie(answer, request.scope)
    return answer


def _begin(form: Form, services: Services) -> Session:
    entrance = services.entrance
    if not services.settings.auth.required:
        return entrance.sessions.begin_local(form.get("name"))
    given = read_key(form.get("key").strip())
    key = None if given is None else entrance.keys.find(given)
    if key is None:
        raise InputError(_WRONG_KEY, field="key")
    return entrance.sessions.begin(key)
