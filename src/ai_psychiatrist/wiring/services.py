"""What server and command line work with, each part opened when it is first needed."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.agents.references import ReferenceSource, required
from ai_psychiatrist.assessment.assessor import Assessor
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import (
    Assessment,
    AssessmentMode,
    Certificate,
    WantedScoring,
)
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.digests import using_installation_key
from ai_psychiatrist.infrastructure.logging import EventLog, logging_to
from ai_psychiatrist.infrastructure.telemetry.watching import Telemetry, watched_by
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.proof.signing import Signer, signer_of
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_store import TranscriptStore

if TYPE_CHECKING:
    from ai_psychiatrist.access.interview_links import InterviewLinks
    from ai_psychiatrist.access.keys import KeyStore
    from ai_psychiatrist.access.oidc import TokenVerifier
    from ai_psychiatrist.access.sessions import SessionStore
    from ai_psychiatrist.store.audit import AuditLogs
    from ai_psychiatrist.store.stores import Stores
    from ai_psychiatrist.wiring.interviews import TenantInterviews

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
    def labels(self) -> SpeakerLabels:
        """The labels of speakers that the settings name."""
        return self.settings.transcript.labels

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
    ) -> WantedScoring:
        """Return how items are scored in a mode; `None`: as the settings say.

        `ablates`: whether to score again with the evidence changed.

        For a mode that shows references it raises `RequestConflict` where there are none, and
        `ConfigurationError` or `ArtifactMismatch` where they cannot be used.
        """
        wanted = self.settings.features.default_mode if mode is None else mode
        if wanted.shows_references:
            await required(wanted, self.references).open()
        return WantedScoring(mode=wanted, ablates=ablates)

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
