"""What the application opens before it serves, and closes after."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib import import_module
from tempfile import TemporaryFile
from typing import Final

from anyio import to_thread
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from ai_psychiatrist.api.audit_trail import record_refused_logins
from ai_psychiatrist.config import CRISIS_LINE_CURE, Settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.shape import DESCRIBING
from ai_psychiatrist.infrastructure.given_files import reason_of
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import HOUR_SECONDS, MINUTE_SECONDS, repeating
from ai_psychiatrist.wiring import Services, bootstrap_apart
from ai_psychiatrist.wiring.jobs import open_jobs
from ai_psychiatrist.wiring.records import sweeping

logger = get_logger(__name__)

_SAID: Final = "Interviewer: Do you ever wish to be dead?\nParticipant: No. I sleep badly, though."


@asynccontextmanager
async def lifespan(
    app: FastAPI, *, settings: Settings, opened: Services | None
) -> AsyncIterator[None]:
    """Serve inside the block. `opened`: an application that its owner closes."""
    with DESCRIBING:
        # Routes, and the classes that they answer with, are built before the first request, which
        # would hold up all others for 0.2 s.
        for _ in iter_route_contexts(app.routes):
            pass
    async with AsyncExitStack() as stack:
        services = (
            await stack.enter_async_context(bootstrap_apart(settings)) if opened is None else opened
        )
        stack.enter_context(services.active())
        await services.open_references()
        await stack.enter_async_context(sweeping(services.stores, services.audit))
        if not settings.risk.is_crisis_line_set:
            logger.warning("crisis_line_not_set", reason=CRISIS_LINE_CURE)
        fault = state_fault(settings)
        if fault is not None:
            folder = str(settings.data.state_folder)
            logger.error("state_folder_unwritable", path=folder, reason=fault)
        if is_open_to_anybody(settings):
            await stack.enter_async_context(repeating(warn_it_is_open, HOUR_SECONDS))
        stack.callback(setattr, app.state, "services", opened)
        app.state.services = services
        stack.push_async_callback(record_refused_logins, app)
        recording = partial(record_refused_logins, app)
        await stack.enter_async_context(repeating(recording, MINUTE_SECONDS))
        app.state.jobs = await stack.enter_async_context(open_jobs(services))
        # Last: what is loaded until here may parse source, which two threads cannot do at once.
        reading = to_thread.run_sync(_read_ahead, services)
        app.state.reading = asyncio.create_task(reading)
        stack.push_async_callback(asyncio.wait, (app.state.reading,))
        yield


def state_fault(settings: Settings) -> str | None:
    """Return why nothing can be written to the state folder, `None` where it can be.

    A folder that is not there yet is looked for at the nearest one above it.
    """
    wanted = settings.data.state_folder.absolute()
    folder = next(one for one in (wanted, *wanted.parents) if one.exists())
    try:
        with TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return reason_of(error)


def refuse_open_address(settings: Settings) -> None:
    """Raise `ConfigurationError` for an address of other machines where no key is asked for.

    What `is_open_to_anybody` says is wanted only where the settings say so.
    """
    if is_open_to_anybody(settings) and not settings.api.allow_unauthenticated:
        msg = (
            f"other machines can reach API_HOST={settings.api.host} without a key: set "
            "AUTH_REQUIRED=true and make a key with `ai-psychiatrist keys create`; or, if a proxy "
            "in front authenticates, set API_ALLOW_UNAUTHENTICATED=true"
        )
        raise ConfigurationError(msg)


def is_open_to_anybody(settings: Settings) -> bool:
    """Return whether other machines can call without a credential."""
    return not (settings.api.is_for_this_machine or settings.auth.required)


async def warn_it_is_open() -> None:
    """Log once that callers need no credential."""
    logger.warning("open_without_authentication", name="API_ALLOW_UNAUTHENTICATED")


def _read_ahead(services: Services) -> None:
    """Read what the first request would read: it would hold up all others for 0.2 s."""
    # Imported here: what waits for the server to be ready does not need it yet.
    from ai_psychiatrist.agents.baseline import BASELINE  # noqa: PLC0415
    from ai_psychiatrist.agents.baseline.signals import analyse  # noqa: PLC0415
    from ai_psychiatrist.services.risk.detector import detect_risk  # noqa: PLC0415
    from ai_psychiatrist.services.transcripts.plain_text import parse_transcript  # noqa: PLC0415

    said = parse_transcript(_SAID)
    detect_risk(said)
    analyse(said)
    if set(services.connections.names) - {BASELINE}:
        with DESCRIBING:
            import_module("ai_psychiatrist.agents.interview.interview_agents")
    services.assessor.second_voice.state()
