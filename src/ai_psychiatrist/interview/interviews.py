"""The interviews of one installation, opened when they are first needed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError, StoreUnusable
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.danger import DangerReader
from ai_psychiatrist.interview.errors import store_unusable
from ai_psychiatrist.interview.limits import InterviewLimits, StoreLimits
from ai_psychiatrist.interview.protocol import BUILTIN_PROTOCOLS, InterviewProtocol, load_protocol
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.store.interview_store import InterviewStore
from ai_psychiatrist.store.key_files import StoreKeys

logger = get_logger(__name__)

_OPEN_SECONDS: Final = 600.0
"""A large file of an earlier version is sealed when it is opened."""
_MOST_REASON: Final = 160


@dataclass(slots=True, kw_only=True)
class Interviews:
    """Opens the file of the interviews once; a process that holds none never makes it."""

    store_file: Path
    keys: StoreKeys
    protocol_folders: tuple[Path, ...]
    """Protocols beside the built-in ones."""
    limits: InterviewLimits
    store_limits: StoreLimits
    agents: Callable[[], InterviewAgentsPort | None]
    """Builds those of the protocols that need a model; `None` when there is none."""
    danger: DangerReader | None
    """Reads free answers for danger beside the rules."""
    _threads: WorkerThreads = field(
        default_factory=lambda: WorkerThreads(count=1, seconds=_OPEN_SECONDS)
    )
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _opened: tuple[InterviewStore, InterviewService] | None = None

    async def service(self) -> InterviewService:
        """Return the service, from which what has expired was removed when the file was opened.

        Raises `ConfigurationError` for an unusable protocol or key, or a file that others could
        read, and `StoreUnusable` for the file.
        """
        async with self._lock:
            if self._opened is None:
                try:
                    store = await self._threads.run(self._open)
                except WorkTimedOut:
                    raise store_unusable() from None
                protocols = load_protocols(self.protocol_folders)
                service = InterviewService(
                    protocols, store, self.agents(), danger=self.danger, limits=self.limits
                )
                self._opened = store, service
        return self._opened[1]

    async def tend(self) -> None:
        """Remove what has expired, where the file is there."""
        if self.store_file.exists():
            try:
                await (await self.service()).remove_expired()
            except (ConfigurationError, StoreUnusable) as error:
                log_unavailable(error)

    def close(self) -> None:
        """Close the file if it was opened."""
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None

    def _open(self) -> InterviewStore:
        store = InterviewStore.open(self.store_file, self.keys, limits=self.store_limits)
        store.remove_expired()
        return store


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
