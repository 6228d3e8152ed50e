"""Jobs in the archive: taken by one process, ended once, taken up again, and sealed."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.refusals import refused
from tests.unit.reviews.stored import RESULT, TRANSCRIPT, WORD, Clock, figures, open_archive

from ai_psychiatrist.domain.failures import CallPath
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.reviews.archive.archive import Archive, ArchiveLimits
from ai_psychiatrist.reviews.archive.idempotency import Answered, IdempotencyKey
from ai_psychiatrist.reviews.archive.jobs import GIVEN_UP, MOST_TAKEN, NewJob, TakenJob
from ai_psychiatrist.reviews.archive.kept_calls import sealed_call
from ai_psychiatrist.reviews.archive.records import NewRecord
from ai_psychiatrist.reviews.archive.tables import RECORDS

REQUEST = f'{{"said": "{WORD}"}}'.encode()
CALL = ModelCall(agent="a", model="m", path=CallPath.AGENT, digest="d", reply=f'"{WORD}"')
KEY = IdempotencyKey(asked_by="ann", digest="k", fingerprint="f")


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with closing(open_archive(tmp_path)) as opened:
        yield opened


def job(name: str = "one", *, batch_id: str | None = None, place: int | None = None) -> NewJob:
    record = NewRecord(id=name, transcript=TRANSCRIPT, subject=f"subject of {name}")
    return NewJob(record=record, request=REQUEST, asked_by="ann", batch_id=batch_id, place=place)


def keep(archive: Archive, name: str = "one", call: ModelCall = CALL) -> None:
    archive.calls.keep([sealed_call(name, call, archive.calls.of(name)[1])])


def test_a_job_is_taken_by_one_process_with_all_that_it_needs(archive: Archive) -> None:
    archive.add_jobs([job()])
    with ThreadPoolExecutor() as pool:
        sent = [pool.submit(archive.jobs.take, "one", runner) for runner in "abcdef"]
    taken = [one.result() for one in sent]
    (won,) = [one for one in taken if isinstance(one, TakenJob)]
    assert (won.transcript, won.request) == (TRANSCRIPT, REQUEST)
    assert taken.count(RecordState.RUNNING) == 5


def test_calls_are_found_again_by_the_next_process_and_gone_at_the_end(archive: Archive) -> None:
    archive.add_jobs([job()])
    archive.jobs.take("one", "a")
    again = replace(CALL, occurrence=1)
    keep(archive)
    keep(archive, call=again)
    assert archive.jobs.take_from("a") == ()
    archive.jobs.take("one", "b")
    assert archive.calls.of("one")[0] == {("d", 0): CALL, ("d", 1): again}
    assert archive.jobs.finish("one", "b", RESULT, figures())
    assert archive.calls.of("one")[0] == {}
    keep(archive)
    assert archive.calls.of("one")[0] == {}
    assert archive.get("one").result == RESULT


def test_who_lost_a_job_can_neither_finish_nor_fail_it(archive: Archive) -> None:
    archive.add_jobs([job()])
    archive.jobs.take("one", "a")
    archive.jobs.take_from("a")
    archive.jobs.take("one", "b")
    assert not archive.jobs.finish("one", "a", RESULT, figures())
    assert not archive.jobs.fail("one", "a", "late")
    archive.jobs.put_back("one", "a")
    assert archive.jobs.is_run_by("one", "b")


def test_what_is_cancelled_stays_so(archive: Archive) -> None:
    archive.add_jobs([job()])
    archive.jobs.take("one", "a")
    keep(archive)
    ended = archive.jobs.cancel("one")
    assert ended is not None
    assert archive.jobs.cancel("one") is None
    assert not archive.jobs.finish("one", "a", RESULT, figures())
    assert archive.jobs.take("one", "b") is RecordState.CANCELLED
    assert archive.jobs.take_from("a") == ()
    assert archive.calls.of("one")[0] == {}
    assert archive.job_lists.one("one").ended_at is not None


def test_a_finished_job_cannot_be_cancelled(archive: Archive) -> None:
    archive.add_jobs([job()])
    archive.jobs.take("one", "a")
    archive.jobs.finish("one", "a", RESULT, figures())
    with refused("job_over"):
        archive.jobs.cancel("one")


def test_a_job_is_given_up_after_its_process_died_so_often(archive: Archive) -> None:
    archive.add_jobs([job(), job("other")])
    for number in range(1, MOST_TAKEN + 1):
        archive.jobs.take("one", "a")
        if number == 1:
            archive.jobs.put_back("one", "a")
            archive.jobs.take("one", "a")
        given_up = archive.jobs.take_from("a")
        assert [one.id for one in given_up] == (["one"] if number == MOST_TAKEN else [])
    told = archive.job_lists.one("one")
    assert (told.state, told.reason) == (RecordState.FAILED, GIVEN_UP)
    assert list(archive.jobs.waiting()) == ["other"]


def test_what_a_process_still_does_is_not_taken_from_it(archive: Archive) -> None:
    archive.add_jobs([job(), job("left")])
    for name in ("one", "left"):
        archive.jobs.take(name, "a")
    archive.jobs.take_from("a", but={"one"})
    assert list(archive.jobs.waiting()) == ["left"]


def test_steps_are_told_once_though_they_are_done_twice(archive: Archive) -> None:
    archive.add_jobs([job()])
    for runner in "ab":
        archive.jobs.take("one", runner)
        archive.jobs.tell("one", "scores", "finished")
        archive.jobs.take_from(runner)
    told = [(event.number, event.outcome) for event in archive.events("one")]
    assert told == [(1, "waiting"), (2, "begun"), (3, "finished")]


def test_nothing_of_a_job_can_be_read_once_it_is_erased(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path)) as archive:
        archive.add_jobs([job()], key=None)
        archive.jobs.take("one", "a")
        keep(archive)
        archive.erase("one")
        with refused("assessment_not_found"):
            archive.calls.of("one")
        assert not archive.jobs.is_run_by("one", "a")
    folder = tmp_path / "records/local"
    with closing(sqlite3.connect(folder / "assessments.sqlite")) as file:
        for table in ("jobs", "calls", "bodies", "events"):
            assert file.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)  # noqa: S608
    assert all(WORD.encode() not in path.read_bytes() for path in folder.iterdir())


def test_a_job_whose_erasing_broke_off_is_nobodys(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path)) as archive:
        archive.add_jobs([job(), job("begun"), job("other")])
        archive.jobs.take("begun", "a")
        with closing(sqlite3.connect(tmp_path / "records/local/assessments.sqlite")) as file, file:
            file.execute(
                "INSERT INTO erased SELECT subject_id, '', 0 FROM records WHERE id != 'other'"
            )
        assert list(archive.jobs.waiting()) == ["other"]
        with refused("assessment_not_found"):
            archive.jobs.take("one", "a")
        assert not archive.jobs.is_run_by("begun", "a")
        assert archive.jobs.fail("begun", "a", "late") is None
        assert archive.sweep() == 2


def test_a_batch_is_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path, limits=ArchiveLimits(max_records=2))) as archive:
        three = [job(name, batch_id="b", place=place) for place, name in enumerate("xyz")]
        with refused("assessments_full"):
            archive.add_jobs(three)
        with refused("batch_not_found"):
            archive.job_lists.counts("b")
        archive.add_jobs(three[:2])
        assert archive.job_lists.counts("b")[RecordState.WAITING] == 2
        assert [archive.job_lists.one(name).position for name in "xy"] == [1, 2]


def test_a_key_stands_for_one_request_until_it_is_forgotten(tmp_path: Path) -> None:
    clock = Clock()
    with closing(open_archive(tmp_path, clock=clock)) as archive:
        assert archive.idempotency.begin(KEY, "a") is None
        with refused("key_under_way"):
            archive.idempotency.begin(KEY, "b")
        archive.idempotency.forget_all_of("a")
        assert archive.idempotency.begin(KEY, "b") is None
        archive.add_jobs([job()], key=KEY)
        archive.idempotency.forget(KEY)
        assert archive.idempotency.begin(KEY, "b") == Answered(record_id="one")
        with refused("key_of_another"):
            archive.idempotency.begin(replace(KEY, fingerprint="other"), "b")
        assert archive.idempotency.begin(replace(KEY, asked_by="ben"), "b") is None
        clock.now += timedelta(hours=24)
        archive.sweep()
        assert archive.idempotency.begin(KEY, "b") == Answered(record_id="one")
        clock.now += timedelta(hours=2)
        archive.sweep()
        assert archive.idempotency.begin(KEY, "b") is None


def test_what_an_earlier_version_left_running_says_that_it_failed(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path)) as archive:
        archive.add_jobs([job()])
    path = tmp_path / "records/local/assessments.sqlite"
    with closing(sqlite3.connect(path)) as file, file:
        for table in ("idempotency", "calls", "jobs"):
            file.execute(f"DROP TABLE {table}")
        file.execute("DROP INDEX records_without_end")
        file.execute("CREATE INDEX records_by_state ON records (state) WHERE state = 'running'")
        file.execute("UPDATE records SET state = 'running', runner = 'gone'")
        file.execute("UPDATE meta SET value = 1 WHERE key = 'schema_version'")
    assert len(RECORDS) == 2
    with closing(open_archive(tmp_path)) as archive:
        told = archive.summary("one")
        assert (told.state, told.reason) == (RecordState.FAILED, "interrupted")
        assert archive.events("one")[-1].outcome == "failed"
        assert archive.jobs.runners() == frozenset()
