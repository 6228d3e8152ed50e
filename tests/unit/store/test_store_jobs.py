"""Jobs in the store: taken by one process, ended once, taken up again, and sealed."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.fakes.refusals import refused
from tests.unit.store.stored import (
    RESULT,
    TRANSCRIPT,
    WORD,
    Clock,
    OpenedStore,
    figures,
    open_store,
    taken,
    waiting,
)

from ai_psychiatrist.domain.failures import CallPath
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.database import StoreLimits
from ai_psychiatrist.store.idempotency import Answered, IdempotencyKey
from ai_psychiatrist.store.job_rows import KeptJobCall
from ai_psychiatrist.store.jobs import GIVEN_UP, MOST_TAKEN, JobRef, NewJob, TakenJob
from ai_psychiatrist.store.queue import Queue, Takes
from ai_psychiatrist.store.records import NewRecord
from ai_psychiatrist.store.schema import calls

REQUEST = f'{{"said": "{WORD}"}}'.encode()
CALL = ModelCall(agent="a", model="m", path=CallPath.AGENT, digest="d", reply=f'"{WORD}"')
KEY = IdempotencyKey(asked_by="ann", digest="k", fingerprint="f")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OpenedStore]:
    with closing(open_store(tmp_path)) as opened:
        yield opened


def job(name: str = "one", *, batch_id: str | None = None, place: int | None = None) -> NewJob:
    record = NewRecord(id=name, transcript=TRANSCRIPT, subject=f"subject of {name}")
    return NewJob(record=record, request=REQUEST, asked_by="ann", batch_id=batch_id, place=place)


def keep(store: OpenedStore, job: TakenJob, call: ModelCall = CALL) -> None:
    store.jobs.keep([KeptJobCall(record_id=job.id, call=call, seal=job.seal)])


def kept_calls(store: OpenedStore) -> int:
    return len(store.files.across_tenants(select(calls)))


def test_a_job_is_taken_by_one_process_with_all_that_it_needs(store: OpenedStore) -> None:
    store.add_jobs([job()])
    queue = Queue(database=store.files)
    with ThreadPoolExecutor() as pool:
        claimed = dict(zip("abcdef", pool.map(queue.claim, "abcdef"), strict=True))
    (winner,) = [runner for runner, one in claimed.items() if one is not None]
    assert claimed[winner] == JobRef("local", "one")
    for other in set("abcdef") - {winner}:
        assert store.jobs.take("one", other) is RecordState.WAITING
    won = store.jobs.take("one", winner)
    assert isinstance(won, TakenJob)
    assert (won.transcript, won.request) == (TRANSCRIPT, REQUEST)
    assert store.jobs.take("one", winner) is RecordState.RUNNING


def test_calls_are_found_again_by_the_next_process_and_gone_at_the_end(store: OpenedStore) -> None:
    store.add_jobs([job()])
    first = taken(store, "one", "a")
    again = replace(CALL, occurrence=1)
    assert first.calls == {}
    keep(store, first)
    keep(store, first, again)
    assert store.jobs.take_from("a") == ()
    assert taken(store, "one", "b").calls == {("d", 0): CALL, ("d", 1): again}
    assert store.jobs.finish("one", "b", RESULT, figures())
    assert kept_calls(store) == 0
    keep(store, first)
    assert kept_calls(store) == 0
    assert store.get("one").result == RESULT


def test_who_lost_a_job_can_neither_finish_nor_fail_it(store: OpenedStore) -> None:
    store.add_jobs([job()])
    taken(store, "one", "a")
    store.jobs.take_from("a")
    taken(store, "one", "b")
    assert not store.jobs.finish("one", "a", RESULT, figures())
    assert not store.jobs.fail("one", "a", "late")
    store.jobs.put_back("one", "a")
    assert store.jobs.finish("one", "b", RESULT, figures())


def test_what_is_cancelled_stays_so(store: OpenedStore) -> None:
    store.add_jobs([job()])
    keep(store, taken(store, "one", "a"))
    ended = store.jobs.cancel("one")
    assert ended is not None
    assert store.jobs.cancel("one") is None
    assert not store.jobs.finish("one", "a", RESULT, figures())
    assert store.jobs.take("one", "b") is RecordState.CANCELLED
    assert store.jobs.take_from("a") == ()
    assert kept_calls(store) == 0
    assert store.jobs.summary("one").ended_at is not None


def test_a_finished_job_cannot_be_cancelled(store: OpenedStore) -> None:
    store.add_jobs([job()])
    taken(store, "one", "a")
    store.jobs.finish("one", "a", RESULT, figures())
    with refused("job_over"):
        store.jobs.cancel("one")


def test_a_job_is_given_up_after_its_process_died_so_often(store: OpenedStore) -> None:
    store.add_jobs([job(), job("other")])
    for number in range(1, MOST_TAKEN + 1):
        taken(store, "one", "a")
        if number == 1:
            store.jobs.put_back("one", "a")
            taken(store, "one", "a")
        given_up = store.jobs.take_from("a")
        assert [one.job.id for one in given_up] == (["one"] if number == MOST_TAKEN else [])
    told = store.jobs.summary("one")
    assert (told.state, told.reason) == (RecordState.FAILED, GIVEN_UP)
    assert waiting(store) == ["other"]


def test_the_queue_says_how_much_there_is_to_do(store: OpenedStore) -> None:
    queue = Queue(database=store.files)
    assert queue.state() == (0, 0, None)
    store.add_jobs([job(), job("other"), job("third")])
    taken(store, "one", "a")
    waiting_since = store.jobs.summary("other").created_at
    oldest = queue.state().oldest_waiting
    assert oldest is not None
    assert datetime.fromisoformat(oldest) >= waiting_since
    assert queue.state()[:2] == (2, 1)
    assert queue.runners() == {"a"}
    assert queue.tenants_of("a") == {"local"}
    assert queue.tenants_of("a", but={"one"}) == frozenset()


def test_what_a_process_still_does_is_not_taken_from_it(store: OpenedStore) -> None:
    store.add_jobs([job(), job("left")])
    for name in ("one", "left"):
        taken(store, name, "a")
    store.jobs.take_from("a", but={"one"})
    assert waiting(store) == ["left"]


def test_steps_are_told_once_though_they_are_done_twice(store: OpenedStore) -> None:
    store.add_jobs([job()])
    for runner in "ab":
        taken(store, "one", runner)
        store.jobs.tell("one", "scores", "finished")
        store.jobs.take_from(runner)
    told = [(event.number, event.outcome) for event in store.jobs.events("one")]
    assert told == [(1, "waiting"), (2, "begun"), (3, "finished")]


def test_nothing_of_a_job_can_be_read_once_it_is_erased(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        store.add_jobs([job()], key=None)
        keep(store, taken(store, "one", "a"))
        store.removal.erase("one")
        with refused("assessment_not_found"):
            store.jobs.take("one", "a")
        assert store.jobs.finish("one", "a", RESULT, figures()) is None
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file:
        for table in ("jobs", "calls", "bodies", "events"):
            assert file.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)  # noqa: S608
    assert all(WORD.encode() not in path.read_bytes() for path in tmp_path.glob("*.sqlite*"))


def test_a_job_whose_erasing_broke_off_is_nobodys(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        store.add_jobs([job("begun"), job(), job("other")])
        taken(store, "begun", "a")
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
            begun = "SELECT 'local', subject_id, '', 0 FROM records WHERE id != 'other'"
            file.execute(f"INSERT INTO erased {begun}")
        queue = Queue(database=store.files)
        assert queue.claim("a") == JobRef("local", "one")
        with refused("assessment_not_found"):
            store.jobs.take("one", "a")
        assert queue.claim("a") == JobRef("local", "other")
        assert store.jobs.fail("begun", "a", "late") is None
        assert store.sweep().assessments == 2


def test_a_batch_is_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    with closing(open_store(tmp_path, limits=StoreLimits(max_records=2))) as store:
        three = [job(name, batch_id="b", place=place) for place, name in enumerate("xyz")]
        with refused("assessments_full"):
            store.add_jobs(three)
        with refused("batch_not_found"):
            store.jobs.counts("b")
        store.add_jobs(three[:2])
        assert store.jobs.counts("b")[RecordState.WAITING] == 2
        assert [store.jobs.summary(name).position for name in "xy"] == [1, 2]


def test_a_key_stands_for_one_request_until_it_is_forgotten(tmp_path: Path) -> None:
    clock = Clock()
    with closing(open_store(tmp_path, clock=clock)) as store:
        assert store.idempotency.begin(KEY, "a") is None
        with refused("key_under_way"):
            store.idempotency.begin(KEY, "b")
        store.idempotency.forget_all_of("a")
        assert store.idempotency.begin(KEY, "b") is None
        store.add_jobs([job()], key=KEY)
        store.idempotency.forget(KEY)
        assert store.idempotency.begin(KEY, "b") == Answered(record_id="one")
        with refused("key_of_another"):
            store.idempotency.begin(replace(KEY, fingerprint="other"), "b")
        assert store.idempotency.begin(replace(KEY, asked_by="ben"), "b") is None
        clock.now += timedelta(hours=24)
        store.sweep()
        assert store.idempotency.begin(KEY, "b") == Answered(record_id="one")
        clock.now += timedelta(hours=2)
        store.sweep()
        assert store.idempotency.begin(KEY, "b") is None


def test_units_of_runs_have_turns_beside_jobs_and_are_given_to_those_who_take_them(
    tmp_path: Path,
) -> None:
    with closing(open_store(tmp_path)) as store:
        queue = Queue(database=store.files)
        store.add_jobs([job("one"), job("other")])
        for run in ("first", "second"):
            store.runs.enqueue(run, [1, 2], asked_by=f"run:{run}")
        # Nobody waits at a unit: it is no job that is held up.
        assert queue.state()[:2] == (2, 0)
        assert queue.claim("a") == JobRef("local", "one")
        assert queue.claim("a", takes=Takes(only_run="second")) == unit("second", 1)
        left = Takes(other_runs=True, but={"first"})
        assert queue.claim("b", takes=left) == JobRef("local", "other")
        assert queue.claim("b", takes=left) == unit("second", 2)
        assert queue.claim("b", takes=left) is None
        assert queue.claim("b", takes=Takes(other_runs=True)) == unit("first", 1)
        assert store.runs.progress("first") == (1, 1)
        store.runs.take_from("b")
        assert store.runs.progress("first") == (2, 0)
        assert store.runs.withdraw("first") == 2
        assert queue.claim("b") is None


def unit(run: str, number: int) -> JobRef:
    return JobRef("local", f"{run}/{number}", run, number)
