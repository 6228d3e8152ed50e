"""Options of what is seen of the program from outside."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options, WebAddress


class TelemetrySettings(Options):
    """What is seen of the program from outside; never a word of an interview."""

    model_config = SettingsConfigDict(env_prefix="TELEMETRY_")

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
    worker_port: int = Field(
        default=0,
        ge=0,
        le=65_535,
        description="Port of a worker for Prometheus, which asks for no key; 0: none.",
    )
    worker_address: str = Field(
        default="127.0.0.1",
        description="Address of that port; another one only on a network of its own.",
    )
