"""Settings in, services out: the one place where everything is built, and closed again."""

import secrets
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.agents.baseline.model import BASELINE
from ai_psychiatrist.agents.baseline.route import baseline_route
from ai_psychiatrist.agents.judge import JudgeAgent
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.qualitative import QualitativeAssessmentAgent
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.agents.references import required
from ai_psychiatrist.assessment.feedback_loop import FeedbackLoop
from ai_psychiatrist.assessment.pipeline import AssessmentPipeline
from ai_psychiatrist.config import Settings, refuse_contradictions
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.assessment import AssessmentMode, WantedScoring
from ai_psychiatrist.infrastructure.digests import (
    KEY_NAME,
    load_installation_key,
    using_installation_key,
)
from ai_psychiatrist.infrastructure.logging import EventLog, get_logger, logging_to
from ai_psychiatrist.llm.backend_options import BackendOptions
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.routes import ModelChain
from ai_psychiatrist.proof.signing import Signer, signer_of
from ai_psychiatrist.results.assessment import About
from ai_psychiatrist.services.risk.clause_memory import forget_clauses
from ai_psychiatrist.services.transcripts.speaker_labels import SpeakerLabels
from ai_psychiatrist.services.transcripts.transcript_store import TranscriptStore
from ai_psychiatrist.wiring.belief import belief_chains, believer
from ai_psychiatrist.wiring.configured_references import ConfiguredReferences
from ai_psychiatrist.wiring.danger import danger_agent, danger_chain, of_models

if TYPE_CHECKING:
    from ai_psychiatrist.access.audit.trails import Trails
    from ai_psychiatrist.access.entrance import Entrance
    from ai_psychiatrist.access.limits.day_counts import DayCounts
    from ai_psychiatrist.access.oidc.token_verifier import TokenVerifier
    from ai_psychiatrist.interview.interviews import Interviews
    from ai_psychiatrist.reviews.archives import Archives
    from ai_psychiatrist.wiring.tenant_interviews import TenantInterviews

logger = get_logger(__name__)

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
    interview_models: tuple[str, ...]
    """The chain of interviews that have a model of their own; empty where they have none."""
    key: bytes = field(repr=False)
    """Of the digests of patient text."""
    log: EventLog = field(repr=False)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Log and make digests as these settings say inside the block; others are not disturbed."""
        with using_installation_key(self.key), logging_to(self.log):
            yield

    def about(self, assessment_id: str) -> About:
        """Return what a result says beyond the assessment itself."""
        return About(
            assessment_id=assessment_id,
            chains=self.agent_models,
            crisis_resources=self.crisis_resources,
        )

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
            if name in self.__dict__:
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


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Build everything from settings, active inside the block; closes the connections at the end.

    Raises `ConfigurationError` for settings that nothing can serve.
    """
    async with open_services_apart(settings) as services:
        with services.active():
            yield services


@asynccontextmanager
async def open_services_apart(settings: Settings) -> AsyncIterator[Services]:
    """Build everything as `open_services` does, to be active only where the caller says so."""
    log = EventLog(settings.log.level, settings.log.format)
    with logging_to(log):
        refuse_contradictions(settings)
        if settings.interview.protocols:
            from ai_psychiatrist.interview.interviews import load_protocols  # noqa: PLC0415

            load_protocols(settings.interview.protocols)
        key = _key(settings)
    connections = ModelConnections(
        BackendOptions(
            models=settings.model,
            openai=settings.openai,
            anthropic=settings.anthropic,
            google=settings.google,
            ollama=settings.ollama,
            pydantic_ai=settings.pydantic_ai,
            local={BASELINE: baseline_route(max_reply_bytes=settings.model.max_reply_bytes)},
        )
    )
    try:
        services = _services(settings, connections, key=key, log=log)
        try:
            yield services
        finally:
            services.close()
    finally:
        await connections.aclose()
        forget_clauses()


def _services(
    settings: Settings, connections: ModelConnections, *, key: bytes, log: EventLog
) -> Services:
    model = settings.model
    chains = {
        name: connections.chain(chosen or model.default)
        for name, chosen in {
            "qualitative": model.qualitative_model,
            "quantitative": model.quantitative_model,
            "judge": model.judge_model,
            "meta_review": model.meta_review_model,
        }.items()
    }
    pydantic_ai, base_url = settings.pydantic_ai, settings.ollama.base_url
    temperature = model.temperature
    feedback_loop = FeedbackLoop(
        qualitative=QualitativeAssessmentAgent(
            chains["qualitative"],
            pydantic_ai_settings=pydantic_ai,
            ollama_base_url=base_url,
            settings=settings.qualitative,
            temperature=temperature,
        ),
        judge=JudgeAgent(
            chains["judge"],
            pydantic_ai_settings=pydantic_ai,
            ollama_base_url=base_url,
            temperature=temperature,
        ),
        settings=settings.feedback,
    )
    danger_models = danger_chain(settings, connections, model.default)
    if danger_models:
        chains["danger"] = danger_models
    references = (
        None
        if settings.references.dir is None
        else ConfiguredReferences(settings.references, connections)
    )
    quantitative = QuantitativeAssessmentAgent(
        chains["quantitative"],
        pydantic_ai_settings=pydantic_ai,
        ollama_base_url=base_url,
        settings=settings.quantitative,
        temperature=temperature,
    )
    chains |= belief_chains(settings, connections, chains["quantitative"])
    pipeline = AssessmentPipeline(
        feedback_loop=feedback_loop,
        quantitative=quantitative,
        meta_review=MetaReviewAgent(
            chains["meta_review"],
            pydantic_ai_settings=pydantic_ai,
            ollama_base_url=base_url,
            temperature=temperature,
        ),
        danger=danger_agent(settings, danger_models, settings.pydantic_ai),
        believer=believer(settings, chains, quantitative),
        references=references,
        max_calls=model.max_calls,
        is_delimited=settings.qualitative.delimit_transcript,
    )
    interview_chain = _interview_chain(settings, connections)
    return Services(
        settings=settings,
        pipeline=pipeline,
        transcripts=TranscriptStore(
            settings.data.transcripts_dir,
            most_bytes=settings.api.max_transcript_chars * BYTES_PER_CHARACTER,
        ),
        labels=settings.transcript.labels,
        connections=connections,
        references=references,
        make_interviews=partial(
            _opened_interviews,
            settings,
            interview_chain,
            danger_chain(settings, connections, settings.interview.model or model.default),
        ),
        interview_models=(
            tuple(route.name for route in interview_chain) if settings.interview.model else ()
        ),
        agent_models={name: tuple(route.name for route in chain) for name, chain in chains.items()},
        key=key,
        log=log,
    )


def _interview_chain(settings: Settings, connections: ModelConnections) -> ModelChain:
    # The baseline knows the tasks of an assessment alone.
    return of_models(connections.chain(settings.interview.model or settings.model.default))


def _opened_interviews(
    settings: Settings, chain: ModelChain, danger: ModelChain
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
