"""Settings in, services out: the one place where everything is built, and closed again."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.baseline.answers import baseline_route
from ai_psychiatrist.config import Settings, refuse_contradictions
from ai_psychiatrist.infrastructure.digests import KEY_NAME, derived_key, load_installation_key
from ai_psychiatrist.infrastructure.logging import EventLog, get_logger, logging_to
from ai_psychiatrist.infrastructure.telemetry.watching import Telemetry
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import EndpointOptions
from ai_psychiatrist.services.language.memory import forget_clauses
from ai_psychiatrist.services.transcripts.transcript_store import TranscriptStore
from ai_psychiatrist.store.cipher import load_key
from ai_psychiatrist.wiring.assessor import (
    agent_chains,
    build_assessor,
    danger_chain,
    names_of,
    without_baseline,
)
from ai_psychiatrist.wiring.references import reference_source
from ai_psychiatrist.wiring.services import BYTES_PER_CHARACTER, Services
from ai_psychiatrist.wiring.telemetry import open_telemetry

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batches import BatchModels

__all__ = ["BYTES_PER_CHARACTER", "Services", "bootstrap", "bootstrap_apart"]

logger = get_logger(__name__)


@asynccontextmanager
async def bootstrap(
    settings: Settings, *, batches: "BatchModels | None" = None, keeps_key: bool = True
) -> AsyncIterator[Services]:
    """Build everything from settings, active inside the block; closes the connections at the end.

    `batches`: takes the models that are then asked by batches alone. `keeps_key`: whether a new key
    of digests is stored; otherwise nothing is written. Raises `ConfigurationError` for settings
    that cannot be used.
    """
    async with bootstrap_apart(settings, batches=batches, keeps_key=keeps_key) as services:
        with services.active():
            yield services


@asynccontextmanager
async def bootstrap_apart(
    settings: Settings, *, batches: "BatchModels | None" = None, keeps_key: bool = True
) -> AsyncIterator[Services]:
    """Build everything as `bootstrap` does, to be active only where the caller says so."""
    with logging_to(EventLog(settings.log.level, settings.log.format)):
        refuse_contradictions(settings)
        if settings.interview.protocols:
            from ai_psychiatrist.interview.interviews import load_protocols  # noqa: PLC0415

            load_protocols(settings.interview.protocols)
        key = _digest_key(settings) if keeps_key else secrets.token_bytes(32)
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
    settings: Settings, connections: ModelConnections, *, key: bytes, telemetry: Telemetry
) -> Services:
    chains = agent_chains(settings, connections)
    references = reference_source(settings.references, connections)
    interviewer = settings.interview.model or settings.model.default
    # The baseline knows the tasks of an assessment alone.
    interviewers = without_baseline(connections.chain(interviewer))
    return Services(
        settings=settings,
        assessor=build_assessor(settings, chains, references),
        transcripts=TranscriptStore(
            settings.data.transcripts_dir,
            most_bytes=settings.api.max_transcript_chars * BYTES_PER_CHARACTER,
        ),
        connections=connections,
        references=references,
        interviewers=interviewers,
        interview_danger=danger_chain(settings, connections, interviewer),
        interview_models=names_of(interviewers) if settings.interview.model else (),
        addresses={one.name: one.address for chain in chains.values() for one in chain},
        key=key,
        log=EventLog(settings.log.level, settings.log.format, trace_ids=telemetry.trace_ids),
        telemetry=telemetry,
    )


def _digest_key(settings: Settings) -> bytes:
    named = settings.data.key_file
    if named is not None:
        # Machines that share it make the same digests, and so the same prompts.
        return derived_key(load_key(named), "digests")
    try:
        return load_installation_key(settings.data.state_folder / KEY_NAME)
    except OSError:
        # Digests then hold within this process only; nothing else depends on the key.
        logger.warning("installation_key_not_stored", reason="state_dir_not_writable")
        return secrets.token_bytes(32)
