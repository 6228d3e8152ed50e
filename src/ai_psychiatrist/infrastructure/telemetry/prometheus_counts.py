"""Counts for Prometheus what one application does, apart from whatever else is in the process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from ai_psychiatrist.domain.failures import Attempt
from ai_psychiatrist.infrastructure.telemetry.prometheus_metrics import (
    AssessmentMetrics,
    InterviewMetrics,
    JobMetrics,
    Maker,
    ModelMetrics,
    RequestMetrics,
)
from ai_psychiatrist.infrastructure.telemetry.work import (
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


class PrometheusCounts:
    """All counts since the application was opened."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        make = Maker(self.registry)
        self._requests = RequestMetrics(make)
        self._assessments = AssessmentMetrics(make)
        self._models = ModelMetrics(make)
        self._jobs = JobMetrics(make)
        self._interviews = InterviewMetrics(make)

    @contextmanager
    def watching(self, work: Work) -> Iterator[None]:
        """Count the work at its end."""
        try:
            yield
        finally:
            self._count(work)

    def told(self, event: Event) -> None:
        """Count what has no duration of its own."""
        match event:
            case Attempt():
                self._models.count_attempt(event)
            case JobEnded():
                self._jobs.count(event)
            case InterviewHeld():
                self._interviews.count_hold()

    def text(self, queue: QueueSeen | None) -> bytes:
        """Return all of them in Prometheus's text form.

        `queue`: the jobs as they are now; `None` where that cannot be known.
        """
        self._jobs.show(queue)
        return generate_latest(self.registry)

    def _count(self, work: Work) -> None:
        match work:
            case RequestWork():
                self._requests.count(work)
            case AssessmentWork():
                self._assessments.count(work)
            case AgentWork():
                self._models.count_run(work)
            case CallWork():
                self._models.count_call(work)
