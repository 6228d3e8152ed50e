"""What doing one job tells the engine, whatever becomes of the job meanwhile."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import httpx

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.jobs import JobEnd, JobRef
from ai_psychiatrist.wiring import bootstrap
from ai_psychiatrist.wiring.job_work import Claimed, JobWork
from tests.fakes.faults import fault
from tests.fakes.model_server import ModelServerThread
from tests.integration.running_app import client_of, model_at, settings_with
from tests.patience import wait_until

BODY = {"transcript_text": "Participant: I sleep badly every night."}


def begun(settings: Settings) -> JobRef:
    """Return a job that a server has stored, and that no worker has taken."""
    with client_of(settings) as client:
        answer: httpx.Response = client.post(
            "/v1/assessments", json=BODY, headers={"Prefer": "respond-async"}
        )
    return JobRef(tenant="local", id=answer.json()["job_id"])


def changed(folder: Path, statement: str) -> None:
    """Change the stored assessments behind the back of whoever does the job."""
    with closing(sqlite3.connect(folder / "store.sqlite")) as file, file:
        file.execute(statement)


def done(settings: Settings, job: JobRef) -> tuple[RecordState, list[JobEnd]]:
    """Return how far a job is once it was done, and which ends were told."""
    ends: list[JobEnd] = []

    async def on_end(end: JobEnd) -> None:
        ends.append(end)

    async def work() -> RecordState:
        async with bootstrap(settings) as services:
            assert await services.stores.claim(per_tenant=0) == job
            await JobWork(services=services, on_end=on_end, claimed=Claimed(services.stores))(job)
            records = services.stores.records(job.tenant)
            return (await records.ask(lambda store: store.summary(job.id))).state

    return asyncio.run(work()), ends


def test_a_job_that_another_process_goes_on_with_has_no_end_yet(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang")) as models:
        settings = settings_with(tmp_path, **model_at(models.url), JOBS_CONCURRENCY="0")
        job = begun(settings)

        def take_away() -> None:
            wait_until(lambda: models.requests)
            changed(tmp_path, "UPDATE queue SET runner = 'another'")

        other = threading.Thread(target=take_away)
        other.start()
        assert done(settings, job) == (RecordState.RUNNING, [])
        other.join()


def test_the_end_of_a_job_is_told_whose_words_cannot_be_read(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, MODEL_DEFAULT="baseline", JOBS_CONCURRENCY="0")
    job = begun(settings)
    changed(tmp_path, "UPDATE bodies SET body = zeroblob(64)")
    state, ends = done(settings, job)
    assert state is RecordState.FAILED
    assert [(end.job, end.state, end.reason) for end in ends] == [
        (job, RecordState.FAILED, "assessment_unreadable")
    ]
