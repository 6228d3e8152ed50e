"""Sends spans and metrics to a collector by OTLP over HTTP, in threads of its own.

A collector that is away or slow holds up nobody: what it does not take is dropped.
"""

import asyncio
import threading
from contextlib import suppress
from typing import Final

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from ai_psychiatrist.infrastructure.telemetry.brief_session import BriefSession
from ai_psychiatrist.infrastructure.telemetry.exporter_reports import (
    ExporterReports,
    variables_read,
)

LONGEST_FLUSH_SECONDS: Final = 5.0
"""What the end of a process waits for, at most, until a collector has taken the last spans."""


class Exported:
    """A provider of tracers and one of meters, whose spans and metrics go to a collector.

    The standard variables of OpenTelemetry hold: OTEL_EXPORTER_OTLP_ENDPOINT and _HEADERS,
    OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and their like.
    """

    def __init__(self, endpoint: str | None, *, name: str, version: str) -> None:
        """`endpoint`: the collector's address; `None`: as the standard variables say.

        `name`, `version`: of this service, where those variables name none. Raises
        `ConfigurationError` where the library cannot use one of them.
        """
        with variables_read():
            self._make(endpoint, name=name, version=version)
        self._reports = ExporterReports()

    def _make(self, endpoint: str | None, *, name: str, version: str) -> None:
        resource = _resource(name, version)
        spans, metrics = _signal_urls(endpoint)
        self.tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        to_collector = OTLPSpanExporter(spans, session=BriefSession())
        self.tracers.add_span_processor(BatchSpanProcessor(to_collector))
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(metrics, session=BriefSession()))
        self.meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)

    async def close(self) -> None:
        """Send what is left, and end; waits for a collector no longer than some seconds."""
        loop, is_sent = asyncio.get_running_loop(), asyncio.Event()

        def shut_down(provider: TracerProvider | MeterProvider) -> None:
            with suppress(Exception):  # it is the end, and the library has logged what it was
                provider.shutdown()

        def end() -> None:
            both = [
                threading.Thread(target=shut_down, args=(provider,), daemon=True)
                for provider in (self.tracers, self.meters)
            ]
            for thread in both:
                thread.start()
            for thread in both:
                thread.join()
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(is_sent.set)

        # Threads of an executor would be waited for when the process ends.
        threading.Thread(target=end, daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_FLUSH_SECONDS):
                await is_sent.wait()
        self._reports.end()


def _resource(name: str, version: str) -> Resource:
    named = Resource.create()
    if not str(named.attributes[SERVICE_NAME]).startswith("unknown_service"):
        return named
    return named.merge(Resource({SERVICE_NAME: name, SERVICE_VERSION: version}))


def _signal_urls(endpoint: str | None) -> tuple[str | None, str | None]:
    if endpoint is None:
        return None, None
    base = endpoint.rstrip("/")
    return f"{base}/v1/traces", f"{base}/v1/metrics"
