"""A worker by the settings."""

import asyncio
from collections.abc import Callable
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
    async with ends_told(services) as ends, submitting_engine(services.settings) as engine:
        work = job_work(services, ends.tell)
        worker = Worker(database=database, work=work, options=options)
        async with jobs_tended(work, engine):
            await worker.run(stop, on_ready=on_ready, on_alive=on_alive)
