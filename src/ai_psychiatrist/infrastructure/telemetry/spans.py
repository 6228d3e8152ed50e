"""Spans and metrics of OpenTelemetry, named by its conventions for generative models.

No span has a word of what is asked or answered: names, codes and counts alone. Exceptions are not
recorded, because their texts are not ours.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from ai_psychiatrist.domain.failures import AttemptOutcome
from ai_psychiatrist.infrastructure.telemetry.work import (
    AgentWork,
    AssessmentWork,
    CallWork,
    Event,
    RequestWork,
    Work,
)

SCOPE: Final = "ai_psychiatrist"
TOKEN_BUCKETS: Final = tuple(4**power for power in range(14))
SECOND_BUCKETS: Final = tuple(0.01 * 2**power for power in range(14))
"""Both as the conventions want them."""
_PROPAGATOR: Final = TraceContextTextMapPropagator()
_Attributes = dict[str, AttributeValue | None]


class Traces:
    """Makes a span of each piece of work, and measures each call to a model.

    Spans of work inside other work are its children.
    """

    def __init__(self, tracers: TracerProvider, meters: MeterProvider, *, version: str) -> None:
        """`version`: of this program."""
        self._tracer = tracers.get_tracer(SCOPE, version)
        meter = meters.get_meter(SCOPE, version)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of a call to a model.",
            explicit_bucket_boundaries_advisory=TOKEN_BUCKETS,
        )
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="How long a call to a model took.",
            explicit_bucket_boundaries_advisory=SECOND_BUCKETS,
        )

    @contextmanager
    def span(self, work: Work) -> Iterator[None]:
        """Hold a span open around the work, and describe the work when it ends."""
        name, attributes = _described(work)
        with self._tracer.start_as_current_span(
            name,
            context=_parent(work),
            kind=_kind(work),
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            finally:
                name, attributes = _described(work)
                span.update_name(name)
                span.set_attributes(attributes)
                if work.error is not None:
                    span.set_attribute("error.type", str(work.error))
                    span.set_status(Status(StatusCode.ERROR))

    def measure(self, work: Work | Event) -> None:
        """Record how long a call took and its tokens; all else has no such metric."""
        if not isinstance(work, CallWork):
            return
        asked = _asked(work)
        failed = {} if work.error is None else {"error.type": str(work.error)}
        self._seconds.record(work.seconds, asked | failed)
        for kind, tokens in (("input", work.input_tokens), ("output", work.output_tokens)):
            if tokens is not None:
                self._tokens.record(tokens, asked | {"gen_ai.token.type": kind})


def trace_ids() -> Mapping[str, str]:
    """Return the ids of the span that is open."""
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {
        "trace_id": trace.format_trace_id(context.trace_id),
        "span_id": trace.format_span_id(context.span_id),
    }


def _parent(work: Work) -> Context | None:
    """Return the caller's span, where this process has none around the request already.

    Of what a caller sends only these ids are taken on: `tracestate` and baggage hold any text.
    """
    if not isinstance(work, RequestWork) or work.traceparent is None:
        return None
    if trace.get_current_span().get_span_context().is_valid:
        return None
    return _PROPAGATOR.extract({"traceparent": work.traceparent})


def _kind(work: Work) -> SpanKind:
    if isinstance(work, RequestWork):
        return SpanKind.SERVER
    if isinstance(work, CallWork) and not work.is_local:
        return SpanKind.CLIENT
    return SpanKind.INTERNAL


def _described(work: Work) -> tuple[str, dict[str, AttributeValue]]:
    """Return the name of the span, and what is known of the work by now."""
    match work:
        case RequestWork():
            name = work.method if work.route is None else f"{work.method} {work.route}"
            found: _Attributes = {
                "http.request.method": work.method,
                "http.route": work.route,
                "http.response.status_code": work.status or None,
            }
        case AssessmentWork():
            name = "invoke_workflow assessment"
            found = {
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.agent.name": "assessment",
                "ai_psychiatrist.assessment.mode": work.mode,
                "ai_psychiatrist.assessment.status": work.status,
                "ai_psychiatrist.assessment.calls": work.calls,
                "ai_psychiatrist.assessment.failures": work.failures,
            }
        case AgentWork():
            name = f"invoke_agent {work.agent}"
            found = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": work.provider,
                "gen_ai.agent.name": work.agent,
                "ai_psychiatrist.agent.calls": len(work.attempts),
                "ai_psychiatrist.agent.rejections": [
                    str(attempt.code)
                    for attempt in work.attempts
                    if attempt.outcome is AttemptOutcome.REJECTED
                ],
            }
        case CallWork():
            name = f"chat {work.requested}"
            found = {
                **_asked(work),
                "gen_ai.agent.name": work.agent,
                "gen_ai.response.model": work.answered_by,
                "gen_ai.response.finish_reasons": work.finish_reason and [work.finish_reason],
                "gen_ai.usage.input_tokens": work.input_tokens,
                "gen_ai.usage.output_tokens": work.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": work.cache_read_tokens or None,
                "http.response.status_code": work.http_status,
            }
    return name, {key: value for key, value in found.items() if value is not None}


def _asked(call: CallWork) -> dict[str, AttributeValue]:
    """Return the model that a call asks, as spans and metrics name it."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": call.provider,
        "gen_ai.request.model": call.requested,
    }
