"""Settings in, services out: the one place where everything is built, and closed again.

Each part is opened when it is first needed.
"""

import secrets
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.baseline.answers import baseline_route
from ai_psychiatrist.agents.references import ReferenceSource, required
from ai_psychiatrist.assessment.assessor import Assessor
from ai_psychiatrist.config import Settings, refuse_contradictions
from ai_psychiatrist.domain.assessment import (
    Assessment,
    AssessmentMode,
    Certificate,
    ScoringOptions,
)
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.digests import (
    KEY_NAME,
    derived_key,
    load_installation_key,
    using_installation_key,
)
from ai_psychiatrist.infrastructure.logging import EventLog, get_logger, logging_to
from ai_psychiatrist.infrastructure.telemetry.watching import Telemetry, watched_by
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import EndpointOptions, FallbackChain
from ai_psychiatrist.proof.signing import Signer, signer_of
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
from ai_psychiatrist.wiring.telemetry import open_telemetry

if TYPE_CHECKING:
    from ai_psychiatrist.access.interview_links import InterviewLinks
    from ai_psychiatrist.access.keys import KeyStore
    from ai_psychiatrist.access.oidc import TokenVerifier
    from ai_psychiatrist.access.sessions import SessionStore
    from ai_psychiatrist.llm.batches import BatchModels
    from ai_psychiatrist.store.audit import AuditLogs
    from ai_psychiatrist.store.stores import Stores
    from ai_psychiatrist.wiring.interviews import TenantInterviews

__all__ = ["BYTES_PER_CHARACTER", "Services", "bootstrap", "bootstrap_apart"]

logger = get_logger(__name__)

BYTES_PER_CHARACTER: Final = 16
"""Of stored transcripts: times, speakers and the longest encoding of a character included."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """What server and command line work with."""

    settings: Settings
    assessor: Assessor
    transcripts: TranscriptStore
    connections: ModelConnections
    references: ReferenceSource | None
    """Examples of other participants; `None` where the settings name none."""
    interviewers: FallbackChain
    """The models that hold interviews."""
    interview_danger: FallbackChain
    """Those that read free answers for danger."""
    interview_models: tuple[str, ...]
    """The chain of interviews that have a model of their own; empty where they have none."""
    addresses: Mapping[str, str | None]
    """Where each model of an assessment is served; `None` for one of this process."""
    key: bytes = field(repr=False)
    """Of the digests of patient text."""
    log: EventLog = field(repr=False)
    telemetry: Telemetry = field(default_factory=Telemetry, repr=False)

    @property
    def agent_models(self) -> Mapping[str, tuple[str, ...]]:
        """The chain of model names of each agent; without the danger agent where that is off."""
        return self.assessor.agent_models

    @contextmanager
    def active(self) -> Iterator[None]:
        """Log, make digests and be watched as these settings say inside the block.

        Others in the process are not disturbed.
        """
        with (
            using_installation_key(self.key),
            logging_to(self.log),
            watched_by(self.telemetry),
        ):
            yield

    def certify(self, assessment: Assessment, transcript: Transcript) -> Certificate:
        """Return the certificate of an assessment of this transcript."""
        from ai_psychiatrist.proof.certificate import certificate_of  # noqa: PLC0415  few want one

        return certificate_of(assessment, transcript, signer=self.signer)

    async def scoring(
        self, mode: AssessmentMode | None = None, *, ablates: bool = False
    ) -> ScoringOptions:
        """Return how items are scored in a mode; `None`: as the settings say.

        `ablates`: whether to score again with the evidence changed.

        For a mode that shows references it raises `RequestConflict` where there are none, and
        `ConfigurationError` or `ArtifactMismatch` where they cannot be used.
        """
        wanted = self.settings.features.default_mode if mode is None else mode
        if wanted.shows_references:
            await required(wanted, self.references).open()
        return ScoringOptions(mode=wanted, ablates=ablates)

    async def open_references(self) -> None:
        """Open the references that the settings name, if any; a server does so at its start."""
        if self.references is not None:
            await self.references.open()

    @cached_property
    def tenant_interviews(self) -> "TenantInterviews":
        """The interviews of each tenant."""
        # A tenth of a second that only those wait for who hold interviews.
        from ai_psychiatrist.wiring.interviews import TenantInterviews  # noqa: PLC0415

        return TenantInterviews(
            self.settings, self.stores, self.interviewers, self.interview_danger
        )

    @cached_property
    def stores(self) -> "Stores":
        """Assessments and interviews that are stored, each tenant's apart."""
        from ai_psychiatrist.wiring.records import stores_of  # noqa: PLC0415  few store any

        return stores_of(self.settings)

    @cached_property
    def keys(self) -> "KeyStore":
        """The keys of callers."""
        from ai_psychiatrist.access.keys import KeyStore  # noqa: PLC0415  a server alone needs it

        return KeyStore(database=self.stores.database)

    @cached_property
    def sessions(self) -> "SessionStore":
        """The sessions of browsers."""
        from ai_psychiatrist.access.sessions import SessionStore  # noqa: PLC0415  as above

        return SessionStore(database=self.stores.database)

    @cached_property
    def interview_links(self) -> "InterviewLinks":
        """The links that open one interview each."""
        from ai_psychiatrist.access.interview_links import InterviewLinks  # noqa: PLC0415  as above

        return InterviewLinks(database=self.stores.database)

    @cached_property
    def audit(self) -> "AuditLogs":
        """The logs of who saw, changed, exported and erased what."""
        from ai_psychiatrist.wiring.records import audit_logs_of  # noqa: PLC0415  as above

        return audit_logs_of(self.stores)

    @cached_property
    def token_verifier(self) -> "TokenVerifier | None":
        """What checks tokens of an identity provider; `None` where none is named."""
        if self.settings.auth.oidc_issuer is None:
            return None
        from ai_psychiatrist.access.oidc import TokenVerifier  # noqa: PLC0415  it is an extra

        return TokenVerifier(self.settings.auth)

    def close(self) -> None:
        """Close the database, where it was opened."""
        if "stores" in self.__dict__:
            self.stores.close()

    @cached_property
    def signer(self) -> Signer | None:
        """What signs certificates, where a key is set."""
        return signer_of(self.settings.certificate.key_file)

    @property
    def crisis_resources(self) -> str:
        """Where to turn in danger, as the operator set it."""
        return self.settings.risk.crisis_resources

    def unready_agents(self, unready: Collection[str]) -> list[str]:
        """Return the agents, and interviews, all of whose models are among the unready."""
        asked = {**self.agent_models, "interview": self.interview_models}
        return [agent for agent, names in asked.items() if names and set(names) <= set(unready)]


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
            from ai_psychiatrist.interview.protocol import load_protocols  # noqa: PLC0415

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
