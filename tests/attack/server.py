"""The real server under attack, in a process of its own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

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
        yield serving
