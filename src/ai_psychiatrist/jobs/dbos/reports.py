"""What the library logs goes to our log by name alone: its sentences quote statements."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

_LIBRARY: Final = "dbos"


@contextmanager
def reported_by_name() -> Iterator[None]:
    """Let each warning and error of the library be one line without its words."""
    library = logging.getLogger(_LIBRARY)
    before = (library.handlers, library.level, library.propagate)
    library.handlers, library.propagate = [_NameOnlyHandler(level=logging.WARNING)], False
    library.setLevel(logging.WARNING)
    try:
        yield
    finally:
        library.handlers, library.level, library.propagate = before


class _NameOnlyHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[0] if record.exc_info else None
        log = logger.error if record.levelno >= logging.ERROR else logger.warning
        log(
            "library_log",
            library_logger=f"{record.name}.{record.module}",
            error_type=None if error is None else error.__name__,
        )
