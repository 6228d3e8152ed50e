"""The interviews of each tenant by the settings."""

from functools import cached_property

from ai_psychiatrist.agents.settings import limited_chain, repairing_once
from ai_psychiatrist.config import Settings
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.interviews import Interviews, load_protocols
from ai_psychiatrist.interview.limits import InterviewLimits
from ai_psychiatrist.interview.protocol.page import PageTexts
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.assessor import danger_agent


class TenantInterviews:
    """Opens a tenant's when they are first needed; the tenant is never a caller's word."""

    def __init__(
        self, settings: Settings, stores: Stores, chain: FallbackChain, danger: FallbackChain
    ) -> None:
        """`danger`: the models that read free answers for danger."""
        self._settings = settings
        self._stores = stores
        self._chain = chain
        self._danger = danger
        self._opened: dict[str, Interviews] = {}

    def of(self, tenant: str) -> Interviews:
        """Return the interviews of a tenant; nothing is opened before it is needed."""
        if tenant not in self._opened:
            self._opened[tenant] = self._interviews(tenant)
        return self._opened[tenant]

    @cached_property
    def page_texts(self) -> tuple[PageTexts, ...]:
        """What the page for the person says, once in each language of the protocols."""
        protocols = load_protocols(self._settings.interview.protocols).values()
        texts = {one.page.language: one.page for one in reversed(protocols)}
        return tuple(reversed(texts.values()))

    async def service(self, tenant: str) -> InterviewService:
        """Return the service of a tenant; raises what `Interviews.service` does."""
        return await self.of(tenant).service()

    def _interviews(self, tenant: str) -> Interviews:
        settings, interview = self._settings, self._settings.interview
        # A person waits: what is slow or down is not waited for a second time.
        waiting = limited_chain(
            self._danger,
            call_timeout_seconds=interview.call_timeout_seconds,
            retries=CallRetries(),
        )
        repairing = repairing_once(settings.pydantic_ai)
        return Interviews(
            rows=lambda: self._stores.open(tenant).interviews,
            protocol_folders=interview.protocols,
            limits=InterviewLimits(
                max_calls=interview.max_calls,
                turn_timeout_seconds=interview.turn_timeout_seconds,
                join_seconds=interview.join_seconds,
            ),
            agents=self._agents,
            danger=danger_agent(settings.model_copy(update={"pydantic_ai": repairing}), waiting),
        )

    def _agents(self) -> InterviewAgentsPort | None:
        settings, interview = self._settings, self._settings.interview
        if not self._chain:
            return None
        from ai_psychiatrist.agents.interview.interview_agents import (  # noqa: PLC0415
            InterviewAgents,
        )

        return InterviewAgents(
            self._chain,
            settings.pydantic_ai,
            output_mode=interview.output_mode,
            is_combined=interview.combined_digest,
            call_timeout_seconds=interview.call_timeout_seconds,
            temperature=settings.model.temperature,
        )
