"""Who watches an application, by its settings: whoever makes spans, and whoever counts.

Their libraries are loaded where somebody wants them alone.
"""

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ai_psychiatrist import __version__
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.telemetry.settings import TelemetrySettings
from ai_psychiatrist.infrastructure.telemetry.watching import Watchers

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from ai_psychiatrist.infrastructure.telemetry.prometheus_counts import PrometheusCounts

_SERVICE: Final = "ai-psychiatrist"
_CURE: Final = "the extra `telemetry`: pip install 'ai-psychiatrist[telemetry]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """Who watches, and what can be asked for."""

    watchers: Watchers = ()
    counts: "PrometheusCounts | None" = None
    """For Prometheus; `None` where the settings want none."""
    trace_ids: Callable[[], Mapping[str, str]] = dict
    """Ids of the span that is open, for the log."""


@asynccontextmanager
async def open_telemetry(settings: TelemetrySettings) -> AsyncIterator[Telemetry]:
    """Open what the settings want, and at the end send what is left of it.

    An OpenTelemetry that the process has already set up is given the spans, whatever the settings
    say of exporting. Raises `ConfigurationError` where a library is missing.
    """
    async with AsyncExitStack() as stack:
        counts = _counts(settings)
        counting = () if counts is None else (counts,)
        providers = await _providers(settings, stack)
        if providers is None:
            yield Telemetry(watchers=counting, counts=counts)
            return
        from ai_psychiatrist.infrastructure.telemetry.spans import Spans  # noqa: PLC0415
        from ai_psychiatrist.infrastructure.telemetry.token_metrics import (  # noqa: PLC0415
            TokenMetrics,
        )

        tracers, meters = providers
        spans = Spans(tracers, version=__version__)
        metrics = TokenMetrics(meters, version=__version__)
        yield Telemetry(
            # The span is the last to begin and the first to end: its time is the work's alone.
            watchers=(metrics, *counting, spans),
            counts=counts,
            trace_ids=spans.trace_ids,
        )


async def _providers(
    settings: TelemetrySettings, stack: AsyncExitStack
) -> "tuple[TracerProvider, MeterProvider] | None":
    of_process = _providers_of_process()
    if of_process is not None or not settings.export:
        return of_process
    _require("opentelemetry.exporter.otlp.proto.http", "TELEMETRY_EXPORT")
    from ai_psychiatrist.infrastructure.telemetry.otlp import Exported  # noqa: PLC0415

    exported = Exported(settings.endpoint, name=_SERVICE, version=__version__)
    stack.push_async_callback(exported.close)
    return exported.tracers, exported.meters


def _providers_of_process() -> "tuple[TracerProvider, MeterProvider] | None":
    """Return what somebody has set up in this process, if it makes spans."""
    # Whoever has done so has imported it; without it there is nothing to ask.
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import metrics, trace  # noqa: PLC0415

    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider, metrics.get_meter_provider()


def _counts(settings: TelemetrySettings) -> "PrometheusCounts | None":
    if not settings.metrics:
        return None
    _require("prometheus_client", "TELEMETRY_METRICS")
    from ai_psychiatrist.infrastructure.telemetry.prometheus_counts import (  # noqa: PLC0415
        PrometheusCounts,
    )

    return PrometheusCounts()


def _require(library: str, variable: str) -> None:
    try:
        is_there = find_spec(library) is not None
    except ModuleNotFoundError:
        is_there = False
    if not is_there:
        msg = f"{variable} needs {_CURE}"
        raise ConfigurationError(msg)
