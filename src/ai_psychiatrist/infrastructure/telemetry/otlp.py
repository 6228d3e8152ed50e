"""Sends spans and metrics to a collector by OTLP over HTTP, in threads of the library's own.

A collector that is away or slow holds up no request: what it does not take is dropped.
"""

import asyncio
import logging
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads

logger = get_logger(__name__)

LONGEST_FLUSH_SECONDS: Final = 5.0
"""What the end of a process waits for, at most, until a collector has taken the last spans."""
_NOT_SENT: Final = (
    "the collector is away or does not take all spans and metrics: see TELEMETRY_ENDPOINT, "
    "OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS"
)
_LIBRARY: Final = logging.getLogger("opentelemetry")
_VARIABLE: Final = re.compile(r"OTEL_[A-Z_]{1,60}")
_MOST_NAMED: Final = 90
"""Characters; a longer reason is not logged."""

Providers: TypeAlias = tuple[TracerProvider, MeterProvider]


@asynccontextmanager
async def exporting(endpoint: str | None, *, name: str, version: str) -> AsyncIterator[Providers]:
    """Yield providers whose spans and metrics go to a collector; at the end send what is left.

    The standard variables of OpenTelemetry hold: OTEL_EXPORTER_OTLP_ENDPOINT and _HEADERS,
    OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and their like.

    `endpoint`: the collector's address; `None`: as those variables say. `name`, `version`: of this
    service, where the variables name none. Raises `ConfigurationError` where the library cannot
    use one of them.
    """
    reports = _Reports()
    _LIBRARY.addHandler(reports)
    _LIBRARY.propagate = False
    try:
        providers = _providers(endpoint, name=name, version=version)
        reports.is_reading_variables = False
        try:
            yield providers
        finally:
            threads = WorkerThreads(count=2, seconds=LONGEST_FLUSH_SECONDS)
            await asyncio.gather(
                *(threads.run(provider.shutdown) for provider in providers), return_exceptions=True
            )
    finally:
        _LIBRARY.removeHandler(reports)
        _LIBRARY.propagate = not any(isinstance(one, _Reports) for one in _LIBRARY.handlers)


def _providers(endpoint: str | None, *, name: str, version: str) -> Providers:
    traces, metrics = (
        None if endpoint is None else f"{endpoint.rstrip('/')}/v1/{signal}"
        for signal in ("traces", "metrics")
    )
    try:
        resource = Resource.create()
        if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
            resource = resource.merge(Resource({SERVICE_NAME: name, SERVICE_VERSION: version}))
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(traces, session=_session())))
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(metrics, session=_session()))
        meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    except ValueError as error:
        raise ConfigurationError(_hint(str(error))) from None
    return tracers, meters


def _session() -> requests.Session:
    """Return a session that takes no redirect for success, and reads no body that it need not."""
    session = requests.Session()
    session.stream = True
    session.max_redirects = 0
    return session


class _Reports(logging.Handler):
    """Says in our words, and each once, what the library logs: its own quote what was set."""

    def __init__(self) -> None:
        super().__init__(level=logging.WARNING)
        self.is_reading_variables = True
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Log that a variable cannot be used, or that something was not sent."""
        event, reason = "telemetry_not_sent", _NOT_SENT
        if self.is_reading_variables:
            event, reason = "telemetry_variable_ignored", _hint(record.getMessage())
        if reason not in self._said:
            self._said.add(reason)
            logger.warning(event, reason=reason)


def _hint(message: str) -> str:
    """Return which variables to look at: the one that the library names, or all that are set."""
    names = [name for name in sorted(os.environ) if _VARIABLE.fullmatch(name)]
    named = ", ".join([name for name in names if name in message] or names)
    which = named if len(named) <= _MOST_NAMED else "OTEL_*"
    return f"OpenTelemetry cannot use a value that is set: see {which}"
