"""The interviews of each tenant, in a file and under a key of its own."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL, is_tenant
from ai_psychiatrist.interview.interviews import Interviews
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.wiring.interviews import InterviewPlace, open_interviews, own_place

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
        self._opened: dict[str, Interviews] = {}
        self._tending: AsyncExitStack | None = None

    def of(self, tenant: str) -> Interviews:
        """Return the interviews of a tenant."""
        if tenant not in self._opened:
            self._opened[tenant] = open_interviews(
                self._settings, self._chain, self._danger, self._place(tenant)
            )
        return self._opened[tenant]

    async def service(self, tenant: str) -> InterviewService:
        """Return the service of a tenant; raises what `Interviews.service` does."""
        is_first = tenant not in self._opened
        interviews = self.of(tenant)
        if is_first and self._tending is not None:
            await self._tending.enter_async_context(interviews.tended())
        return await interviews.service()

    @asynccontextmanager
    async def tended(self) -> AsyncIterator[None]:
        """Remove what has expired of every tenant, at once and every hour while the block runs."""
        async with AsyncExitStack() as tending:
            for tenant in (LOCAL.tenant, *self._known()):
                await tending.enter_async_context(self.of(tenant).tended())
            self._tending = tending
            try:
                yield
            finally:
                self._tending = None

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
        own = own_place(self._settings).store_file
        return own.with_name(_FOLDER)

    def _place(self, tenant: str) -> InterviewPlace:
        if tenant == LOCAL.tenant:
            return own_place(self._settings)
        return InterviewPlace(
            store_file=self._folder / f"{tenant}{_FILE_ENDING}",
            key_file=self._folder / f"{tenant}{_KEY_ENDING}",
        )
