"""The interviews of each tenant by the settings, in a file and under a key of its own."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.settings import limited_chain, repairing_once
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL, is_tenant
from ai_psychiatrist.infrastructure.tasks import HOUR_SECONDS, repeating
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.interviews import Interviews
from ai_psychiatrist.interview.limits import InterviewLimits, StoreLimits
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.store.interview_file import FILE_NAME, KEY_NAME
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain
from ai_psychiatrist.wiring.assessor import danger_agent

_FOLDER: Final = "interviews"
_FILE_ENDING: Final = ".sqlite"
_KEY_ENDING: Final = ".key"


class TenantInterviews:
    """Opens the file of a tenant when it is first needed; the tenant is never a caller's word."""

    def __init__(self, settings: Settings, chain: FallbackChain, danger: FallbackChain) -> None:
        """`danger`: the models that read free answers for danger."""
        self._settings = settings
        self._chain = chain
        self._danger = danger
        state_dir = settings.data.state_dir
        self._own_file = (settings.interview.store_file or state_dir / FILE_NAME).expanduser()
        self._opened: dict[str, Interviews] = {}

    def of(self, tenant: str) -> Interviews:
        """Return the interviews of a tenant; nothing is opened before it is needed."""
        if tenant not in self._opened:
            self._opened[tenant] = self._interviews(tenant)
        return self._opened[tenant]

    async def service(self, tenant: str) -> InterviewService:
        """Return the service of a tenant; raises what `Interviews.service` does."""
        return await self.of(tenant).service()

    def tended(self) -> AbstractAsyncContextManager[None]:
        """Remove what has expired of every tenant, at once and every hour while the block runs."""
        return repeating(self._tend, HOUR_SECONDS)

    async def _tend(self) -> None:
        for tenant in (LOCAL.tenant, *self._known()):
            await self.of(tenant).tend()

    def close(self) -> None:
        """Close the files that were opened."""
        for interviews in self._opened.values():
            interviews.close()
        self._opened.clear()

    def _known(self) -> list[str]:
        """Return the tenants, beside the machine itself, that hold interviews already."""
        found = (path.stem for path in self._folder.glob(f"*{_FILE_ENDING}"))
        return sorted(name for name in found if is_tenant(name))

    @property
    def _folder(self) -> Path:
        return self._own_file.with_name(_FOLDER)

    def _interviews(self, tenant: str) -> Interviews:
        settings, interview = self._settings, self._settings.interview
        store_file = self._own_file
        key_file = (settings.data.state_dir / KEY_NAME).expanduser()
        if tenant != LOCAL.tenant:
            store_file = self._folder / f"{tenant}{_FILE_ENDING}"
            key_file = self._folder / f"{tenant}{_KEY_ENDING}"
        # A person waits: what is slow or down is not waited for a second time.
        waiting = limited_chain(
            self._danger,
            call_timeout_seconds=interview.call_timeout_seconds,
            retries=CallRetries(),
        )
        repairing = repairing_once(settings.pydantic_ai)
        return Interviews(
            store_file=store_file,
            keys=StoreKeys(own=key_file, named=settings.ledger.key_file),
            protocol_folders=interview.protocols,
            limits=InterviewLimits(
                max_calls=interview.max_calls, turn_timeout_seconds=interview.turn_timeout_seconds
            ),
            store_limits=StoreLimits(
                keep=timedelta(days=interview.keep_days),
                max_stored=interview.max_stored,
                max_bytes=interview.max_stored_bytes,
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
