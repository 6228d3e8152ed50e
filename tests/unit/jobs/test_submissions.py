"""Jobs on their way to an engine: in which order, whom they hold up, and what is left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest
from tests.fakes.captured_events import captured_events

from ai_psychiatrist.domain.errors import StoreUnusable
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.engine import EngineAway, JobRef
from ai_psychiatrist.jobs.in_process import InProcessEngine
from ai_psychiatrist.jobs.submissions import Submissions

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _finished(_job: JobRef) -> RecordState:
    return RecordState.FINISHED


class SlowEngine(InProcessEngine):
    """Takes a job once its tenant's gate is open; one that is away takes none."""

    def __init__(self) -> None:
        super().__init__(_finished, concurrency=1)
        self.gates = {tenant: asyncio.Event() for tenant in "ab"}
        self.taken: list[str] = []
        self.is_away = False

    async def submit(self, job: JobRef) -> None:
        await self.gates[job.tenant].wait()
        if self.is_away:
            raise EngineAway
        self.taken.append(job.id)


@asynccontextmanager
async def submitting(*, open_for: str = "ab") -> AsyncIterator[tuple[SlowEngine, Submissions]]:
    engine = SlowEngine()
    for tenant in open_for:
        engine.gates[tenant].set()
    async with aclosing(Submissions(engine)) as submissions:
        yield engine, submissions


async def settled() -> None:
    """Let all go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_whoever_adds_jobs_does_not_wait_for_the_engine_and_their_order_stays() -> None:
    async with submitting(open_for="") as (engine, submissions):
        submissions.add("a", ["1", "2"], asked_by="k")
        await settled()
        submissions.add("a", ["3"], asked_by="k")
        assert engine.taken == []
        engine.gates["a"].set()
        await settled()
        assert engine.taken == ["1", "2", "3"]


async def test_the_jobs_of_one_tenant_hold_up_no_other() -> None:
    async with submitting(open_for="b") as (engine, submissions):
        submissions.add("a", ["1", "2"], asked_by="k")
        submissions.add("b", ["3"], asked_by="k")
        await settled()
        assert engine.taken == ["3"]
        engine.gates["a"].set()


async def test_what_an_engine_that_is_away_does_not_take_is_left_and_the_engine_says_so() -> None:
    with captured_events() as events:
        async with submitting() as (engine, submissions):
            engine.is_away = True
            submissions.add("a", ["1", "2", "3"], asked_by="k")
            await settled()
            engine.is_away = False
            submissions.add("a", ["4"], asked_by="k")
            await settled()
        assert engine.taken == ["4"]
        assert events == []


async def test_at_the_end_the_job_that_is_just_handed_in_is_the_last() -> None:
    async with submitting(open_for="") as (engine, submissions):
        submissions.add("a", ["1", "2"], asked_by="k")
        await settled()
        asyncio.get_running_loop().call_soon(engine.gates["a"].set)
    await settled()
    assert engine.taken == ["1"]


async def test_a_job_that_is_waited_for_begins_at_once_unless_as_many_are_under_way() -> None:
    begun, may_end = list[str](), asyncio.Event()

    async def work(job: JobRef) -> RecordState:
        begun.append(job.id)
        await may_end.wait()
        if job.id == "1":
            raise StoreUnusable
        return RecordState.FINISHED

    with captured_events() as events:
        async with submitting() as (engine, submissions):
            for number in "123":
                submissions.begin(JobRef(tenant="a", id=number, asked_by="k"), work, most=2)
            await settled()
            assert (begun, engine.taken) == (["1", "2"], ["3"])
            may_end.set()
            await settled()
            submissions.begin(JobRef(tenant="a", id="4"), work, most=2)
            await settled()
            assert begun == ["1", "2", "4"]
    assert [event["event"] for event in events] == ["job_broken_off"]


async def test_a_job_that_is_waited_for_is_broken_off_at_the_end() -> None:
    ended: list[str] = []

    async def work(_job: JobRef) -> RecordState:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("put back")
        return RecordState.FINISHED

    async with submitting() as (_, submissions):
        submissions.begin(JobRef(tenant="a", id="1"), work, most=1)
        await settled()
    assert ended == ["put back"]
