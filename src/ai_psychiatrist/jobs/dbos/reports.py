"""What the library logs goes to our log by name alone: its sentences quote statements."""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

_LIBRARY: Final = "dbos"


def reported_by_name() -> AbstractContextManager[None]:
    """Let each warning and error of the library be one line without its words."""
    return _handled_by(_NameOnlyHandler(level=logging.WARNING))


def unreported() -> AbstractContextManager[None]:
    """Let the library be silent, for whoever tells by themselves what it raises."""
    return _handled_by(logging.NullHandler())


@contextmanager
def _handled_by(handler: logging.Handler) -> Iterator[None]:
    library = logging.getLogger(_LIBRARY)
    before = (library.handlers, library.level, library.propagate)
    library.handlers, library.propagate = [handler], False
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
