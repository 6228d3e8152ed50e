"""A fake collector of OpenTelemetry on the loopback interface: OTLP over HTTP, as it is sent."""

import asyncio
import gzip
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import HistogramDataPoint, Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.fakes.http_connection import HttpCall, in_thread, listening, response_head

TRACES = "/v1/traces"
METRICS = "/v1/metrics"
_ENDLESS = 10**12
_PIECE = b"x" * 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSeen:
    """A span as a collector got it."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    """Empty for the first one of a trace."""
    is_error: bool
    begin: int
    end: int
    """Both in nanoseconds."""
    attributes: dict[str, object]


class OtlpCollector:
    """Take what is sent while the `with` block runs."""

    def __init__(
        self, *, status: int = 200, answers: bool = True, is_endless: bool = False
    ) -> None:
        """`status`: of every answer; `answers`: whether there is one at all.

        `is_endless`: an answer goes on until whoever asked hangs up.
        """
        self.status = status
        self.answers = answers
        self.is_endless = is_endless
        self.is_hung_up = threading.Event()
        self.bodies: list[tuple[str, bytes]] = []
        """Path and content of all requests, decompressed."""
        self.url = ""
        self._running = in_thread(listening(self._collect))

    async def _collect(self, call: HttpCall, transport: asyncio.Transport) -> None:
        is_packed = call.headers.get("content-encoding") == "gzip"
        self.bodies.append((call.path, gzip.decompress(call.body) if is_packed else call.body))
        if not self.answers:
            return
        length = _ENDLESS if self.is_endless else 0
        elsewhere = {"Location": f"{self.url}/elsewhere"}
        transport.write(response_head(self.status, "text/plain", length, elsewhere))
        if self.is_endless:
            await self._go_on(transport)

    async def _go_on(self, transport: asyncio.Transport) -> None:
        try:
            while not transport.is_closing():
                if transport.get_write_buffer_size() < len(_PIECE):
                    transport.write(_PIECE)
                await asyncio.sleep(0.001)
        finally:
            self.is_hung_up.set()

    def __enter__(self) -> Self:
        """Begin to listen."""
        self.url = self._running.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        self._running.__exit__(kind, error, trace)

    @property
    def spans(self) -> list[SpanSeen]:
        """All spans so far, in the order in which they began."""
        found = [_seen(span) for span in self.raw_spans()]
        return sorted(found, key=lambda span: span.begin)

    def raw_spans(self) -> Iterator[Span]:
        """Yield the spans with all that they hold."""
        for path, body in self.bodies:
            if path == TRACES:
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    for scope in resource.scope_spans:
                        yield from scope.spans

    def metric_names(self) -> set[str]:
        """Return the names of all metrics."""
        return {metric.name for metric in self._metrics()}

    def points(self, metric: str) -> list[tuple[dict[str, object], HistogramDataPoint]]:
        """Return the points of a histogram with their attributes."""
        return [
            (_values(point.attributes), point)
            for one in self._metrics()
            if one.name == metric
            for point in one.histogram.data_points
        ]

    def _metrics(self) -> Iterator[Metric]:
        for path, body in self.bodies:
            if path == METRICS:
                for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                    for scope in resource.scope_metrics:
                        yield from scope.metrics

    def resources(self) -> list[dict[str, object]]:
        """Return what each batch of spans says of who sends it."""
        return [
            _values(resource.resource.attributes)
            for path, body in self.bodies
            if path == TRACES
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        ]

    def everything(self) -> str:
        """Return all that was sent, each byte a character: strings stand in it as they are."""
        return "\n".join(body.decode("latin-1") for _, body in self.bodies)


def _seen(span: Span) -> SpanSeen:
    return SpanSeen(
        name=span.name,
        kind=span.kind,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        is_error=span.status.code == 2,
        begin=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        attributes=_values(span.attributes),
    )


def _values(attributes: Iterable[KeyValue]) -> dict[str, object]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: AnyValue) -> object:
    if value.HasField("array_value"):
        return [_value(one) for one in value.array_value.values]
    return getattr(value, value.WhichOneof("value") or "string_value")
