"""The two metrics that OpenTelemetry's conventions have for clients of generative models."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry.metrics import MeterProvider

from ai_psychiatrist.infrastructure.telemetry.spans import SCOPE
from ai_psychiatrist.infrastructure.telemetry.work import CallWork, Event, Work

TOKEN_BUCKETS: Final = tuple(4**power for power in range(14))
SECOND_BUCKETS: Final = tuple(0.01 * 2**power for power in range(14))
"""Both as the conventions want them."""


class TokenMetrics:
    """Counts the tokens of each call and how long it took."""

    def __init__(self, provider: MeterProvider, *, version: str) -> None:
        """`version`: of this program."""
        meter = provider.get_meter(SCOPE, version)
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
    def watching(self, work: Work) -> Iterator[None]:
        """Count the work at its end, if it is a call."""
        try:
            yield
        finally:
            if isinstance(work, CallWork):
                self._count(work)

    def told(self, event: Event) -> None:
        """Do nothing: only calls count."""

    def _count(self, call: CallWork) -> None:
        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": call.provider,
            "gen_ai.request.model": call.requested,
        }
        failed = {} if call.error is None else {"error.type": str(call.error)}
        self._seconds.record(call.seconds, about | failed)
        for kind, tokens in (("input", call.input_tokens), ("output", call.output_tokens)):
            if tokens is not None:
                self._tokens.record(tokens, about | {"gen_ai.token.type": kind})
