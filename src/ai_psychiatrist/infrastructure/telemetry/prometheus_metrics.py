"""The metrics that Prometheus is told, by what they are about.

Labels are names of routes, agents, models and codes, all from settings and code: a caller cannot
make a further one.
"""

import math
from itertools import pairwise
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from ai_psychiatrist.domain.failures import Attempt
from ai_psychiatrist.infrastructure.telemetry.danger_counts import DangerCounts
from ai_psychiatrist.infrastructure.telemetry.work import (
    CANCELLED,
    AgentWork,
    AssessmentWork,
    CallWork,
    JobEnded,
    QueueSeen,
    RequestWork,
)

NO_ROUTE: Final = "none"
"""Stands for every path that no route has."""
_NAMESPACE: Final = "ai_psychiatrist"
_REQUEST_SECONDS: Final = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 30.0, 60.0, 180.0, 600.0)
_MODEL_SECONDS: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0)
_JOB_SECONDS: Final = (1.0, 5.0, 15.0, 60.0, 180.0, 600.0, 1800.0, 3600.0, 14400.0, 86400.0)
"""A job waits behind others, so its time is longer than that of its calls: up to a day."""


class Maker:
    """Makes metrics of one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """`registry`: where they are listed."""
        self._registry = registry

    def counter(self, name: str, meaning: str, *labels: str) -> Counter:
        """Return a count that only rises."""
        return Counter(name, meaning, labels, _NAMESPACE, registry=self._registry)

    def gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        """Return a figure that rises and falls."""
        return Gauge(name, meaning, labels, _NAMESPACE, registry=self._registry)

    def histogram(
        self, name: str, meaning: str, *labels: str, buckets: tuple[float, ...] = _MODEL_SECONDS
    ) -> Histogram:
        """Return how often a duration was how long. `buckets`: upper ends, in seconds."""
        return Histogram(
            name, meaning, labels, _NAMESPACE, registry=self._registry, buckets=buckets
        )


class RequestMetrics:
    """About requests to the server."""

    def __init__(self, make: Maker) -> None:
        """Begin at nothing."""
        self._answered = make.counter(
            "http_requests", "Requests, by the class of their status.", "method", "route", "status"
        )
        self._seconds = make.histogram(
            "http_request_seconds",
            "From a request to the end of its answer.",
            "method",
            "route",
            buckets=_REQUEST_SECONDS,
        )

    def count(self, request: RequestWork) -> None:
        """Count a request that has ended."""
        route = request.route or NO_ROUTE
        status = f"{request.status // 100}xx" if request.status else CANCELLED
        self._answered.labels(request.method, route, status).inc()
        self._seconds.labels(request.method, route).observe(request.seconds)


class AssessmentMetrics:
    """About assessments."""

    def __init__(self, make: Maker) -> None:
        """Begin at nothing."""
        self._ended = make.counter(
            "assessments", "Assessments, by how whole they are.", "mode", "status"
        )
        self._seconds = make.histogram("assessment_seconds", "How long one took.", "mode")
        self._danger = make.counter(
            "danger_signs", "Assessments by their level of danger, many at a time.", "level"
        )
        self._held_back = DangerCounts()

    def count(self, assessment: AssessmentWork) -> None:
        """Count an assessment that has ended."""
        status = assessment.status or assessment.error
        self._ended.labels(assessment.mode, status).inc()
        self._seconds.labels(assessment.mode).observe(assessment.seconds)
        if assessment.danger is None:
            return
        for level, count in self._held_back.add(assessment.danger).items():
            self._danger.labels(level).inc(count)


class ModelMetrics:
    """About agents and their calls to models."""

    def __init__(self, make: Maker) -> None:
        """Begin at nothing."""
        self._runs = make.counter(
            "agent_runs", "Runs of agents: `accepted`, or why there is no output.", "agent", "end"
        )
        self._calls = make.counter(
            "model_calls", "Calls: accepted, rejected or failed.", "agent", "model", "outcome"
        )
        self._problems = make.counter(
            "model_call_problems",
            "Calls that failed or whose reply was rejected, and why.",
            *("agent", "model", "outcome", "code"),
        )
        self._retries = make.counter(
            "model_call_retries",
            "Further calls of an agent, by what was wrong with the call before.",
            *("agent", "code"),
        )
        self._seconds = make.histogram("model_call_seconds", "How long one took.", "model")
        self._tokens = make.counter(
            "tokens",
            "Tokens that providers counted: input, output; cache_read ones are of the input.",
            *("model", "kind"),
        )

    def count_run(self, run: AgentWork) -> None:
        """Count the run of an agent that has ended."""
        self._runs.labels(run.agent, run.error or "accepted").inc()
        for before, _ in pairwise(run.attempts):
            self._retries.labels(run.agent, before.code or "").inc()

    def count_call(self, call: CallWork) -> None:
        """Count a call that was sent and answered, or not."""
        self._seconds.labels(call.model).observe(call.seconds)
        self._tokens.labels(call.model, "input").inc(call.input_tokens or 0)
        self._tokens.labels(call.model, "output").inc(call.output_tokens or 0)
        self._tokens.labels(call.model, "cache_read").inc(call.cache_read_tokens)

    def count_attempt(self, attempt: Attempt) -> None:
        """Count what became of a call."""
        about = (attempt.agent, attempt.model, attempt.outcome)
        self._calls.labels(*about).inc()
        if attempt.code is not None:
            self._problems.labels(*about, attempt.code).inc()


class JobMetrics:
    """About jobs that outlive a request."""

    def __init__(self, make: Maker) -> None:
        """Begin at nothing."""
        self._ended = make.counter("job_ends", "Jobs that ended, and why.", "state", "reason")
        self._seconds = make.histogram(
            "job_seconds", "From its request to its end.", "state", buckets=_JOB_SECONDS
        )
        self._open = make.gauge("jobs", "Jobs that have no end yet.", "state")
        self._oldest = make.gauge(
            "oldest_waiting_job_seconds", "Age of the job that waits longest; 0 where none waits."
        )
        self.show(None)

    def count(self, job: JobEnded) -> None:
        """Count a job that has ended."""
        self._ended.labels(job.state, job.reason or "").inc()
        self._seconds.labels(job.state).observe(job.seconds)

    def show(self, queue: QueueSeen | None) -> None:
        """Take over how many wait and run now; where that is not known, nothing is shown."""
        self._open.clear()
        if queue is None:
            self._oldest.set(math.nan)
            return
        for state, count in queue.by_state.items():
            self._open.labels(state).set(count)
        self._oldest.set(queue.oldest_waiting_seconds or 0.0)


class InterviewMetrics:
    """About interviews with a person."""

    def __init__(self, make: Maker) -> None:
        """Begin at nothing."""
        self._held = make.counter(
            "interviews_held", "Interviews that were held for danger: a person has to look."
        )

    def count_hold(self) -> None:
        """Count an interview that was held, at once: who watches over it is needed now."""
        self._held.inc()
