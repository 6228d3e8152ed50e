"""A program with an OpenTelemetry of its own, and all agents traced, which assesses an interview.

It prints every span that it has got, whole.
"""

import asyncio
import json
import sys

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

import ai_psychiatrist as ap


async def main(transcript: str) -> None:
    """Assess, inside a span of the host."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    Agent.instrument_all()
    with provider.get_tracer("host").start_as_current_span("host's own"):
        await Agent(TestModel(), name="the host's").run("Hello.")
        async with ap.open() as app:
            result = await app.assess(transcript)
    assert result.status == "complete", result.status
    sys.stdout.write(json.dumps([described(span) for span in exporter.get_finished_spans()]))


def described(span: ReadableSpan) -> dict[str, object]:
    """Return all that a span says, and its place in the tree."""
    context = span.get_span_context()
    assert context is not None
    return {
        "name": span.name,
        "id": trace.format_span_id(context.span_id),
        "trace": trace.format_trace_id(context.trace_id),
        "parent": span.parent and trace.format_span_id(span.parent.span_id),
        "whole": span.to_json(),
    }


asyncio.run(main(sys.argv[1]))
