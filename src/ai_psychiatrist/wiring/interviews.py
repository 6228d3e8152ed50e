"""The interviews of each tenant by the settings, in a file and under a key of its own."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.settings import limited_chain, repairing_once
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL, is_tenant
from ai_psychiatrist.infrastructure.given_files import expanded
from ai_psychiatrist.infrastructure.tasks import HOUR_SECONDS, repeating
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.interviews import Interviews
from ai_psychiatrist.interview.limits import InterviewLimits, StoreLimits
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.store.interview_file import FILE_NAME, KEY_NAME
from ai_psychiatrist.interview.store.interview_store import InterviewStore
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain
from ai_psychiatrist.wiring.assessor import danger_agent

_FOLDER: Final = "interviews"
_FILE_ENDING: Final = ".sqlite"
_KEY_ENDING: Final = ".key"


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewPlace:
    """Where a tenant's interviews are, and what opens them."""

    file: Path
    keys: StoreKeys


def place_of(settings: Settings, tenant: str) -> InterviewPlace:
    """Return where a tenant's interviews are, or are going to be."""
    own_file, named = _own_file(settings), settings.ledger.key_file
    if tenant == LOCAL.tenant:
        own_key = settings.data.state_folder / KEY_NAME
        return InterviewPlace(file=own_file, keys=StoreKeys(own=own_key, named=named))
    folder = own_file.with_name(_FOLDER)
    keys = StoreKeys(own=folder / f"{tenant}{_KEY_ENDING}", named=named)
    return InterviewPlace(file=folder / f"{tenant}{_FILE_ENDING}", keys=keys)


@contextmanager
def stored_interviews(settings: Settings, tenant: str) -> Iterator[InterviewStore | None]:
    """Yield the file of a tenant's interviews, `None` where there is none.

    Raises `ConfigurationError` and `StoreUnusable`.
    """
    place = place_of(settings, tenant)
    if not place.file.exists():
        yield None
        return
    with closing(InterviewStore.open(place.file, place.keys, limits=_limits(settings))) as store:
        yield store


class TenantInterviews:
    """Opens the file of a tenant when it is first needed; the tenant is never a caller's word."""

    def __init__(self, settings: Settings, chain: FallbackChain, danger: FallbackChain) -> None:
        """`danger`: the models that read free answers for danger."""
        self._settings = settings
        self._chain = chain
        self._danger = danger
        self._folder = _own_file(settings).with_name(_FOLDER)
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

    def _interviews(self, tenant: str) -> Interviews:
        settings, interview = self._settings, self._settings.interview
        place = place_of(settings, tenant)
        # A person waits: what is slow or down is not waited for a second time.
        waiting = limited_chain(
            self._danger,
            call_timeout_seconds=interview.call_timeout_seconds,
            retries=CallRetries(),
        )
        repairing = repairing_once(settings.pydantic_ai)
        return Interviews(
            store_file=place.file,
            keys=place.keys,
            protocol_folders=interview.protocols,
            limits=InterviewLimits(
                max_calls=interview.max_calls, turn_timeout_seconds=interview.turn_timeout_seconds
            ),
            store_limits=_limits(settings),
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


def _own_file(settings: Settings) -> Path:
    """Return the file of the machine itself, beside which are those of tenants."""
    given = settings.interview.store_file
    if given is None:
        return settings.data.state_folder / FILE_NAME
    return expanded(given, setting="INTERVIEW_STORE_FILE")


def _limits(settings: Settings) -> StoreLimits:
    interview = settings.interview
    return StoreLimits(
        keep=timedelta(days=interview.keep_days),
        max_stored=interview.max_stored,
        max_bytes=interview.max_stored_bytes,
    )
