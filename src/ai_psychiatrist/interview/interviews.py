"""The interviews of one tenant, opened when they are first needed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.danger import DangerReader
from ai_psychiatrist.interview.errors import store_unusable
from ai_psychiatrist.interview.interview_store import InterviewStore, translated
from ai_psychiatrist.interview.limits import InterviewLimits
from ai_psychiatrist.interview.protocol import BUILTIN_PROTOCOLS, InterviewProtocol, load_protocol
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.store.interviews import InterviewRows

logger = get_logger(__name__)

_OPEN_SECONDS: Final = 60.0
_MOST_REASON: Final = 160


@dataclass(slots=True, kw_only=True)
class Interviews:
    """Opens what is stored of them once; a process that holds none never does."""

    rows: Callable[[], InterviewRows]
    """Opens the store; raises `ConfigurationError` and `StoreUnusable`."""
    protocol_folders: tuple[Path, ...]
    """Protocols beside the built-in ones."""
    limits: InterviewLimits
    agents: Callable[[], InterviewAgentsPort | None]
    """Builds those of the protocols that need a model; `None` when there is none."""
    danger: DangerReader | None
    """Reads free answers for danger beside the rules."""
    _threads: WorkerThreads = field(
        default_factory=lambda: WorkerThreads(count=1, seconds=_OPEN_SECONDS)
    )
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _service: InterviewService | None = None

    async def service(self) -> InterviewService:
        """Return the service.

        Raises `ConfigurationError` for an unusable protocol or key, or a file that others could
        read, and `StoreUnusable` for the file.
        """
        async with self._lock:
            if self._service is None:
                try:
                    store = await self._threads.run(self._open)
                except WorkTimedOut:
                    raise store_unusable() from None
                protocols = load_protocols(self.protocol_folders)
                self._service = InterviewService(
                    protocols, store, self.agents(), danger=self.danger, limits=self.limits
                )
        return self._service

    def _open(self) -> InterviewStore:
        with translated():
            return InterviewStore(self.rows())


def log_unavailable(error: AssessmentServiceError) -> None:
    """Tell the operator why interviews cannot be kept, as far as it fits into a line."""
    logger.error(
        "interviews_unavailable", error_type=type(error).__name__, reason=str(error)[:_MOST_REASON]
    )


def load_protocols(folders: tuple[Path, ...]) -> dict[str, InterviewProtocol]:
    """Return the built-in protocols and those of the folders, by their ids.

    Raises `ConfigurationError` for one that cannot be used or whose id is taken.
    """
    loaded = {name: load_protocol(name) for name in BUILTIN_PROTOCOLS}
    for folder in folders:
        try:
            protocol = load_protocol(folder)
        except ConfigurationError as error:
            msg = f"INTERVIEW_PROTOCOLS: {error}"
            raise ConfigurationError(msg) from None
        if protocol.id in loaded:
            msg = f"INTERVIEW_PROTOCOLS: two protocols have the id {protocol.id!r}; rename one"
            raise ConfigurationError(msg)
        loaded[protocol.id] = protocol
    return loaded
