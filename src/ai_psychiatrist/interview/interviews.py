"""The interviews of one installation, opened when they are first needed."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import AssessmentServiceError, ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.repeating import HOUR_SECONDS, repeating
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.danger import DangerReader
from ai_psychiatrist.interview.errors import StoreUnusable
from ai_psychiatrist.interview.limits import InterviewLimits, StoreLimits
from ai_psychiatrist.interview.protocol import BUILTIN_PROTOCOLS, InterviewProtocol, load_protocol
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.store.interview_store import InterviewStore
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys

logger = get_logger(__name__)

_OPEN_SECONDS: Final = 600.0
"""A large file of an earlier version is sealed when it is opened."""
_MOST_REASON: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewOptions:
    """What interviews are held with, and where they are kept."""

    store_file: Path
    keys: StoreKeys
    protocol_folders: tuple[Path, ...]
    """Protocols beside the built-in ones."""
    limits: InterviewLimits
    store_limits: StoreLimits


class Interviews:
    """Opens the file of the interviews once; a process that holds none never makes it."""

    def __init__(
        self,
        options: InterviewOptions,
        agents: Callable[[], InterviewAgentsPort | None],
        danger: DangerReader | None = None,
    ) -> None:
        """`agents` builds those of the protocols that need a model; `None` when there is none.

        `danger`: reads free answers for danger beside the rules.
        """
        self._options = options
        self._agents = agents
        self._danger = danger
        self._threads = WorkerThreads(count=1, seconds=_OPEN_SECONDS)
        self._lock = asyncio.Lock()
        self._opened: tuple[InterviewStore, InterviewService] | None = None

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
                    raise StoreUnusable from None
                options = self._options
                protocols = load_protocols(options.protocol_folders)
                service = InterviewService(
                    protocols, store, self._agents(), danger=self._danger, limits=options.limits
                )
                self._opened = store, service
        return self._opened[1]

    def tended(self) -> AbstractAsyncContextManager[None]:
        """Remove what has expired at once, and every hour while the block runs."""
        return repeating(self._tend, HOUR_SECONDS)

    def close(self) -> None:
        """Close the file if it was opened."""
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None

    def _open(self) -> InterviewStore:
        options = self._options
        store = InterviewStore.open(options.store_file, options.keys, limits=options.store_limits)
        store.remove_expired()
        return store

    async def _tend(self) -> None:
        if self._options.store_file.exists():
            try:
                await (await self.service()).remove_expired()
            except (ConfigurationError, StoreUnusable) as error:
                log_unavailable(error)


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
