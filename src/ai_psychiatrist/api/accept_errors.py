"""What the event loop reports when it cannot take a connection: thousands of times a second."""

import asyncio
import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ai_psychiatrist.api.rare_event import RareEvent

_OUT_OF_RESOURCES: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


@contextmanager
def few_accept_errors() -> Iterator[None]:
    """Let the running loop tell such an error at most once a minute while the block runs."""
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
