"""A program with an OpenTelemetry of its own, spans and logs, which serves our application.

It prints every span, log record and metric that it has got, whole.
"""

import asyncio
import sys

import httpx
from fastapi.exceptions import RequestValidationError
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ai_psychiatrist.api.app import create_app


async def main(words: str) -> None:
    """Send the words in every part of requests that are served, refused and broken."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    records = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(records))
    trace.set_tracer_provider(tracers)
    _logs.set_logger_provider(loggers)
    metrics.set_meter_provider(MeterProvider([reader]))
    app = create_app()

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError(words)

    @app.get("/invalid")
    async def invalid() -> None:
        raise RequestValidationError([{"loc": ("body",), "msg": words, "input": words}])

    transport = httpx.ASGITransport(app)
    async with (
        app.running(),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        said = {"participant": words}
        for path in ("/healthz", "/broken", "/invalid", f"/v1/interviews/{words}"):
            await client.get(path, params=said)
        await client.post("/full_pipeline", params=said, json={"transcript_text": 3, words: words})
        await client.post("/full_pipeline", params=said, json={"transcript_text": words})
    lines = [span.to_json() for span in spans.get_finished_spans()]
    lines += [one.log_record.body and repr(one) for one in records.get_finished_logs()]
    sys.stdout.write("\n".join([*map(str, lines), repr(reader.get_metrics_data())]))


asyncio.run(main(sys.argv[1]))
