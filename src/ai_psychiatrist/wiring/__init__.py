"""Settings in, services out: the one place where everything is built, and closed again."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.baseline.answers import baseline_route
from ai_psychiatrist.config import Settings, refuse_contradictions
from ai_psychiatrist.infrastructure.digests import (
    KEY_NAME,
    load_installation_key,
)
from ai_psychiatrist.infrastructure.logging import EventLog, get_logger, logging_to
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import EndpointOptions, FallbackChain
from ai_psychiatrist.services.risk.clause_memory import forget_clauses
from ai_psychiatrist.services.transcripts.transcript_store import TranscriptStore
from ai_psychiatrist.wiring.danger import danger_chain, of_models
from ai_psychiatrist.wiring.pipeline import wired_pipeline
from ai_psychiatrist.wiring.services import BYTES_PER_CHARACTER, Services
from ai_psychiatrist.wiring.telemetry import Telemetry, open_telemetry

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batches import BatchModels
    from ai_psychiatrist.wiring.tenant_interviews import TenantInterviews

__all__ = ["BYTES_PER_CHARACTER", "Services", "open_services", "open_services_apart"]

logger = get_logger(__name__)


@asynccontextmanager
async def open_services(
    settings: Settings, *, batches: "BatchModels | None" = None, keeps_key: bool = True
) -> AsyncIterator[Services]:
    """Build everything from settings, active inside the block; closes the connections at the end.

    `batches`: takes the models that are then asked by batches alone. `keeps_key`: whether a key of
    digests that is made anew is kept; otherwise nothing is written. Raises `ConfigurationError`
    for settings that nothing can serve.
    """
    async with open_services_apart(settings, batches=batches, keeps_key=keeps_key) as services:
        with services.active():
            yield services


@asynccontextmanager
async def open_services_apart(
    settings: Settings, *, batches: "BatchModels | None" = None, keeps_key: bool = True
) -> AsyncIterator[Services]:
    """Build everything as `open_services` does, to be active only where the caller says so."""
    log = EventLog(settings.log.level, settings.log.format)
    with logging_to(log):
        refuse_contradictions(settings)
        if settings.interview.protocols:
            from ai_psychiatrist.interview.interviews import load_protocols  # noqa: PLC0415

            load_protocols(settings.interview.protocols)
        key = _key(settings) if keeps_key else secrets.token_bytes(32)
    connections = ModelConnections(
        EndpointOptions(
            models=settings.model,
            openai=settings.openai,
            anthropic=settings.anthropic,
            google=settings.google,
            ollama=settings.ollama,
            pydantic_ai=settings.pydantic_ai,
            local={BASELINE: baseline_route(max_reply_bytes=settings.model.max_reply_bytes)},
            batches=batches,
        )
    )
    try:
        async with open_telemetry(settings.telemetry) as telemetry:
            services = _services(settings, connections, key=key, telemetry=telemetry)
            try:
                yield services
            finally:
                services.close()
    finally:
        await connections.aclose()
        forget_clauses()


def _services(
    settings: Settings,
    connections: ModelConnections,
    *,
    key: bytes,
    telemetry: Telemetry,
) -> Services:
    wired = wired_pipeline(settings, connections)
    interviewers = _interview_chain(settings, connections)
    own_model = settings.interview.model
    danger = danger_chain(settings, connections, own_model or settings.model.default)
    return Services(
        settings=settings,
        pipeline=wired.pipeline,
        transcripts=TranscriptStore(
            settings.data.transcripts_dir,
            most_bytes=settings.api.max_transcript_chars * BYTES_PER_CHARACTER,
        ),
        labels=settings.transcript.labels,
        connections=connections,
        references=wired.references,
        make_interviews=partial(_opened_interviews, settings, interviewers, danger),
        interview_models=_names(interviewers) if own_model else (),
        agent_models={agent: _names(chain) for agent, chain in wired.chains.items()},
        addresses={one.name: one.address for chain in wired.chains.values() for one in chain},
        key=key,
        log=EventLog(settings.log.level, settings.log.format, trace_ids=telemetry.trace_ids),
        telemetry=telemetry,
    )


def _names(chain: FallbackChain) -> tuple[str, ...]:
    return tuple(route.name for route in chain)


def _interview_chain(settings: Settings, connections: ModelConnections) -> FallbackChain:
    # The baseline knows the tasks of an assessment alone.
    return of_models(connections.chain(settings.interview.model or settings.model.default))


def _opened_interviews(
    settings: Settings, chain: FallbackChain, danger: FallbackChain
) -> "TenantInterviews":
    # A tenth of a second that nobody waits for who holds no interview.
    from ai_psychiatrist.wiring.tenant_interviews import TenantInterviews  # noqa: PLC0415

    return TenantInterviews(settings, chain, danger)


def _key(settings: Settings) -> bytes:
    try:
        return load_installation_key(settings.data.state_dir.expanduser() / KEY_NAME)
    except OSError:
        # Digests then hold within this process only; nothing else depends on the key.
        logger.warning("installation_key_not_stored", reason="state_dir_not_writable")
        return secrets.token_bytes(32)
