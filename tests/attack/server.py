"""The real server under attack, in a process of its own."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.attack.callers import Call, ask
from tests.integration.command import Serving


@contextmanager
def attacked(settings: Mapping[str, str] | None = None) -> Iterator[Serving]:
    """Serve with these settings on a free port; what it keeps is gone after the block."""
    with (
        TemporaryDirectory() as folder,
        Serving(
            Path(folder), {"LOG_LEVEL": "WARNING"} | dict(settings or {}), is_afresh=True
        ) as serving,
    ):
        # It tells its address before it has read what its first answers take.
        asyncio.run(ask(serving.url, Call(path="/healthz", method="GET")))
        yield serving
