"""What all pages share: the frame, forms, styles and modules; and the login page."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Final
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import Headers, ImmutableMultiDict
from starlette.types import Scope as ConnectionScope

from ai_psychiatrist.access.sessions import forgery_token
from ai_psychiatrist.api.authentication import set_cookie, set_looked_cookie
from ai_psychiatrist.api.authorization import known_principal, requires, session_of
from ai_psychiatrist.api.dependencies import ServicesOf, services_of
from ai_psychiatrist.api.json_body import BoundedRequest
from ai_psychiatrist.api.media_types import FORM_TYPE, content_type
from ai_psychiatrist.api.page_policy import is_page
from ai_psychiatrist.api.paths import STATIC_FOLDER, is_of_participant, mounted_at, own_path
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.sessions import has_ended, page_after
from ai_psychiatrist.domain.access import LOCAL, Principal, Scope
from ai_psychiatrist.domain.assessment import NOTICE
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads
from ai_psychiatrist.results.page.pages import (
    LIVE_STYLE,
    PACKAGE,
    PARTICIPANT_STYLE,
    environment,
    style,
)

_MEDIA_TYPES: Final = {
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}

_FOLDERS: Final = ("templates", "static")

_PLACES: Final = (
    ("Assessments", "/", Scope.READ),
    ("New", "/new", Scope.ASSESS),
    ("Rate", "/next", Scope.REVIEW),
    ("Agreement", "/agreement", Scope.READ),
)
_WITH_SCORES: Final = frozenset(
    {"adjudicate", "agreement", "assessment", "cohort", "interview_review"}
)
"""The templates of pages that tell scores of what is stored."""
_RENDERERS: Final = WorkerThreads(count=2, seconds=30.0)
_MOST_FIELDS: Final = 100
_SCOPE_MISSING: Final = (
    "Your key does not have the scope {scopes}. Ask the operator of this server for a key that has "
    "it (ai-psychiatrist keys create --scope), and log in with that key."
)
_WRONG_KEY: Final = "This key does not work: it may be mistyped, expired or revoked."
_WRONG_NAME: Final = "A name has 1-60 letters, digits and blanks."

router = APIRouter(include_in_schema=False)


@cache
def _assets() -> dict[str, bytes]:
    place = files(PACKAGE)
    found = (one for name in _FOLDERS for one in (place / name).iterdir())
    return {
        one.name: one.read_bytes() for one in found if PurePath(one.name).suffix in _MEDIA_TYPES
    }


@cache
def assets_path() -> str:
    """Return the path that all are under; another one as soon as any of them changes."""
    digest = hashlib.sha256()
    for name, content in sorted(_assets().items()):
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return f"{STATIC_FOLDER}{digest.hexdigest()[:16]}/"


@router.get("/static/{digest}/{name}")
async def asset(digest: str, name: str) -> Response:
    """Serve one; modules name one another by relative paths, so that the digest is in each."""
    content = _assets().get(name)
    if content is None or f"{STATIC_FOLDER}{digest}/" != assets_path():
        raise Problem("not_found", "No such file; load the page again.")
    return Response(content, media_type=_MEDIA_TYPES[PurePath(name).suffix])


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the frame of a page shows."""

    root: str
    """Where the application is mounted; empty at the top."""
    here: str
    csrf: str
    """Empty without a session, which then needs none."""
    name: str
    is_known: bool
    """Whether the caller logged in, or gave a name."""
    has_doors: bool
    """Whether a key is needed here."""
    places: tuple[tuple[str, str], ...]
    problem: str
    done: str
    """What was just done, where the page before asked for it; may be empty."""
    notice: str = NOTICE

    @property
    def home(self) -> str:
        """Return where the name of the program leads: a page that the caller may open."""
        return self.places[0][1] if self.places else "/login"

    def opens(self, path: str) -> bool:
        """Return whether the caller may open one of the pages of the menu."""
        return any(place == path for _, place in self.places)

    def login_to(self, path: str) -> str:
        """Return the login that comes back to a page; what is shown there is asked for again."""
        return f"{self.root}/login?{urlencode({'next': path})}"

    def asset(self, name: str) -> str:
        """Return where a module or picture is."""
        return f"{self.root}{assets_path()}{name}"


async def render_page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    problem: str = "",
    done: str = "",
    **values: object,
) -> HTMLResponse:
    """Return a page; it is made in a thread, for a long transcript takes its time."""
    page = _page(request, problem=problem, done=done)
    html = await _RENDERERS.run(lambda: _rendered(template, page=page, **values))
    answer = HTMLResponse(html, status)
    if template in _WITH_SCORES and known_principal(request.scope) == LOCAL:
        set_looked_cookie(answer, request.scope)
    return answer


def _rendered(template: str, **values: object) -> str:
    sheets = PARTICIPANT_STYLE if template == "interview" else LIVE_STYLE
    return (
        environment().get_template(f"live/{template}.html").render(style=style(*sheets), **values)
    )


def _page(request: Request, *, problem: str = "", done: str = "") -> Page:
    principal, token = known_principal(request.scope), session_of(request)
    return Page(
        root=mounted_at(request.scope),
        here=own_path(request.scope),
        csrf=forgery_token(token) if token else "",
        name=principal.name if principal else "",
        is_known=principal is not None and principal.id != LOCAL.id,
        has_doors=services_of(request).settings.auth.required,
        places=places_of(principal),
        problem=problem,
        done=done,
    )


def places_of(principal: Principal | None) -> tuple[tuple[str, str], ...]:
    """Return the names and paths of the pages that a caller may open, the first one at login."""
    scopes = principal.scopes if principal else frozenset()
    return tuple((name, path) for name, path, scope in _PLACES if scope in scopes)


async def message_page(
    request: Request, title: str, words: str, *, status: int, ways: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return a page that says one thing, and where to go from there."""
    places = tuple(ways.items()) if ways else places_of(known_principal(request.scope))[:1]
    return await render_page(
        request, "message", status=status, title=title, words=words, ways=places
    )


async def no_assessment_page(request: Request) -> HTMLResponse:
    """Return the page for an address that no assessment has."""
    words = "No assessment has this address."
    return await message_page(request, "Not here", words, status=404)


def problem_page(scope: ConnectionScope, problem: Problem, title: str) -> Response | None:
    """Return a problem as a page, `None` unless a browser asked for one of our pages."""
    is_asked = is_page(own_path(scope)) and not is_of_participant(own_path(scope))
    accepted = Headers(scope=scope).get("accept", "")
    if not is_asked or "text/html" not in accepted or scope["app"].state.services is None:
        return None
    page = _page(Request(scope))
    words, missing = problem.detail, problem.more.get("missing_scopes")
    if missing and page.here == "/" and page.places:
        # The first page after a login, of a key that may open others.
        return RedirectResponse(page.root + page.home, 303)
    if isinstance(missing, list):
        words = _SCOPE_MISSING.format(scopes=" and ".join(missing))
    ways = (*page.places[:1], *([("Log in", "/login")] if page.has_doors else ()))
    html = _rendered("message", page=page, title=title, words=words, ways=ways)
    return HTMLResponse(html, problem.status_code, problem.headers)


def redirect_to(request: Request, path: str) -> RedirectResponse:
    """Send the browser to another page of ours, to be asked for by GET."""
    return RedirectResponse(mounted_at(request.scope) + path, 303)


async def read_form(
    request: BoundedRequest, *, most_fields: int = _MOST_FIELDS
) -> ImmutableMultiDict[str, str]:
    """Return the fields, some with several values; raises `Problem` for what is no form of ours."""
    if content_type(request.scope) != FORM_TYPE:
        raise Problem("invalid_request", f"This address takes forms: {FORM_TYPE}.")
    try:
        pairs = parse_qsl(
            (await request.received()).decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=most_fields,
        )
    except ValueError:
        detail = f"The form cannot be read: percent-encoded UTF-8 of at most {most_fields} fields."
        raise Problem("invalid_request", detail) from None
    return ImmutableMultiDict(pairs)


@router.get("/login")
async def login_page(request: Request, services: ServicesOf) -> Response:
    """Ask for a key, or for a name; the form goes to `/v1/session`, which sends back here."""
    after = page_after(request.query_params.get("next"))
    if "refused" not in request.query_params:
        return await render_page(request, "login", next=after)
    problem = _WRONG_KEY if services.settings.auth.required else _WRONG_NAME
    return await render_page(request, "login", status=422, problem=problem, next=after)


@router.post("/logout", dependencies=[requires()])
async def logout(request: Request, services: ServicesOf) -> Response:
    """End the session."""
    await has_ended(request, services)
    answer = redirect_to(request, "/login")
    set_cookie(answer, request.scope, None)
    return answer
