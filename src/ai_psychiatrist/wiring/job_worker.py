"""A worker by the settings."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.wiring.job_ends import ends_told
from ai_psychiatrist.wiring.job_queue import queue_database, submitting_engine
from ai_psychiatrist.wiring.jobs import job_work, jobs_tended
from ai_psychiatrist.wiring.services import Services

_NO_WORKERS: Final = (
    "JOBS_ENGINE is `process`: the server does the jobs itself; "
    "set JOBS_ENGINE=dbos for the server and for each worker"
)


async def run_worker(
    services: Services,
    stop: asyncio.Event,
    *,
    on_ready: Callable[[str], None],
    on_alive: Callable[[], None],
) -> None:
    """Do jobs until the event is set; to be called where the services are active.

    Raises `ConfigurationError`, `EngineAway` and `SlotLost`, as `Worker.run` does.
    """
    jobs = services.settings.jobs
    if jobs.engine != "dbos":
        raise ConfigurationError(_NO_WORKERS)
    database = queue_database(services.settings)
    from ai_psychiatrist.jobs.dbos.worker import Worker, WorkerOptions  # noqa: PLC0415  the library

    options = WorkerOptions(
        concurrency=jobs.concurrency, per_tenant=jobs.per_tenant, reap_seconds=jobs.reap_seconds
    )
    async with (
        _counts_given(services),
        ends_told(services) as ends,
        submitting_engine(services.settings) as engine,
    ):
        work = job_work(services, ends.tell)
        worker = Worker(database=database, work=work, options=options)
        async with jobs_tended(work, engine):
            await worker.run(stop, on_ready=on_ready, on_alive=on_alive)


def _counts_given(services: Services) -> AbstractAsyncContextManager[None]:
    """Give Prometheus what this process counts, where the settings want that."""
    settings, counts = services.settings.telemetry, services.telemetry.counts
    if counts is None or not settings.worker_port:
        return nullcontext()
    # It brings a library that nobody else needs.
    from ai_psychiatrist.infrastructure.telemetry.metrics_door import metrics_door  # noqa: PLC0415

    return metrics_door(counts, address=settings.worker_address, port=settings.worker_port)
