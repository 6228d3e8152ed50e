"""Erasing what is stored of jobs: first is forgotten who was to be told, then what was said.

In this order nothing of an address is left, wherever an erasing breaks off: it is asked for again.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ai_psychiatrist.jobs.engine import JobRef
from ai_psychiatrist.jobs.webhooks.outbox import FILE_NAME, Outbox
from ai_psychiatrist.jobs.webhooks.webhooks import Webhooks
from ai_psychiatrist.store.stores import Records


async def erase_assessment(records: Records, webhooks: Webhooks, assessment_id: str) -> None:
    """Erase an assessment, finished or not; raises `NotFound` and `StoreUnusable`."""
    await webhooks.forget(jobs_named(records.tenant, [assessment_id]))
    await records.ask(lambda store: store.erasing.erase(assessment_id))


async def erase_subject(records: Records, webhooks: Webhooks, subject_id: str) -> None:
    """Erase all of a subject; raises `NotFound` and `StoreUnusable`."""
    ids = await records.ask(lambda store: store.erasing.ids_of(subject_id))
    await webhooks.forget(jobs_named(records.tenant, ids))
    await records.ask(lambda store: store.erasing.erase_subject(subject_id))


def forget_told(state_dir: Path, jobs: Sequence[JobRef]) -> None:
    """Forget who is told of jobs, for commands; raises `ConfigurationError`, `LedgerUnusable`."""
    path = state_dir / FILE_NAME
    if path.exists():
        with closing(Outbox.open(path)) as outbox:
            outbox.forget(jobs)


def jobs_named(tenant: str, ids: Sequence[str]) -> tuple[JobRef, ...]:
    """Return the jobs of a tenant with these ids."""
    return tuple(JobRef(tenant=tenant, id=job_id) for job_id in ids)
