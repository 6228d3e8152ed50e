"""The interviews of each tenant by the settings."""

import asyncio
from functools import cached_property, partial
from typing import Final

from ai_psychiatrist.agents.settings import limited_chain, repairing_once
from ai_psychiatrist.config import Settings
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.context import InterviewLimits
from ai_psychiatrist.interview.errors import store_unusable, translated
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.protocol import load_protocols
from ai_psychiatrist.interview.protocol.texts import PageTexts
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.snapshot import WordsInDanger
from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.assessor import danger_agent

_OPEN_SECONDS: Final = 60.0


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
        self._opened: dict[str, InterviewService] = {}
        self._opening = asyncio.Lock()
        self._threads = WorkerThreads(count=1, seconds=_OPEN_SECONDS)

    @cached_property
    def page_texts(self) -> tuple[PageTexts, ...]:
        """What the page for the person says, once in each language of the protocols."""
        protocols = load_protocols(self._settings.interview.protocols).values()
        texts = {one.page.language: one.page for one in reversed(protocols)}
        return tuple(reversed(texts.values()))

    async def service(self, tenant: str) -> InterviewService:
        """Return the interviews of a tenant; nothing is opened before it is needed.

        Raises `ConfigurationError` for an unusable protocol or key, or a file that others could
        read, and `StoreUnusable` for the file.
        """
        if tenant in self._opened:
            return self._opened[tenant]
        async with self._opening:
            if tenant not in self._opened:
                try:
                    store = await self._threads.run(partial(self._store, tenant))
                except WorkTimedOut:
                    raise store_unusable() from None
                self._opened[tenant] = self._service(store)
        return self._opened[tenant]

    def _store(self, tenant: str) -> InterviewStore:
        with translated():
            return InterviewStore(self._stores.open(tenant).interviews)

    def _service(self, store: InterviewStore) -> InterviewService:
        settings, interview = self._settings, self._settings.interview
        # A person waits: what is slow or down is not waited for a second time.
        waiting = limited_chain(
            self._danger,
            call_timeout_seconds=interview.call_timeout_seconds,
            retries=CallRetries(),
        )
        repairing = repairing_once(settings.pydantic_ai)
        return InterviewService(
            load_protocols(interview.protocols),
            store,
            self._agents(),
            danger=danger_agent(settings.model_copy(update={"pydantic_ai": repairing}), waiting),
            in_danger=WordsInDanger(
                resources=settings.risk.crisis_resources, notice=settings.danger.notice
            ),
            limits=InterviewLimits(
                max_calls=interview.max_calls,
                turn_timeout_seconds=interview.turn_timeout_seconds,
                join_seconds=interview.join_seconds,
            ),
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
