"""The six verbs, for a process that only submits: whoever does the jobs is a worker."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from dbos import DBOS, DBOSClient, WorkflowStatus
from sqlalchemy.exc import SQLAlchemyError

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.jobs.dbos.database import JobsDatabase
from ai_psychiatrist.jobs.dbos.names import (
    APPLICATION,
    QUEUE,
    VERSION,
    WORKFLOW,
    caller_name,
    job_of,
    workflow_id,
)
from ai_psychiatrist.jobs.dbos.reports import unreported
from ai_psychiatrist.jobs.dbos.serializer import PlainSerializer
from ai_psychiatrist.jobs.engine import EngineAway, JobRef

logger = get_logger(__name__)

T = TypeVar("T")

UNDER_WAY: Final = ("ENQUEUED", "DELAYED", "PENDING")
_STATES: Final = {
    "ENQUEUED": RecordState.WAITING,
    "DELAYED": RecordState.WAITING,
    "PENDING": RecordState.RUNNING,
    "CANCELLED": RecordState.CANCELLED,
}
_UNTIL_THEN: Final = "jobs are stored, and handed in once it is back"
_CONNECTIONS: Final = 4
_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.2


class DbosEngine:
    """Hands jobs to workers through a database, and asks there how far they are."""

    def __init__(self, database: JobsDatabase) -> None:
        self._database = database
        self._threads = WorkerThreads(count=_CONNECTIONS, seconds=_SECONDS)
        self._opening = WorkerThreads(count=1, seconds=_SECONDS)
        self._client: DBOSClient | None = None
        self._is_away = False

    async def submit(self, job: JobRef) -> None:
        """Take a job; one that was taken before is left as it is."""
        await self._ask(lambda client: _enqueue(client, job))

    async def status(self, job: JobRef) -> RecordState | None:
        """Return how far the engine is with a job, `None` for one that it does not know."""
        found = await self._ask(lambda client: _found(client, job))
        return None if found is None else state_of(found)

    async def result(self, job: JobRef) -> RecordState:
        """Return how a job ended, once it has; raises `KeyError` for one that is not known."""
        while True:
            state = await self.status(job)
            if state is None:
                raise KeyError(job.id)
            if state.is_last:
                return state
            await asyncio.sleep(_LOOK_SECONDS)

    async def cancel(self, job: JobRef) -> None:
        """End a job: one that waits is not begun, and of one under way the calls stop."""
        await self._ask(lambda client: client.cancel_workflow(workflow_id(job)))

    async def resume(self, job: JobRef) -> None:
        """Go on with a job that failed or was cancelled."""
        await self._ask(lambda client: _begin_again(client, job))

    async def list(self, *, tenant: str | None = None) -> tuple[tuple[JobRef, RecordState], ...]:
        """Return the jobs that have no end yet, of one tenant or of all, the oldest first."""
        found = await self._ask(lambda client: _under_way(client, tenant))
        return tuple((job_of(one.workflow_id), state_of(one)) for one in found)

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.destroy()
            self._client = None

    async def _ask(self, work: Callable[[DBOSClient], T]) -> T:
        """Return what the work returns, done beside the event loop."""
        try:
            client = self._client
            if client is None:
                client = await self._opening.run(self._opened)
            found = await self._threads.run(partial(work, client))
        except (SQLAlchemyError, WorkTimedOut, ConfigurationError) as error:
            self._note_away(error)
            msg = f"the database of the queue cannot be asked ({type(error).__name__})"
            raise EngineAway(msg) from None
        self._note_back()
        return found

    def _note_away(self, error: Exception) -> None:
        if not self._is_away:
            self._is_away = True
            reason = f"see {self._database.setting}: the queue cannot be asked; {_UNTIL_THEN}"
            logger.error("queue_away", reason=reason, error_type=type(error).__name__)

    def _note_back(self) -> None:
        if self._is_away:
            self._is_away = False
            logger.warning("queue_back")

    def _opened(self) -> DBOSClient:
        client = self._client
        if client is None:
            self._database.prepare()
            with unreported():
                DBOS.migrate(self._database.address)
            client = client_of(self._database, connections=_CONNECTIONS)
            self._client = client
        return client


def client_of(database: JobsDatabase, *, connections: int = 2) -> DBOSClient:
    """Return what asks the tables, which are there; it raises what the database raises."""
    return DBOSClient(
        system_database_url=database.address,
        serializer=PlainSerializer(),
        system_database_pool_size=connections,
        application_name=APPLICATION,
        lazy=True,
        retry_connection_errors=False,
    )


def state_of(found: WorkflowStatus) -> RecordState:
    """Return how far a job is; what the engine gave up has failed."""
    if found.status == "SUCCESS":
        return RecordState(str(found.output))
    return _STATES.get(found.status, RecordState.FAILED)


def _enqueue(client: DBOSClient, job: JobRef) -> None:
    client.enqueue(
        {
            "workflow_name": WORKFLOW,
            "queue_name": QUEUE,
            "workflow_id": workflow_id(job),
            "queue_partition_key": job.tenant,
            "app_version": VERSION,
            "authenticated_user": caller_name(job),
            "priority": _turn(client, job),
        },
        job.tenant,
        job.id,
    )


def _turn(client: DBOSClient, job: JobRef) -> int:
    """Return the turn that a job has in its tenant, of which the lowest is taken first.

    It comes after what its caller has waiting, and after what is under way: with it, whoever has
    many jobs waiting is not held up by those who come later, one at a time.
    """
    listed = partial(
        client.list_workflows,
        queue_name=QUEUE,
        workflow_id_prefix=f"{job.tenant}/",
        load_input=False,
        load_output=False,
    )
    waiting = listed(status="ENQUEUED", user=caller_name(job), sort_desc=True, limit=1)
    under_way = listed(status="PENDING")
    return 1 + max((one.priority or 0 for one in (*waiting, *under_way)), default=0)


def _found(client: DBOSClient, job: JobRef) -> WorkflowStatus | None:
    found = client.list_workflows(workflow_ids=[workflow_id(job)], load_input=False)
    return found[0] if found else None


def _begin_again(client: DBOSClient, job: JobRef) -> None:
    found = _found(client, job)
    if found is not None and not state_of(found).is_last:
        return
    if found is not None:
        # What has ended is never begun again under the same row. Should this process die between
        # the two steps, the job is one that the engine does not know, and is handed in again.
        client.delete_workflow(found.workflow_id)
    _enqueue(client, job)


def _under_way(client: DBOSClient, tenant: str | None) -> Sequence[WorkflowStatus]:
    return client.list_workflows(
        status=list(UNDER_WAY),
        queue_name=QUEUE,
        workflow_id_prefix=None if tenant is None else f"{tenant}/",
        load_input=False,
        load_output=False,
    )
