"""What server and command line work with, each part opened when it is first needed."""

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.agents.references import required
from ai_psychiatrist.assessment.pipeline import AssessmentPipeline
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode, WantedScoring
from ai_psychiatrist.infrastructure.digests import using_installation_key
from ai_psychiatrist.infrastructure.logging import EventLog, logging_to
from ai_psychiatrist.infrastructure.telemetry.watching import watched_by
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.proof.signing import Signer, signer_of
from ai_psychiatrist.results.assessment import About, full_result
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_store import TranscriptStore
from ai_psychiatrist.wiring.configured_references import ConfiguredReferences
from ai_psychiatrist.wiring.telemetry import Telemetry

if TYPE_CHECKING:
    from ai_psychiatrist.access.audit.trails import Trails
    from ai_psychiatrist.access.entrance import Entrance
    from ai_psychiatrist.access.limits.day_counts import DayCounts
    from ai_psychiatrist.access.oidc.token_verifier import TokenVerifier
    from ai_psychiatrist.interview.interviews import Interviews
    from ai_psychiatrist.reviews.archives import Archives
    from ai_psychiatrist.wiring.tenant_interviews import TenantInterviews

BYTES_PER_CHARACTER: Final = 16
"""Of stored transcripts: times, speakers and the longest encoding of a character included."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """What server and command line work with."""

    settings: Settings
    pipeline: AssessmentPipeline
    transcripts: TranscriptStore
    labels: SpeakerLabels
    connections: ModelConnections
    references: ConfiguredReferences | None
    """Examples of other participants; `None` where the settings name none."""
    make_interviews: "Callable[[], TenantInterviews]"
    agent_models: dict[str, tuple[str, ...]]
    """The chain of model names of each agent; without the danger agent where that is off."""
    addresses: dict[str, str | None]
    """Where each model of these chains is served; `None` for one of this process."""
    interview_models: tuple[str, ...]
    """The chain of interviews that have a model of their own; empty where they have none."""
    key: bytes = field(repr=False)
    """Of the digests of patient text."""
    log: EventLog = field(repr=False)
    telemetry: Telemetry = field(default_factory=Telemetry, repr=False)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Log, make digests and be watched as these settings say inside the block.

        Others in the process are not disturbed.
        """
        watchers = self.telemetry.watchers
        with using_installation_key(self.key), logging_to(self.log), watched_by(watchers):
            yield

    def about(self, assessment_id: str) -> About:
        """Return what a result says beyond the assessment itself."""
        return About(
            assessment_id=assessment_id,
            chains=self.agent_models,
            crisis_resources=self.crisis_resources,
        )

    async def result_of(
        self, assessment: Assessment, assessment_id: str, *, is_certified: bool = False
    ) -> FullResult:
        """Return all of an assessment as it is stored, with its certificate where it is wanted."""
        result = full_result(assessment, about=self.about(assessment_id))
        if not is_certified:
            return result
        from ai_psychiatrist.proof.certificate import certified  # noqa: PLC0415  few want one

        return await asyncio.to_thread(certified, result, assessment.transcript, self.signer)

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
            required(wanted, self.references)
            await self.open_references()
        return WantedScoring(mode=wanted, ablates=ablates)

    async def open_references(self) -> None:
        """Open the references that the settings name, if any; a server does so at its start."""
        if self.references is not None:
            await self.references.open()

    @cached_property
    def tenant_interviews(self) -> "TenantInterviews":
        """The interviews of each tenant."""
        return self.make_interviews()

    @property
    def interviews(self) -> "Interviews":
        """Those that are held on this machine itself, and where they are kept."""
        return self.tenant_interviews.of(LOCAL.tenant)

    @cached_property
    def archives(self) -> "Archives":
        """Assessments that are stored, each tenant's apart."""
        from ai_psychiatrist.wiring.records import archives_of  # noqa: PLC0415  few store any

        return archives_of(self.settings)

    @cached_property
    def entrance(self) -> "Entrance":
        """The keys and sessions of whoever may come in."""
        # Nobody who assesses from the command line needs it.
        from ai_psychiatrist.access.access_file import FILE_NAME  # noqa: PLC0415
        from ai_psychiatrist.access.entrance import Entrance  # noqa: PLC0415

        return Entrance(self.settings.data.state_dir.expanduser() / FILE_NAME)

    @cached_property
    def audit(self) -> "Trails":
        """The trails of who saw, changed, exported and erased what."""
        # Nobody who assesses from the command line needs it.
        from ai_psychiatrist.access.audit.trails import Trails  # noqa: PLC0415

        return Trails(state_dir=self.settings.data.state_dir.expanduser())

    @cached_property
    def token_verifier(self) -> "TokenVerifier | None":
        """What checks tokens of an identity provider; `None` where none is named."""
        from ai_psychiatrist.access.oidc.token_verifier import token_verifier  # noqa: PLC0415

        return token_verifier(self.settings.auth)

    @cached_property
    def day_counts(self) -> "DayCounts | None":
        """What each credential used today; `None` where nothing is limited."""
        from ai_psychiatrist.access.limits.day_counts import FILE_NAME, DayCounts  # noqa: PLC0415
        from ai_psychiatrist.access.limits.usage import Limits  # noqa: PLC0415

        limits = Limits.of(self.settings.limit)
        if not limits.are_set:
            return None
        return DayCounts(path=self.settings.data.state_dir.expanduser() / FILE_NAME, limits=limits)

    def close(self) -> None:
        """Close what was opened of interviews, records, keys, trails and counts."""
        for name in ("archives", "audit", "day_counts", "entrance", "tenant_interviews"):
            if self.__dict__.get(name) is not None:
                self.__dict__[name].close()

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
        asked = self.agent_models | {"interview": self.interview_models}
        return [agent for agent, names in asked.items() if names and set(names) <= set(unready)]
