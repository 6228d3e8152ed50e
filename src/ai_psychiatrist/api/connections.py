"""What a server says when it can take no more connections."""

import asyncio
import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

_SILENCE_SECONDS: Final = 60.0
_OUT_OF_RESOURCES: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


@contextmanager
def few_accept_errors() -> Iterator[None]:
    """Let the running loop log at most once a minute that it cannot take a connection.

    By itself it would log that thousands of times a second.
    """
    loop = asyncio.get_running_loop()
    earlier = loop.get_exception_handler()
    refused = RareEvent("connections_refused", reason="out_of_file_descriptors")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _OUT_OF_RESOURCES and "socket" in context:
            refused.happened()
        elif earlier is not None:
            earlier(loop, context)
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(earlier)


class RareEvent:
    """An event that an attacker could repeat at will, logged at most once a minute with a count."""

    def __init__(self, name: str, *, reason: str) -> None:
        self._name = name
        self._reason = reason
        self._count = 0
        self._silent_until = 0.0

    def happened(self) -> None:
        """Count it, and log it if that is due."""
        self._count += 1
        if time.monotonic() >= self._silent_until:
            logger.warning(self._name, reason=self._reason, count=self._count)
            self._count = 0
            self._silent_until = time.monotonic() + _SILENCE_SECONDS
