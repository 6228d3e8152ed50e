"""What setting up the logging changes in the process, taken back."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def log_as_it_was() -> Iterator[None]:
    """Take back after the block what it changes of the logging."""
    from ai_psychiatrist.infrastructure.logging import _OfProcess  # noqa: PLC0415

    root = logging.getLogger()
    handlers, level, log = root.handlers, root.level, _OfProcess.log
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        logging.captureWarnings(capture=False)
        _OfProcess.log = log
