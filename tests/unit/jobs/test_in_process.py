"""The engine in a process: how many jobs at once, whose turn it is, and how jobs end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.engine import JobRef
from ai_psychiatrist.jobs.in_process import InProcessEngine


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Held:
    """Work that each job waits in until it is let go."""

    begun: list[JobRef] = field(default_factory=list)
    ended: list[JobRef] = field(default_factory=list)
    gates: dict[JobRef, asyncio.Event] = field(default_factory=dict)
    end: RecordState = RecordState.FINISHED

    async def __call__(self, job: JobRef) -> RecordState:
        self.begun.append(job)
        await self.gates.setdefault(job, asyncio.Event()).wait()
        self.ended.append(job)
        return self.end

    async def let_go(self, job: JobRef) -> None:
        self.gates[job].set()
        await settled()


async def settled() -> None:
    """Let all go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def engine_of(
    work: Held, *, concurrency: int = 1, per_tenant: int = 0
) -> AsyncIterator[InProcessEngine]:
    engine = InProcessEngine(work, concurrency=concurrency, per_tenant=per_tenant)
    try:
        yield engine
    finally:
        await engine.aclose()


def jobs(tenant: str, count: int) -> list[JobRef]:
    return [JobRef(tenant=tenant, id=f"{tenant}-{number}") for number in range(count)]


@pytest.mark.anyio
async def test_one_tenants_thousand_jobs_keep_anothers_single_one_for_one_job_at_most() -> None:
    work, many, (single,) = Held(), jobs("many", 1_000), jobs("single", 1)
    async with engine_of(work, concurrency=2) as engine:
        for job in many:
            await engine.submit(job)
        await settled()
        await engine.submit(single)
        await settled()
        assert work.begun == many[:2]
        await work.let_go(many[0])
        assert work.begun[2:] == [single]
        await work.let_go(many[1])
        assert work.begun[3:] == [many[2]]


@pytest.mark.anyio
async def test_tenants_take_turns() -> None:
    work = Held()
    async with engine_of(work) as engine:
        for job in (*jobs("a", 3), *jobs("b", 2), *jobs("c", 1)):
            await engine.submit(job)
        await settled()
        while work.begun != work.ended:
            await work.let_go(work.begun[-1])
    assert [job.id for job in work.ended] == ["a-0", "b-0", "c-0", "a-1", "b-1", "a-2"]


@pytest.mark.anyio
async def test_who_asks_in_one_tenant_take_turns() -> None:
    def asked(by: str, count: int) -> list[JobRef]:
        return [JobRef(tenant="t", id=f"{by}-{number}", asked_by=by) for number in range(count)]

    work = Held()
    async with engine_of(work) as engine:
        for job in (*asked("a", 64), *asked("b", 2), *asked("c", 1)):
            await engine.submit(job)
        await settled()
        await engine.cancel(JobRef(tenant="t", id="c-0"))
        while len(work.ended) < 6:
            await work.let_go(work.begun[-1])
    assert [job.id for job in work.ended] == ["a-0", "a-1", "b-0", "a-2", "b-1", "a-3"]


@pytest.mark.anyio
async def test_no_tenant_has_more_at_once_than_it_may() -> None:
    work, own, (other,) = Held(), jobs("a", 3), jobs("b", 1)
    async with engine_of(work, concurrency=4, per_tenant=2) as engine:
        for job in (*own, other):
            await engine.submit(job)
        await settled()
        assert work.begun == [own[0], own[1], other]
        assert dict(await engine.list(tenant="a"))[own[2]] is RecordState.WAITING
        await work.let_go(own[0])
        assert work.begun[3:] == [own[2]]


@pytest.mark.anyio
async def test_a_job_that_is_submitted_again_is_done_once() -> None:
    work, (job,) = Held(), jobs("a", 1)
    async with engine_of(work, concurrency=2) as engine:
        for _ in range(3):
            await engine.submit(job)
        await settled()
        assert work.begun == [job]
        assert await engine.status(job) is RecordState.RUNNING
        waiting = asyncio.create_task(engine.result(job))
        await work.let_go(job)
        assert await waiting is await engine.status(job) is RecordState.FINISHED


@pytest.mark.anyio
async def test_a_cancelled_job_ends_and_its_place_is_free() -> None:
    work, (first, second, third) = Held(), jobs("a", 3)
    async with engine_of(work) as engine:
        for job in (first, second, third):
            await engine.submit(job)
        await settled()
        await engine.cancel(second)
        await engine.cancel(first)
        await settled()
        assert [await engine.status(job) for job in (first, second)] == [RecordState.CANCELLED] * 2
        assert (work.begun, work.ended) == ([first, third], [])
        await engine.resume(first)
        await work.let_go(third)
        assert work.begun == [first, third, first]


@pytest.mark.anyio
async def test_a_job_that_another_process_does_is_not_known_any_more() -> None:
    work, (job,) = Held(end=RecordState.RUNNING), jobs("a", 1)
    async with engine_of(work) as engine:
        await engine.submit(job)
        await settled()
        await work.let_go(job)
        assert await engine.status(job) is None
        assert await engine.list() == ()
        with pytest.raises(KeyError):
            await engine.result(job)


@pytest.mark.anyio
async def test_a_defect_of_the_work_takes_nothing_with_it() -> None:
    tried: list[JobRef] = []

    async def broken(job: JobRef) -> RecordState:
        tried.append(job)
        raise OSError

    engine = InProcessEngine(broken, concurrency=1)
    first, second = jobs("a", 2)
    await engine.submit(first)
    await engine.submit(second)
    await settled()
    assert tried == [first, second]
    assert await engine.status(first) is None
    await engine.aclose()


@pytest.mark.anyio
async def test_what_is_broken_off_at_the_end_is_no_cancelled_job() -> None:
    work, (running, waiting) = Held(), jobs("a", 2)
    engine = InProcessEngine(work, concurrency=1)
    await engine.submit(running)
    await engine.submit(waiting)
    await settled()
    await engine.aclose()
    assert (work.begun, work.ended) == ([running], [])
    assert await engine.status(running) is None
