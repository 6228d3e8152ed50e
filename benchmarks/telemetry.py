"""What being seen from outside costs a request: spans to a collector, counts for Prometheus.

One application for each way, in this process; requests to them take turns, so that whatever else
the machine does meets all alike. The control is the application that nobody watches. Counted is the
CPU time of the thread that serves requests; what sends spans has a thread of its own.
"""

import asyncio
import logging
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
from tests.fakes.model_server import ModelServerThread
from tests.fakes.otlp_collector import OtlpCollector
from tests.integration.running_app import model_at

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.infrastructure.telemetry.watching import watched
from ai_psychiatrist.infrastructure.telemetry.work import RequestWork
from benchmarks.transcripts import synthetic_interview

ROUNDS: Final = 15
SHOWN_PER_ASSESSMENT: Final = 20
"""A request, an assessment, nine agents and their calls."""
_REPEATS: Final = 100_000
CONTROL: Final = "nobody watches"


async def request_rows(folder: Path, ways: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a line of the table for each way. `ways`: settings by name."""
    body = {"transcript_text": synthetic_interview(10_000)}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    async with AsyncExitStack() as stack:
        clients = {}
        for number, (name, environment) in enumerate(ways.items()):
            state = {"DATA_STATE_DIR": str(folder / str(number)), "LOG_LEVEL": "ERROR"}
            app = create_app(load_settings({**state, **environment}, None))
            await stack.enter_async_context(app.running())
            clients[name] = await stack.enter_async_context(
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000"
                )
            )
        for round_ in range(-2, ROUNDS):
            for name, client in clients.items():
                began = time.thread_time()
                (await client.post("/full_pipeline", json=body)).raise_for_status()
                if round_ >= 0:
                    spent[name].append((time.thread_time() - began) * 1000)
        read = await clients["counts"].get("/metrics")
        began = time.perf_counter()
        await clients["counts"].get("/metrics")
        reading = (time.perf_counter() - began) * 1000
    lines = [
        f"| {name} | {statistics.median(times):.1f} | {_ratio(times, spent[CONTROL]):.3f} |"
        for name, times in spent.items()
    ]
    return [*lines, "", f"`/metrics`: {len(read.content):,} bytes in {reading:.1f} ms."]


def unwatched_microseconds() -> float:
    """Return what showing a piece of work costs where nobody watches."""
    began = time.perf_counter()
    for _ in range(_REPEATS):
        with watched(RequestWork(method="GET")):
            pass
    return (time.perf_counter() - began) / _REPEATS * 1e6


def _ratio(times: list[float], control: list[float]) -> float:
    """Return the median of the ratios of neighbours in time."""
    return statistics.median(one / other for one, other in zip(times, control, strict=True))


@contextmanager
def _ways() -> Iterator[dict[str, dict[str, str]]]:
    with ModelServerThread() as models, OtlpCollector() as there:
        model = model_at(models.url)
        export = {"TELEMETRY_EXPORT": "true"}
        counts = {"TELEMETRY_METRICS": "true"}
        sent = {**export, "TELEMETRY_ENDPOINT": there.url}
        away = {**export, "TELEMETRY_ENDPOINT": "http://127.0.0.1:9"}
        yield {
            name: {**model, **extra}
            for name, extra in {
                CONTROL: {},
                "nobody watches, once more": {},
                "counts": counts,
                "spans, to a collector": sent,
                "spans, the collector is away": away,
                "counts and spans": {**counts, **sent},
            }.items()
        }


def main() -> None:
    """Print the table."""
    # It tells of each try to reach the collector that is away.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    with _ways() as ways, TemporaryDirectory() as folder:
        lines = asyncio.run(request_rows(Path(folder), ways))
    print("| a request of 10 kB, nine agents | CPU ms | × control |\n| --- | ---: | ---: |")
    print("\n".join(lines))
    each = unwatched_microseconds()
    print(f"\nWhere nobody watches, {SHOWN_PER_ASSESSMENT} × {each:.2f} µs of a request are ours.")


if __name__ == "__main__":
    main()
