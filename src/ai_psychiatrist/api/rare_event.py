"""An event that an attacker could repeat at will, and a log that must not grow with it."""

import time
from typing import Final

from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

_SILENCE_SECONDS: Final = 60.0


class RareEvent:
    """Logs an event at most once a minute, with how often it has happened since the last line."""

    def __init__(self, name: str, *, reason: str) -> None:
        self._name = name
        self._reason = reason
        self._count = 0
        self._silent_until = 0.0

    def happened(self) -> None:
        """Count it, and tell it if that is due."""
        self._count += 1
        if time.monotonic() >= self._silent_until:
            logger.warning(self._name, reason=self._reason, count=self._count)
            self._count = 0
            self._silent_until = time.monotonic() + _SILENCE_SECONDS
