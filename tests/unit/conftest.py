"""What the unit tests share."""

import logging
from collections.abc import Iterator

import pytest

from ai_psychiatrist.infrastructure.logging import _OfProcess


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Take back what setting up the logging changes in the process."""
    root = logging.getLogger()
    handlers, level, log = root.handlers, root.level, _OfProcess.log
    yield
    root.handlers = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    _OfProcess.log = log
