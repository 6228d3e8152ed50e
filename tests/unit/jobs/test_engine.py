"""The engine over a real store: how many jobs at once, whose turn it is, and how they end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from tests.fakes.captured_events import captured_events
from tests.jobs.places import Place
from tests.patience import wait_until
from tests.unit.store.stored import RESULT, figures

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.engine import Engine
from ai_psychiatrist.store.errors import store_unusable
from ai_psychiatrist.store.jobs import JobRef
from ai_psychiatrist.store.stores import Stores

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(url="", folder=tmp_path)


@pytest.fixture
def stores(place: Place) -> Iterator[Stores]:
    opened = place.stores()
    yield opened
    opened.close()


@dataclass
class Held:
    """Work that each job waits in until it is let go."""

    stores: Stores
    begun: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    async def __call__(self, job: JobRef) -> None:
        self.begun.append(job.id)
        records, runner = self.stores.records(job.tenant), self.stores.runner
        await records.ask(lambda store: store.jobs.take(job.id, runner))
        await self.gates.setdefault(job.id, asyncio.Event()).wait()
        await records.ask(lambda store: store.jobs.finish(job.id, runner, RESULT, figures()))
        self.ended.append(job.id)

    async def has_begun(self, count: int) -> list[str]:
        """Return what was begun, once so many were, and a moment in which no more should be."""
        await reached(lambda: len(self.begun) >= count)
        await asyncio.sleep(0.1)
        return self.begun

    def let_go(self, job_id: str) -> None:
        self.gates.setdefault(job_id, asyncio.Event()).set()


async def reached(condition: Callable[[], object]) -> None:
    await asyncio.to_thread(wait_until, condition)


@asynccontextmanager
async def engine_of(
    work: Held, *, concurrency: int = 1, per_tenant: int = 0
) -> AsyncIterator[Engine[JobRef]]:
    claim = partial(work.stores.claim, per_tenant=per_tenant)
    engine = Engine(claim=claim, work=work, concurrency=concurrency)
    async with engine.running():
        yield engine


async def all_done(work: Held, count: int) -> Sequence[str]:
    """Return the order in which jobs ended that are let go as they begin."""
    while len(work.ended) < count:
        await reached(lambda: len(work.begun) > len(work.ended))
        work.let_go(work.begun[-1])
        await reached(partial(_has_ended, work, work.begun[-1]))
    return work.ended


def _has_ended(work: Held, job_id: str) -> bool:
    return job_id in work.ended


async def test_one_tenants_hundred_jobs_keep_anothers_single_one_for_one_job_at_most(
    place: Place, stores: Stores
) -> None:
    work, many = Held(stores), place.store_jobs("many", 100)
    async with engine_of(work, concurrency=2) as engine:
        assert await work.has_begun(2) == many[:2]
        (single,) = place.store_jobs("single", 1)
        engine.wake()
        work.let_go(many[0])
        assert (await work.has_begun(3))[2:] == [single]
        work.let_go(many[1])
        assert (await work.has_begun(4))[3:] == [many[2]]


async def test_tenants_take_turns(place: Place, stores: Stores) -> None:
    for tenant, count in (("a", 3), ("b", 2), ("c", 1)):
        place.store_jobs(tenant, count)
    work = Held(stores)
    async with engine_of(work):
        order = await all_done(work, 6)
    assert order == ["a-0000", "b-0000", "c-0000", "a-0001", "b-0001", "a-0002"]


async def test_who_asks_in_one_tenant_take_turns(place: Place, stores: Stores) -> None:
    work = Held(stores)
    place.store_jobs("t", 20, asked_by="ann")
    async with engine_of(work):
        await work.has_begun(1)
        place.store_jobs("t", 2, first=100, asked_by="ben")
        place.store_jobs("t", 1, first=200, asked_by="eve")
        stores.open("t").jobs.cancel("t-0200")
        order = await all_done(work, 6)
    assert order == ["t-0000", "t-0001", "t-0100", "t-0002", "t-0101", "t-0003"]


async def test_no_tenant_has_more_at_once_than_it_may(place: Place, stores: Stores) -> None:
    work = Held(stores)
    own, (other,) = place.store_jobs("a", 3), place.store_jobs("b", 1)
    async with engine_of(work, concurrency=4, per_tenant=2):
        begun = await work.has_begun(3)
        assert sorted(begun) == sorted([own[0], own[1], other])
        assert stores.open("a").jobs.summary(own[2]).state is RecordState.WAITING
        work.let_go(own[0])
        assert (await work.has_begun(4))[3:] == [own[2]]


async def test_a_cancelled_job_stops_and_its_place_is_free(place: Place, stores: Stores) -> None:
    work = Held(stores)
    first, second, third = place.store_jobs("a", 3)
    async with engine_of(work) as engine:
        assert await work.has_begun(1) == [first]
        for job_id in (second, first):
            stores.open("a").jobs.cancel(job_id)
            engine.cancel(JobRef(tenant="a", id=job_id))
        assert await work.has_begun(2) == [first, third]
        assert work.ended == []


async def test_with_no_place_all_is_left_to_others(place: Place, stores: Stores) -> None:
    work, (job,) = Held(stores), place.store_jobs("a", 1)
    async with engine_of(work, concurrency=0) as engine:
        engine.wake()
        assert await work.has_begun(0) == []
        assert stores.open("a").jobs.summary(job).position == 1


async def test_a_defect_of_the_work_takes_nothing_with_it(place: Place, stores: Stores) -> None:
    jobs, tried = place.store_jobs("a", 2), list[str]()

    async def broken(job: JobRef) -> None:
        tried.append(job.id)
        raise OSError

    engine = Engine(claim=partial(stores.claim, per_tenant=0), work=broken, concurrency=1)
    with captured_events() as events:
        async with engine.running():
            await reached(lambda: len(tried) == 2)
    assert tried == jobs
    assert [event["event"] for event in events] == ["job_broken_off"] * 2
    # They wait again for whoever takes them next.
    await stores.take_back(())
    assert await stores.claim(per_tenant=0) is not None


async def test_what_is_broken_off_at_the_end_waits_for_the_next(
    place: Place, stores: Stores
) -> None:
    work, jobs = Held(stores), place.store_jobs("a", 2)
    async with engine_of(work):
        await work.has_begun(1)
    await stores.take_back(())
    assert work.ended == []
    states = [stores.open("a").jobs.summary(one).state for one in jobs]
    assert states == [RecordState.WAITING] * 2


async def test_a_store_that_is_away_is_told_once_and_so_is_its_return() -> None:
    answers = [True, True, False, True]

    async def claim() -> JobRef | None:
        if answers and answers.pop(0):
            raise store_unusable()
        return None

    async def work(_: JobRef) -> None:
        raise AssertionError

    engine = Engine(claim=claim, work=work, concurrency=1)
    with captured_events() as events:
        async with engine.running():
            await reached(lambda: len(answers) == 2)
            assert engine.away_seconds > 0
            await reached(lambda: not answers)
            await reached(lambda: engine.away_seconds == 0)
    told = ["queue_away", "queue_back", "queue_away", "queue_back"]
    assert [event["event"] for event in events] == told
