"""Settings of what is seen of the program from outside."""

from pydantic import Field

from ai_psychiatrist.llm.settings import Options, WebAddress


class TelemetrySettings(Options):
    """What is seen of the program from outside; never a word of an interview."""

    export: bool = Field(
        default=False,
        description="Send OpenTelemetry spans and metrics to a collector; extra `telemetry`.",
    )
    endpoint: WebAddress | None = Field(
        default=None,
        description="Its address for OTLP over HTTP; empty: as OTEL_EXPORTER_OTLP_ENDPOINT says.",
    )
    metrics: bool = Field(
        default=False, description="Answer /metrics for Prometheus; extra `telemetry`."
    )
