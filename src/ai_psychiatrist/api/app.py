"""The FastAPI application: its routes, and the middlewares that every request goes through."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.routing import APIRoute

from ai_psychiatrist import __version__
from ai_psychiatrist.access.failed_logins import FailedLogins
from ai_psychiatrist.api import (
    acknowledgements,
    assessments,
    batches,
    docs,
    exports,
    held_interviews,
    interviews,
    jobs,
    page_acknowledge,
    page_adjudicate,
    page_agreement,
    page_assessment,
    page_chosen,
    page_cohort,
    page_held_interview,
    page_interview,
    page_new,
    pages,
    participant_page,
    records,
    reviews,
    sessions,
    status,
)
from ai_psychiatrist.api.audit_trail import AuditedRequests
from ai_psychiatrist.api.authentication import Authentication
from ai_psychiatrist.api.authorization import KEY_HEADER
from ai_psychiatrist.api.csrf import Csrf
from ai_psychiatrist.api.error_answers import PROBLEM_HANDLERS
from ai_psychiatrist.api.lifespan import lifespan, refuse_open_address
from ai_psychiatrist.api.limits import Limits
from ai_psychiatrist.api.openapi import TAGS, DocumentedApp
from ai_psychiatrist.api.paths import VERSION_PREFIX
from ai_psychiatrist.api.request_context import RequestContext
from ai_psychiatrist.api.shared_memory import SharedMemory
from ai_psychiatrist.api.trusted_hosts import TrustedHosts, TrustedProxies
from ai_psychiatrist.api.webhook_models import webhooks
from ai_psychiatrist.config import Settings, load_settings
from ai_psychiatrist.domain.assessment import NOTICE
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown
from ai_psychiatrist.interface.application import Application
from ai_psychiatrist.wiring import Services

if TYPE_CHECKING:
    from fastapi.telemetry import TelemetryConfig

_DESCRIPTION = (
    "Text of a clinical interview in, a PHQ-8 assessment out: every item scored or explicitly "
    "unknown, every score supported by the participant's own words; and interviews that ask what "
    "is still unknown. "
)
_NO_TELEMETRY: "Final[TelemetryConfig]" = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""The framework's own would tell a host's collector of paths, queries and texts of exceptions."""
_TRANSCRIPTS_AT_A_TIME: Final = 5
"""Of the longest ones; what is beyond waits for its turn."""
_TRANSCRIPTS_OF_ONE: Final = 4
"""How many of them one caller may have, where callers are told apart."""
_SLOTS_OF_ONE: Final = 0.75
"""How much of API_MAX_CONCURRENCY one caller may use, where callers are told apart."""
_WITH_EARLIER_NAMES: Final = (assessments.router, status.router)
"""Released without the version in front: the document tells of each route once."""
_ROUTERS: Final = (
    interviews.router,
    interviews.stepping,
    held_interviews.router,
    records.making,
    records.router,
    exports.router,
    reviews.study,
    batches.making,
    batches.router,
    jobs.router,
    jobs.events,
    records.parts,
    records.subjects,
    reviews.router,
    reviews.adjudicating,
    acknowledgements.router,
    acknowledgements.of_interviews,
    sessions.router,
    pages.router,
    page_cohort.router,
    page_chosen.router,
    page_new.router,
    page_agreement.router,
    page_adjudicate.router,
    page_assessment.router,
    page_acknowledge.router,
    page_interview.router,
    page_interview.stepping,
    page_held_interview.router,
    participant_page.router,
    participant_page.stepping,
    records.sheets,
    assessments.previews,
)


def _name_of(route: APIRoute) -> str:
    return route.name


def _included() -> APIRouter:
    """Return the routes of every application, in the order in which they are matched.

    Included in each, a route and its dependencies would be looked into anew, which takes a tenth
    of a second for all: these are looked into once, when the first application is opened.
    """
    included = APIRouter(generate_unique_id_function=_name_of)
    for router in _WITH_EARLIER_NAMES:
        included.include_router(router, prefix=VERSION_PREFIX)
        included.include_router(router, include_in_schema=False)
    for router in _ROUTERS:
        included.include_router(router)
    return included


_ROUTES: Final = _included()


def create_app(given: Settings | Application | None = None) -> DocumentedApp:
    """Return the application; reads the environment when no settings are given.

    It can be run by any server, or mounted in another application, whose lifespan then enters its
    `running()`. Given what `open` opened, it leaves the closing to whoever opened it. Of the
    process it changes nothing. Raises `ConfigurationError` for settings that cannot be used.
    """
    resolved, opened = _resolved(given)
    refuse_open_address(resolved)
    app = DocumentedApp(
        title="AI Psychiatrist",
        version=__version__,
        description=_DESCRIPTION + NOTICE,
        openapi_tags=[{"name": name, "description": said} for name, said in TAGS.items()],
        lifespan=partial(lifespan, settings=resolved, opened=opened),
        generate_unique_id_function=_name_of,
        openapi_url="/openapi.json" if resolved.api.docs else None,
        # The framework's pages fetch scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        # A redirect would be made of the Host header, which is the caller's.
        redirect_slashes=False,
        exception_handlers=PROBLEM_HANDLERS,
        webhooks=webhooks,
        telemetry=_NO_TELEMETRY,
    )
    app.asks_for_credentials = resolved.auth.required
    _make_state(app, resolved, opened)
    app.router.routes.extend(_ROUTES.routes)
    if resolved.api.docs:
        app.include_router(docs.router)
    _add_middlewares(app, resolved)
    return app


def _resolved(given: Settings | Application | None) -> tuple[Settings, Services | None]:
    match given:
        case None:
            return load_settings(), None
        case Settings():
            return given, None
        case Application():
            return given.settings, given.services
        case _:
            msg = f"settings or an application is wanted, and not {type(given).__name__}"
            raise TypeError(msg)


def _make_state(app: FastAPI, settings: Settings, opened: Services | None) -> None:
    slots, characters = settings.api.max_concurrency, settings.api.max_transcript_chars
    # Without keys all callers are one, which then may have all there is.
    is_shared = settings.auth.required
    app.state.services = opened
    app.state.problem_page = pages.problem_page
    app.state.stopping = GracefulShutdown()
    app.state.failed_logins = FailedLogins()
    app.state.state_look = status.StateLook()
    app.state.example_lock = asyncio.Lock()
    app.state.slots = SharedMemory(
        slots, share=max(1, int(slots * _SLOTS_OF_ONE)) if is_shared else None
    )
    app.state.text_memory = SharedMemory(
        characters * _TRANSCRIPTS_AT_A_TIME,
        share=characters * _TRANSCRIPTS_OF_ONE if is_shared else None,
    )


def _add_middlewares(app: FastAPI, settings: Settings) -> None:
    """Put the middlewares around an application whose state is made; the last is the outermost."""
    app.add_middleware(AuditedRequests)
    app.add_middleware(Csrf)
    app.add_middleware(Limits, settings=settings.api, stopping=app.state.stopping)
    # No body is read of a caller who is not known.
    app.add_middleware(Authentication, settings=settings)
    if settings.api.cors_origins:
        # Outside of all that refuses: refusals, too, have to be readable for web pages.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.api.cors_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Content-Type", "Authorization", KEY_HEADER],
            expose_headers=["X-Request-ID", "Retry-After", exports.LEFT_OUT],
        )
    app.add_middleware(TrustedHosts, allowed_hosts=(settings.api.host, *settings.api.allowed_hosts))
    app.add_middleware(RequestContext)
    if settings.api.trusted_proxies:
        app.add_middleware(TrustedProxies, trusted_hosts=list(settings.api.trusted_proxies))
