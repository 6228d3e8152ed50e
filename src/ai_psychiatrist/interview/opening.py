"""The interviews of one installation, opened when they are first needed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.limits import InterviewLimits, StoreLimits
from ai_psychiatrist.interview.protocol import (
    BUILTIN_PROTOCOLS,
    InterviewProtocol,
    load_protocol,
)
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.store.keys import StoreKeys
from ai_psychiatrist.interview.store.store import InterviewStore


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
        self, options: InterviewOptions, agents: Callable[[], InterviewAgentsPort | None]
    ) -> None:
        """`agents` builds those of the protocols that need a model; `None` when there is none."""
        self._options = options
        self._agents = agents
        self._opened: tuple[InterviewStore, InterviewService] | None = None

    def service(self) -> InterviewService:
        """Return the service.

        Raises `ConfigurationError` for an unusable protocol or key, `StoreUnusable` for the file.
        """
        if self._opened is None:
            options = self._options
            protocols = load_protocols(options.protocol_folders)
            store = InterviewStore.open(
                options.store_file, options.keys, limits=options.store_limits
            )
            service = InterviewService(protocols, store, self._agents(), limits=options.limits)
            self._opened = store, service
        return self._opened[1]

    def close(self) -> None:
        """Close the file if it was opened."""
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None


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
