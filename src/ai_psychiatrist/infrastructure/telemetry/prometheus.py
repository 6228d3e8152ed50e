"""Counts for Prometheus of what one application does, and the port at which a worker shows them.

Labels are names of routes, agents, models and codes, all from settings and code: a caller cannot
make a further one.
"""

import asyncio
import errno
import math
from collections import Counter as Counts
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import pairwise
from typing import Final
from wsgiref.simple_server import WSGIRequestHandler

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    start_http_server,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.failures import Attempt
from ai_psychiatrist.infrastructure.telemetry.work import (
    CANCELLED,
    AgentWork,
    AssessmentWork,
    CallWork,
    Event,
    InterviewHeld,
    JobEnded,
    QueueSeen,
    RequestWork,
    Work,
)

MEDIA_TYPE: Final = CONTENT_TYPE_LATEST
PATIENCE_SECONDS: Final = 10
"""How long a caller may be silent before its thread is given up."""
SHOWN_TOGETHER: Final = 20
"""The levels of danger of so many assessments are shown at once."""
NO_ROUTE: Final = "none"
"""Stands for every path that no route has."""
_NAMESPACE: Final = "ai_psychiatrist"
_REQUEST_SECONDS: Final = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 30.0, 60.0, 180.0, 600.0)
_MODEL_SECONDS: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
_JOB_SECONDS: Final = (1.0, 5.0, 15.0, 60.0, 180.0, 600.0, 1800.0, 3600.0, 14400.0, 86400.0)
"""A job waits behind others, so its time is longer than that of its calls: up to a day."""


class PrometheusCounts:
    """All counts since the application was opened."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        counter = partial(Counter, namespace=_NAMESPACE, registry=self.registry)
        gauge = partial(Gauge, namespace=_NAMESPACE, registry=self.registry)
        histogram = partial(Histogram, namespace=_NAMESPACE, registry=self.registry)
        self._requests = counter(
            "http_requests",
            "Requests, by the class of their status.",
            ("method", "route", "status"),
        )
        self._request_seconds = histogram(
            "http_request_seconds",
            "From a request to the end of its answer.",
            ("method", "route"),
            buckets=_REQUEST_SECONDS,
        )
        self._assessments = counter(
            "assessments", "Assessments, by how whole they are.", ("mode", "status")
        )
        self._assessment_seconds = histogram(
            "assessment_seconds", "How long one took.", ("mode",), buckets=_MODEL_SECONDS
        )
        self._danger = counter(
            "danger_signs", "Assessments by their level of danger, many at a time.", ("level",)
        )
        self._held_back: Counts[str] = Counts()
        self._agent_runs = counter(
            "agent_runs", "Runs of agents: `accepted`, or why there is no output.", ("agent", "end")
        )
        self._calls = counter(
            "model_calls", "Calls: accepted, rejected or failed.", ("agent", "model", "outcome")
        )
        self._call_problems = counter(
            "model_call_problems",
            "Calls that failed or whose reply was rejected, and why.",
            ("agent", "model", "outcome", "code"),
        )
        self._call_retries = counter(
            "model_call_retries",
            "Further calls of an agent, by what was wrong with the call before.",
            ("agent", "code"),
        )
        self._call_seconds = histogram(
            "model_call_seconds", "How long one took.", ("model",), buckets=_MODEL_SECONDS
        )
        self._tokens = counter(
            "tokens",
            "Tokens that providers counted: input, output; cache_read ones are of the input.",
            ("model", "kind"),
        )
        self._job_ends = counter("job_ends", "Jobs that ended, and why.", ("state", "reason"))
        self._job_seconds = histogram(
            "job_seconds", "From its request to its end.", ("state",), buckets=_JOB_SECONDS
        )
        self._jobs = gauge("jobs", "Jobs that have no end yet.", ("state",))
        self._oldest_job = gauge(
            "oldest_waiting_job_seconds", "Age of the job that waits longest; 0 where none waits."
        )
        self._oldest_job.set(math.nan)
        self._held_interviews = counter(
            "interviews_held", "Interviews that were held for danger: a person has to look."
        )

    def count(self, seen: Work | Event) -> None:
        """Count work that has ended, or an event."""
        match seen:
            case RequestWork():
                route = seen.route or NO_ROUTE
                status = f"{seen.status // 100}xx" if seen.status else CANCELLED
                self._requests.labels(seen.method, route, status).inc()
                self._request_seconds.labels(seen.method, route).observe(seen.seconds)
            case AssessmentWork():
                self._assessments.labels(seen.mode, seen.status or seen.error).inc()
                self._assessment_seconds.labels(seen.mode).observe(seen.seconds)
                self._count_danger(seen.danger)
            case AgentWork():
                self._agent_runs.labels(seen.agent, seen.error or "accepted").inc()
                for before, _ in pairwise(seen.attempts):
                    self._call_retries.labels(seen.agent, before.code or "").inc()
            case CallWork():
                self._call_seconds.labels(seen.model).observe(seen.seconds)
                self._tokens.labels(seen.model, "input").inc(seen.input_tokens or 0)
                self._tokens.labels(seen.model, "output").inc(seen.output_tokens or 0)
                self._tokens.labels(seen.model, "cache_read").inc(seen.cache_read_tokens)
            case Attempt():
                about = (seen.agent, seen.model, seen.outcome)
                self._calls.labels(*about).inc()
                if seen.code is not None:
                    self._call_problems.labels(*about, seen.code).inc()
            case JobEnded():
                self._job_ends.labels(seen.state, seen.reason or "").inc()
                self._job_seconds.labels(seen.state).observe(seen.seconds)
            case InterviewHeld():
                self._held_interviews.inc()

    def text(self, queue: QueueSeen | None) -> bytes:
        """Return all of them in Prometheus's text form.

        `queue`: the jobs as they are now; `None` where that cannot be known.
        """
        self._jobs.clear()
        for state, count in ({} if queue is None else queue.by_state).items():
            self._jobs.labels(state).set(count)
        self._oldest_job.set(math.nan if queue is None else queue.oldest_waiting_seconds or 0.0)
        return generate_latest(self.registry)

    def _count_danger(self, level: str | None) -> None:
        """Count a level, where there is one, when those of many assessments are shown together.

        A counter that moves with each assessment would tell its level to whoever reads it often
        and knows who is assessed just now.
        """
        if level is None:
            return
        self._held_back[level] += 1
        if self._held_back.total() < SHOWN_TOGETHER:
            return
        for held_level, count in self._held_back.items():
            self._danger.labels(held_level).inc(count)
        self._held_back.clear()


@asynccontextmanager
async def metrics_port(counts: PrometheusCounts, *, address: str, port: int) -> AsyncIterator[None]:
    """Answer GET with the counts while the block runs, in threads of the library's own.

    Callers need no key. Raises `ConfigurationError` for a port that cannot be had.
    """
    try:
        server, _ = await asyncio.to_thread(
            start_http_server, port, address, registry=counts.registry
        )
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(_hint(error, address, port)) from None
    server.RequestHandlerClass = PatientHandler
    try:
        yield
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()


class PatientHandler(WSGIRequestHandler):
    """Answers one caller, and gives up one who is silent; nothing of it is logged."""

    timeout = PATIENCE_SECONDS

    def handle(self) -> None:
        """Answer; a caller who is silent, or goes, is no error of this program."""
        with suppress(OSError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the base
        """Log nothing."""


def _hint(error: OSError | UnicodeError, address: str, port: int) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return (
            f"TELEMETRY_WORKER_PORT={port} is in use at {address}: give each worker of a machine "
            "a port of its own, or 0 for none"
        )
    reason = getattr(error, "strerror", None) or type(error).__name__
    return (
        f"TELEMETRY_WORKER_ADDRESS={address} with TELEMETRY_WORKER_PORT={port} cannot be listened "
        f"at ({reason}): name an address of this machine and a free port"
    )
