"""What is logged inside a block, before anything of it is dropped."""

from collections.abc import Iterator
from contextlib import contextmanager

from structlog.testing import LogCapture
from structlog.typing import EventDict

from ai_psychiatrist.infrastructure.logging import logging_to


@contextmanager
def captured_events() -> Iterator[list[EventDict]]:
    """Yield the list of the events, each with its `log_level`."""
    capture = LogCapture()
    with logging_to(capture):
        yield capture.entries
