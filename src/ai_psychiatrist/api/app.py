"""The FastAPI application."""

from functools import partial
from typing import Final

from fastapi import FastAPI

from ai_psychiatrist import __version__
from ai_psychiatrist.api import (
    agreement_routes,
    assessments,
    batches,
    export_routes,
    interviews,
    job_events,
    job_routes,
    metrics,
    pages,
    record_parts,
    records,
    review_routes,
    session_routes,
    status,
)
from ai_psychiatrist.api.admission import Admission
from ai_psychiatrist.api.described import DescribedApp
from ai_psychiatrist.api.error_answers import add_problem_handlers
from ai_psychiatrist.api.layers import add_layers
from ai_psychiatrist.api.lifespan import lifespan
from ai_psychiatrist.api.open_notice import refuse_open_address
from ai_psychiatrist.api.own_path import VERSION_PREFIX
from ai_psychiatrist.api.shared_room import SharedRoom
from ai_psychiatrist.config import Settings, load_settings
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.interface.application import Application
from ai_psychiatrist.results.models import NOTICE
from ai_psychiatrist.wiring.services import Services

_DESCRIPTION = (
    "Text of a clinical interview in, a PHQ-8 assessment out: every item scored or explicitly "
    "unknown, every score carried by the participant's own words; and interviews that ask what is "
    "still unknown. "
)
_TRANSCRIPTS_AT_A_TIME: Final = 5
"""Of the longest ones; what is beyond waits for its turn."""
_ROUTERS: Final = (
    interviews.router,
    interviews.stepping,
    records.making,
    records.router,
    export_routes.router,
    agreement_routes.router,
    batches.making,
    batches.router,
    job_routes.router,
    job_events.router,
    record_parts.router,
    record_parts.subjects,
    review_routes.router,
    session_routes.router,
)
"""All that have no other name."""


def create_app(given: Settings | Application | None = None) -> DescribedApp:
    """Return the application; reads the environment when no settings are given.

    It can be run by any server, or mounted in another application, whose lifespan then enters its
    `running()`. Given what `open` opened, it leaves the closing to whoever opened it. Of the
    process it changes nothing. Raises `ConfigurationError` for settings that cannot be used.
    """
    resolved, opened = _resolved(given)
    refuse_open_address(resolved)
    app = DescribedApp(
        title="AI Psychiatrist",
        version=__version__,
        description=_DESCRIPTION + NOTICE,
        lifespan=partial(lifespan, settings=resolved, opened=opened),
        generate_unique_id_function=lambda route: route.name,
        openapi_url="/openapi.json" if resolved.api.docs else None,
        # The framework's pages fetch scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        # A redirect would be made of the Host header, which is the caller's.
        redirect_slashes=False,
    )
    app.asks_for_credentials = resolved.auth.required
    app.state.services = opened
    app.state.stopping = Stopping()
    app.state.admission = Admission(resolved.api.max_concurrency)
    app.state.text_room = SharedRoom(_TRANSCRIPTS_AT_A_TIME * resolved.api.max_transcript_chars)
    _add_routes(app)
    add_layers(app, resolved)
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


def _add_routes(app: FastAPI) -> None:
    for router in (assessments.router, status.router, metrics.router):
        app.include_router(router, prefix=VERSION_PREFIX)
        # Under these names they were released; the document tells of each route once.
        app.include_router(router, include_in_schema=False)
    for router in (*_ROUTERS, *pages.ROUTERS):
        app.include_router(router)
    add_problem_handlers(app)
