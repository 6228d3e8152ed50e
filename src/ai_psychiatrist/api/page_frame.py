"""What every page has around it, and how a page becomes an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse

from ai_psychiatrist.access.forgery_token import forgery_token
from ai_psychiatrist.api.doors_of import known_principal, session_of
from ai_psychiatrist.api.own_path import mounted_at, own_path
from ai_psychiatrist.api.page_assets import assets_path
from ai_psychiatrist.api.served import services_of
from ai_psychiatrist.domain.access import LOCAL, Scope
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads
from ai_psychiatrist.results.models import NOTICE
from ai_psychiatrist.results.page.environment import environment

_PLACES: Final = (
    ("Assessments", "/", Scope.READ),
    ("New", "/new", Scope.ASSESS),
    ("Rate", "/next", Scope.REVIEW),
    ("Agreement", "/agreement", Scope.READ),
)
_RENDERERS: Final = WorkerThreads(count=2, seconds=30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the frame of a page shows."""

    root: str
    """Where the application is mounted; empty at the top."""
    here: str
    csrf: str
    """Empty for whoever has no session, who needs none."""
    name: str
    is_known: bool
    """Whether somebody logged in, or gave a name."""
    has_doors: bool
    """Whether a key is needed here."""
    places: tuple[tuple[str, str], ...]
    problem: str
    notice: str = NOTICE

    def asset(self, name: str) -> str:
        """Return where a style sheet or module is."""
        return f"{self.root}{assets_path()}{name}"


async def shown(
    request: Request,
    template: str,
    *,
    status: int = 200,
    problem: str = "",
    headers: Mapping[str, str] | None = None,
    **values: object,
) -> HTMLResponse:
    """Return a page; it is made in a thread, for a long transcript takes its time."""
    page = _page(request, problem)
    html = await _RENDERERS.run(
        lambda: environment().get_template(f"live/{template}.html").render(page=page, **values)
    )
    return HTMLResponse(html, status, headers=dict(headers or {}))


async def told(
    request: Request, title: str, words: str, *, status: int, ways: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return a page that says one thing, and where to go from there."""
    places = tuple((ways or {"All assessments": "/"}).items())
    return await shown(request, "message", status=status, title=title, words=words, ways=places)


def sent_to(request: Request, path: str) -> RedirectResponse:
    """Send the browser to another page of ours, to be asked for by GET."""
    return RedirectResponse(mounted_at(request.scope) + path, 303)


def _page(request: Request, problem: str) -> Page:
    principal, token = known_principal(request.scope), session_of(request)
    scopes = principal.scopes if principal else frozenset()
    return Page(
        root=mounted_at(request.scope),
        here=own_path(request.scope),
        csrf=forgery_token(token) if token else "",
        name=principal.name if principal else "",
        is_known=principal is not None and principal.id != LOCAL.id,
        has_doors=services_of(request).settings.auth.required,
        places=tuple((name, path) for name, path, scope in _PLACES if scope in scopes),
        problem=problem,
    )
