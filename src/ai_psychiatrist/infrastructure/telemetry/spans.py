"""Spans of OpenTelemetry, named and described by its conventions for generative models.

No span has a word of what is asked or answered: names, codes and counts alone. Exceptions are not
recorded, because their texts are not ours.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
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
_PROPAGATOR: Final = TraceContextTextMapPropagator()
_Attributes = dict[str, AttributeValue | None]


class Spans:
    """Makes a span of each piece of work; those of work within are its children."""

    def __init__(self, provider: TracerProvider, *, version: str) -> None:
        """`version`: of this program."""
        self._tracer = provider.get_tracer(SCOPE, version)

    @contextmanager
    def watching(self, work: Work) -> Iterator[None]:
        """Hold a span open around the work."""
        with self._tracer.start_as_current_span(
            _name(work),
            context=_parent(work),
            kind=_kind(work),
            attributes=_known(_at_start(work)),
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            finally:
                _end(span, work)

    def told(self, event: Event) -> None:
        """Do nothing: what is told of is in the spans already."""

    def trace_ids(self) -> Mapping[str, str]:
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


def _name(work: Work) -> str:
    match work:
        case RequestWork():
            return work.method
        case AssessmentWork():
            return "invoke_workflow assessment"
        case AgentWork():
            return f"invoke_agent {work.agent}"
        case CallWork():
            return f"chat {work.requested}"


def _kind(work: Work) -> SpanKind:
    if isinstance(work, RequestWork):
        return SpanKind.SERVER
    if isinstance(work, CallWork) and not work.is_local:
        return SpanKind.CLIENT
    return SpanKind.INTERNAL


def _at_start(work: Work) -> _Attributes:
    match work:
        case RequestWork():
            return {"http.request.method": work.method}
        case AssessmentWork():
            return {
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.agent.name": "assessment",
                "ai_psychiatrist.assessment.mode": work.mode,
            }
        case AgentWork():
            return {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": work.provider,
                "gen_ai.agent.name": work.agent,
            }
        case CallWork():
            return {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": work.provider,
                "gen_ai.request.model": work.requested,
                "gen_ai.agent.name": work.agent,
            }


def _at_end(work: Work) -> _Attributes:
    match work:
        case RequestWork():
            return {
                "http.route": work.route,
                "http.response.status_code": work.status or None,
            }
        case AssessmentWork():
            return {
                "ai_psychiatrist.assessment.status": work.status,
                "ai_psychiatrist.assessment.calls": work.calls,
                "ai_psychiatrist.assessment.failures": work.failures,
            }
        case AgentWork():
            return {
                "ai_psychiatrist.agent.calls": len(work.attempts),
                "ai_psychiatrist.agent.rejections": [
                    str(attempt.code)
                    for attempt in work.attempts
                    if attempt.outcome is AttemptOutcome.REJECTED
                ],
            }
        case CallWork():
            return {
                "gen_ai.response.model": work.answered_by,
                "gen_ai.response.finish_reasons": work.finish_reason and [work.finish_reason],
                "gen_ai.usage.input_tokens": work.input_tokens,
                "gen_ai.usage.output_tokens": work.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": work.cache_read_tokens or None,
                "http.response.status_code": work.http_status,
            }


def _end(span: Span, work: Work) -> None:
    span.set_attributes(_known(_at_end(work)))
    if isinstance(work, RequestWork) and work.route is not None:
        span.update_name(f"{work.method} {work.route}")
    if work.error is not None:
        span.set_attribute("error.type", str(work.error))
        span.set_status(Status(StatusCode.ERROR))


def _known(attributes: _Attributes) -> dict[str, AttributeValue]:
    return {name: value for name, value in attributes.items() if value is not None}
