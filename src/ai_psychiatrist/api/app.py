"""The FastAPI application."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from anyio import to_thread
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from ai_psychiatrist import __version__
from ai_psychiatrist.agents.baseline.signals import signals_in
from ai_psychiatrist.agents.contracts.contract import shipped_contract
from ai_psychiatrist.api import assessments, interviews, status
from ai_psychiatrist.api.accept_errors import few_accept_errors
from ai_psychiatrist.api.admission import Admission
from ai_psychiatrist.api.body_limit import BodyLimit
from ai_psychiatrist.api.described import DescribedApp
from ai_psychiatrist.api.edge import Edge
from ai_psychiatrist.api.host_check import HostCheck
from ai_psychiatrist.api.problems import add_problem_handlers
from ai_psychiatrist.api.request_deadline import RequestDeadline
from ai_psychiatrist.api.shared_room import SharedRoom
from ai_psychiatrist.api.stop_signals import stop_on_signals
from ai_psychiatrist.config import CRISIS_LINE_CURE, Settings, load_settings
from ai_psychiatrist.infrastructure.logging import get_logger, setup_logging
from ai_psychiatrist.infrastructure.stopping import Stopping
from ai_psychiatrist.results.models import NOTICE
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import open_services

logger = get_logger(__name__)

_DESCRIPTION = (
    "Text of a clinical interview in, a PHQ-8 assessment out: every item scored or explicitly "
    "unknown, every score carried by the participant's own words; and interviews that ask what is "
    "still unknown. "
)

_SAID: Final = "Interviewer: Do you ever wish to be dead?\nParticipant: No. I sleep badly, though."


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the application; reads the environment when no settings are given.

    Raises `ConfigurationError` for settings that cannot be used.
    """
    resolved = settings or _settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_services(resolved) as services, services.interviews.tended():
            if not resolved.api.is_for_this_machine:
                logger.warning("open_without_authentication", name="API_HOST")
            if not resolved.risk.is_crisis_line_set:
                logger.warning("crisis_line_not_set", reason=CRISIS_LINE_CURE)
            app.state.services = services
            # Read by the first request, these would hold up all others for 0.2 s.
            await to_thread.run_sync(_read_phrases_and_rules)
            # What is loaded now stays loaded: looking for garbage in it costs a tenth of the CPU
            # time of an assessment.
            gc.freeze()
            with (
                few_accept_errors(),
                stop_on_signals(app.state.stopping, resolved.api.shutdown_seconds),
            ):
                yield

    app = DescribedApp(
        title="AI Psychiatrist",
        version=__version__,
        description=_DESCRIPTION + NOTICE,
        lifespan=lifespan,
        openapi_url="/openapi.json" if resolved.api.docs else None,
        # A redirect would be made of the Host header, which is the caller's.
        redirect_slashes=False,
    )
    app.state.stopping = Stopping()
    app.state.admission = Admission(resolved.api.max_concurrency)
    app.state.text_room = SharedRoom(resolved.api.max_total_chars)
    app.include_router(assessments.router)
    app.include_router(interviews.router)
    app.include_router(interviews.stepping)
    app.include_router(status.router)
    add_problem_handlers(app)
    # The one added last is the outermost: a refused body, too, has to be readable for web pages.
    app.add_middleware(
        BodyLimit,
        max_body_bytes=resolved.api.max_body_bytes,
        seconds=resolved.api.body_timeout_seconds,
    )
    app.add_middleware(
        RequestDeadline,
        seconds=resolved.api.request_timeout_seconds,
        stopping=app.state.stopping,
    )
    if resolved.api.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(resolved.api.cors_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Content-Type"],
            expose_headers=["X-Request-ID", "Retry-After"],
        )
    hosts = (resolved.api.host, *resolved.api.allowed_hosts)
    app.add_middleware(HostCheck, allowed_hosts=hosts)
    app.add_middleware(Edge)
    return app


def _settings() -> Settings:
    """Read the settings; what is logged about them goes to standard error."""
    setup_logging()
    return load_settings()


def _read_phrases_and_rules() -> None:
    shipped_contract()
    detect_risk(parse_transcript(_SAID))
    signals_in(_SAID)
