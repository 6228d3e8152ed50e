"""What OpenTelemetry's library logs, in our words and once each: its own quote what was set."""

import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger

logger = get_logger(__name__)

_NOT_SENT: Final = (
    "the collector is away or does not take all spans and metrics: see TELEMETRY_ENDPOINT, "
    "OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS"
)
_LIBRARY: Final = "opentelemetry"
_VARIABLE: Final = re.compile(r"OTEL_[A-Z_]{1,60}")
_MOST_NAMED: Final = 90
"""Characters; a longer reason is not logged."""


class ExporterReports(logging.Handler):
    """Takes the place of the library's own log until it is closed."""

    def __init__(self) -> None:
        """Begin at once."""
        super().__init__(level=logging.WARNING)
        self._is_told = False
        self._telling = threading.Lock()
        library = logging.getLogger(_LIBRARY)
        library.addHandler(self)
        library.propagate = False

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002  its words are not shown
        """Say the first time that something was not sent."""
        with self._telling:
            is_first, self._is_told = not self._is_told, True
        if is_first:
            logger.warning("telemetry_not_sent", reason=_NOT_SENT)

    def end(self) -> None:
        """Let the library log by itself again, unless another application takes its place too."""
        library = logging.getLogger(_LIBRARY)
        library.removeHandler(self)
        library.propagate = not any(isinstance(one, ExporterReports) for one in library.handlers)


@contextmanager
def variables_read() -> Iterator[None]:
    """Name variables that the library cannot use while it reads them in the block.

    Raises `ConfigurationError` where it does not go on without them.
    """
    found = _Found(level=logging.WARNING)
    library = logging.getLogger(_LIBRARY)
    before = (library.handlers, library.propagate)
    library.handlers, library.propagate = [found], False
    try:
        yield
    except ValueError as error:
        raise ConfigurationError(_cure(str(error))) from None
    finally:
        library.handlers, library.propagate = before
    for reason in found.reasons:
        logger.warning("telemetry_variable_ignored", reason=reason)


class _Found(logging.Handler):
    def __init__(self, level: int) -> None:
        super().__init__(level=level)
        self.reasons: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.reasons[_cure(record.getMessage())] = None


def _cure(said: str) -> str:
    """Return which variables to look at: the one that the library names, or all that are set."""
    names = [name for name in sorted(os.environ) if _VARIABLE.fullmatch(name)]
    named = ", ".join([name for name in names if name in said] or names)
    which = named if len(named) <= _MOST_NAMED else "OTEL_*"
    return f"OpenTelemetry cannot use a value that is set: see {which}"
