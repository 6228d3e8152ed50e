"""How an application is watched, by its settings: spans, and counts for Prometheus.

Their libraries are loaded only where the settings want them.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from ai_psychiatrist import __version__
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.telemetry.settings import TelemetrySettings
from ai_psychiatrist.infrastructure.telemetry.watching import Telemetry

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from ai_psychiatrist.infrastructure.telemetry.prometheus import PrometheusCounts

_SERVICE: Final = "ai-psychiatrist"
_CURE: Final = "needs the extra `telemetry`: pip install 'ai-psychiatrist[telemetry]'"


@asynccontextmanager
async def open_telemetry(settings: TelemetrySettings) -> AsyncIterator[Telemetry]:
    """Open what the settings want, and at the end send what is left of it.

    An OpenTelemetry that the process has already set up is given the spans, whatever the settings
    say of exporting. Raises `ConfigurationError` where a library is missing.
    """
    async with AsyncExitStack() as stack:
        prometheus = _prometheus(settings)
        counters = () if prometheus is None else (prometheus.count,)
        providers = await _providers(settings, stack)
        if providers is None:
            yield Telemetry(counters=counters, prometheus=prometheus)
            return
        from ai_psychiatrist.infrastructure.telemetry.spans import (  # noqa: PLC0415
            Traces,
            trace_ids,
        )

        traces = Traces(*providers, version=__version__)
        yield Telemetry(
            span=traces.span,
            counters=(*counters, traces.measure),
            trace_ids=trace_ids,
            prometheus=prometheus,
        )


async def _providers(
    settings: TelemetrySettings, stack: AsyncExitStack
) -> "tuple[TracerProvider, MeterProvider] | None":
    of_process = _providers_of_process()
    if of_process is not None or not settings.export:
        return of_process
    try:
        from ai_psychiatrist.infrastructure.telemetry.otlp import exporting  # noqa: PLC0415
    except ModuleNotFoundError:
        raise ConfigurationError(f"TELEMETRY_EXPORT {_CURE}") from None
    return await stack.enter_async_context(
        exporting(settings.endpoint, name=_SERVICE, version=__version__)
    )


def _providers_of_process() -> "tuple[TracerProvider, MeterProvider] | None":
    """Return the tracer provider that the process has set up, if it makes spans."""
    # Whoever has done so has imported it; without it there is nothing to ask.
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import metrics, trace  # noqa: PLC0415

    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider, metrics.get_meter_provider()


def _prometheus(settings: TelemetrySettings) -> "PrometheusCounts | None":
    if not settings.metrics:
        return None
    try:
        from ai_psychiatrist.infrastructure.telemetry.prometheus import (  # noqa: PLC0415
            PrometheusCounts,
        )
    except ModuleNotFoundError:
        raise ConfigurationError(f"TELEMETRY_METRICS {_CURE}") from None
    return PrometheusCounts()
