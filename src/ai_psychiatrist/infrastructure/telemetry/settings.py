"""Options of what is seen of the program from outside."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options, WebAddress


class TelemetrySettings(Options):
    """Metrics and traces, which never contain words of an interview."""

    model_config = SettingsConfigDict(env_prefix="TELEMETRY_")

    export: bool = Field(
        default=False,
        description="Send OpenTelemetry spans and metrics to a collector; extra `telemetry`.",
    )
    endpoint: WebAddress | None = Field(
        default=None,
        description=(
            "Address of the collector for OTLP over HTTP; empty: OTEL_EXPORTER_OTLP_ENDPOINT."
        ),
    )
    metrics: bool = Field(
        default=False, description="Serve /metrics for Prometheus; extra `telemetry`."
    )
    worker_port: int = Field(
        default=0,
        ge=0,
        le=65_535,
        description="Port of a worker for Prometheus, without a key; 0: none.",
    )
    worker_address: str = Field(
        default="127.0.0.1",
        description="Address of that port; use another one only in a private network.",
    )
