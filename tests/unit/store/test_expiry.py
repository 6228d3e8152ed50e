"""What was kept long enough is hidden, then removed; a wrong clock removes nothing."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.refusals import refused
from tests.unit.store.stored import (
    RATINGS,
    RESULT,
    TRANSCRIPT,
    WORD,
    Clock,
    OpenedStore,
    new_record,
    open_store,
    taken,
    waiting,
)
from tests.unit.store.test_postgresql import COLUMNS
from tests.unit.store.test_store import subjects_in

from ai_psychiatrist.domain.errors import InputError, StoreUnusable
from ai_psychiatrist.store.database import StoreLimits
from ai_psychiatrist.store.idempotency import Answered, IdempotencyKey
from ai_psychiatrist.store.interviews import StoredInterview, id_hash
from ai_psychiatrist.store.jobs import NewJob
from ai_psychiatrist.store.listing import RecordListRequest
from ai_psychiatrist.store.queue import Queue
from ai_psychiatrist.store.records import NewRecord
from ai_psychiatrist.store.removal import MOST_SWEPT, ClockFault

KEEP, GRACE = timedelta(days=30), timedelta(days=10)
LIMITS = StoreLimits(keep=KEEP, grace=GRACE)
STORED = StoredInterview(origin=b"began", state=b"state")
KEY = IdempotencyKey(asked_by="ann", digest="d", fingerprint="f")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[OpenedStore]:
    with closing(open_store(tmp_path, clock=clock, limits=LIMITS)) as opened:
        yield opened


def passing(store: OpenedStore, clock: Clock, days: int) -> dict[str, int]:
    """Let days pass with a sweep on each; returns what all of them did."""
    counts: dict[str, int] = {}
    for _ in range(days):
        clock.now += timedelta(days=1)
        swept = store.sweep()
        assert swept.clock_fault is None
        for event, count in swept.counts.items():
            counts[event] = counts.get(event, 0) + count
    return counts


def listed(store: OpenedStore) -> list[str]:
    return [line.summary.id for line in store.lists.page(RecordListRequest(rater="a")).records]


def test_what_is_hidden_counts_as_gone_everywhere(store: OpenedStore, clock: Clock) -> None:
    old = store.add(new_record("Anna"))
    store.reviews.begin(old.id, "one")
    store.reviews.append(old.id, "one", RATINGS)
    queued = NewRecord(id="job", transcript=new_record().transcript)
    store.add_jobs([NewJob(record=queued, request=b"{}", asked_by="ann", batch_id="b")])
    store.interviews.add("talk", STORED, COLUMNS)
    mark = store.reviews.mark()
    assert passing(store, clock, 31) == {"records_hidden": 2, "interviews_hidden": 1}
    for read in (store.summary, store.get, store.reviews.of, store.jobs.summary):
        with refused("assessment_not_found"):
            read(old.id)
    with refused("assessment_not_found"):
        store.jobs.take("job", "a")
    with refused("batch_not_found"):
        store.jobs.counts("b")
    with refused("interview_not_found"):
        store.interviews.load("talk")
    assert (listed(store), store.lists.finished("one"), store.opened.ids()) == ([], (), ())
    assert ([*store.interviews.list()], store.reviews.sealed()) == ([], [])
    assert store.lists.of_subject(old.subject_id) == ()
    assert waiting(store) == []
    assert store.reviews.mark() != mark
    assert store.removal.hidden() == 3


@pytest.mark.parametrize("is_begun", [False, True], ids=["waiting", "running"])
def test_a_hidden_job_is_in_nobodys_queue_until_it_is_brought_back(
    store: OpenedStore, clock: Clock, *, is_begun: bool
) -> None:
    for name in ("job", "ended"):
        record = NewRecord(id=name, transcript=TRANSCRIPT, subject="Anna")
        store.add_jobs([NewJob(record=record, request=b"{}", asked_by="ann")])
    store.jobs.cancel("ended")
    queue = Queue(database=store.files)
    if is_begun:
        taken(store, "job", "a")
    assert passing(store, clock, 31) == {"records_hidden": 2}
    assert queue.claim("b") is None
    assert queue.state() == (0, 0, None)
    assert (queue.runners(), queue.tenants_of("a")) == (frozenset(), frozenset())
    assert store.jobs.fail("job", "a", "late") is None
    assert store.removal.undelete_since(clock.now - GRACE) == 2
    assert (waiting(store), queue.state()[:2]) == (["job"], (1, 0))
    assert store.jobs.fail("job", "a", "late") is None
    assert taken(store, "job", "b").request == b"{}"
    assert queue.claim("b") is None


def test_what_is_hidden_comes_back_whole_and_is_kept_from_then_on(
    store: OpenedStore, clock: Clock
) -> None:
    old = store.add(new_record("Anna"))
    store.reviews.begin(old.id, "one")
    store.reviews.append(old.id, "one", RATINGS)
    store.interviews.add("talk", STORED, COLUMNS)
    passing(store, clock, 35)
    mark = store.reviews.mark()
    store.removal.undelete(old.id)
    assert store.get(old.id).result == RESULT
    assert [row.said for row in store.reviews.of(old.id)] == [RATINGS]
    assert store.reviews.mark() != mark
    with refused("assessment_not_found"):
        store.removal.undelete(old.id)
    assert store.removal.undelete_since(clock.now) == 0
    assert store.removal.undelete_since(clock.now - GRACE) == 1
    assert store.interviews.load("talk") == STORED
    assert passing(store, clock, 29) == {}
    assert passing(store, clock, 2) == {"records_hidden": 1, "interviews_hidden": 1}
    assert passing(store, clock, 10) == {"records_removed": 1, "interviews_expired": 1}


def test_an_interview_about_an_assessment_is_kept_as_long_as_that(
    store: OpenedStore, clock: Clock
) -> None:
    old = store.add(new_record("Anna"))
    clock.now += timedelta(days=5)
    new = store.add(new_record("Ben"))
    for name, about in (("talk", old.id), ("later", new.id), ("apart", None)):
        store.interviews.add(name, STORED, {**COLUMNS, "record_id": about})
    # What answers later changes nothing of how long it is kept.
    clock.now += timedelta(days=6)
    store.sweep()
    store.interviews.replace("talk", b"now", {**COLUMNS, "version": 2}, version=1)
    passing(store, clock, 20)
    with refused("interview_not_found"):
        store.interviews.load("talk")
    assert store.interviews.load("later") == STORED
    assert store.removal.undelete(old.id) == 2
    assert store.interviews.load("talk").state == b"now"
    store.removal.erase(old.id)
    assert [one.id for one in store.interviews.list()] == ["apart", "later"]
    assert passing(store, clock, 20)["interviews_expired"] == 2
    assert [*store.interviews.list()] == []


def test_nothing_is_left_when_the_grace_is_over(
    store: OpenedStore, clock: Clock, tmp_path: Path
) -> None:
    old, since = store.add(new_record(f"{WORD} Smith")), clock.now
    store.interviews.add("talk", STORED, COLUMNS)
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as file:
        keys = [bytes(row[0]) for row in file.execute("SELECT wrapped FROM subjects")]
    passing(store, clock, 39)
    assert len(subjects_in(tmp_path)) == 2
    assert passing(store, clock, 2) == {"records_removed": 1, "interviews_expired": 1}
    assert subjects_in(tmp_path) == set()
    assert store.removal.undelete_since(since) == 0
    with refused("assessment_not_found"):
        store.removal.undelete(old.id)
    at_rest = b"".join(path.read_bytes() for path in tmp_path.glob("*.sqlite*"))
    assert not [key for key in keys if key in at_rest]
    assert old.id.encode() not in at_rest


def test_without_a_grace_one_sweep_removes(tmp_path: Path, clock: Clock) -> None:
    limits = StoreLimits(keep=KEEP, grace=timedelta(0))
    with closing(open_store(tmp_path, clock=clock, limits=limits)) as store:
        store.add(new_record("Anna"))
        counts = passing(store, clock, 31)
        assert counts == {"records_hidden": 1, "records_removed": 1}
        assert subjects_in(tmp_path) == set()


def test_erasing_on_request_knows_no_grace(
    store: OpenedStore, clock: Clock, tmp_path: Path
) -> None:
    anna, ben = (store.add(new_record(name)) for name in ("Anna", "Ben"))
    store.interviews.add("talk", STORED, COLUMNS)
    passing(store, clock, 31)
    store.removal.erase(anna.id)
    assert store.removal.erase_subject(ben.subject_id) == 1
    store.interviews.delete(id_hash("talk"))
    assert subjects_in(tmp_path) == set()
    assert store.removal.hidden() == 0


def test_what_no_key_opens_stays_hidden(store: OpenedStore, clock: Clock) -> None:
    old = store.add(new_record("Anna"))
    passing(store, clock, 31)
    store.keys.forget(old.subject_id)
    with refused("assessment_not_found"):
        store.removal.undelete(old.id)
    assert store.removal.undelete_since(clock.now - GRACE) == 0


@pytest.mark.parametrize("jump", [timedelta(days=8), timedelta(days=3_650)])
def test_a_clock_that_jumps_ahead_removes_nothing(
    store: OpenedStore, clock: Clock, jump: timedelta
) -> None:
    """Not even when more is stored after the jump."""
    old = store.add(new_record("Anna"))
    store.idempotency.begin(KEY, "a")
    store.idempotency.answer(KEY, Answered(record_id=old.id))
    passing(store, clock, 29)
    clock.now += jump
    store.add(new_record("Ben"))
    assert store.sweep().clock_fault is ClockFault.AHEAD
    assert store.sweep().counts == {}
    assert store.get(old.id).result == RESULT
    clock.now -= jump
    clock.now += timedelta(minutes=5)
    # What was stored meanwhile is of the future now.
    assert store.sweep().clock_fault is ClockFault.BEHIND
    assert store.sweep(after_jump=True).counts == {}
    assert passing(store, clock, 3) == {"records_hidden": 1}
    assert passing(store, clock, 28) == {"records_hidden": 1, "records_removed": 1}


def test_what_is_stored_in_small_steps_vouches_for_the_clock(
    store: OpenedStore, clock: Clock
) -> None:
    store.add(new_record("Anna"))
    for _ in range(6):
        clock.now += timedelta(days=6)
        store.add(new_record())
    assert store.sweep().counts == {"records_hidden": 2}


@pytest.mark.parametrize("back", [timedelta(hours=2), timedelta(days=20_000)])
def test_a_clock_behind_the_newest_row_sweeps_nothing(
    store: OpenedStore, clock: Clock, back: timedelta
) -> None:
    store.add(new_record("Anna"))
    clock.now -= back
    assert store.sweep().clock_fault is ClockFault.BEHIND
    clock.now += back
    assert store.sweep().clock_fault is None


def test_an_operator_lets_one_sweep_follow_a_jump(tmp_path: Path, clock: Clock) -> None:
    with closing(open_store(tmp_path, clock=clock, limits=LIMITS)) as store:
        store.add(new_record("Anna"))
    clock.now += timedelta(days=90)
    limits = StoreLimits(keep=KEEP, grace=GRACE, sweep_after_jump=True)
    with closing(open_store(tmp_path, clock=clock, limits=limits)) as store:
        assert store.sweep().counts == {"records_hidden": 1}
        clock.now += timedelta(days=90)
        assert store.sweep().clock_fault is ClockFault.AHEAD


def test_a_sweep_goes_by_steps(store: OpenedStore, clock: Clock) -> None:
    with store.database.writing():
        for number in range(MOST_SWEPT + 5):
            store.interviews.add(f"talk {number}", STORED, COLUMNS)
    clock.now += timedelta(days=31)
    assert store.sweep(after_jump=True).counts == {"interviews_hidden": MOST_SWEPT}
    assert store.sweep().counts == {"interviews_hidden": 5}


def test_what_is_not_announced_is_not_swept(store: OpenedStore, clock: Clock) -> None:
    def refuse() -> None:
        raise StoreUnusable(problem_code="audit_unavailable")

    assert store.sweep(announce=refuse).counts == {}
    old = store.add(new_record("Anna"))
    clock.now += timedelta(days=31)
    with refused("audit_unavailable"):
        store.sweep(after_jump=True, announce=refuse)
    assert store.get(old.id).result == RESULT


def test_a_moment_that_is_none_is_not_taken_from_a_file(store: OpenedStore, tmp_path: Path) -> None:
    old = store.add(new_record("Anna"))
    store.interviews.add("talk", STORED, COLUMNS)
    given, (talk,) = store.opened.of(old.id), store.interviews.opened()
    assert talk is not None
    odd, zone = {"kept_from": "never"}, {"kept_from": "2026-01-01T02:00:00+02:00"}
    with closing(open_store(tmp_path / "other", tenant="other")) as other:
        for row in ({**given.row, **odd}, {**given.row, "kept_from": None}):
            with pytest.raises(InputError):
                other.opened.take_in(replace(given, row=row))
        with pytest.raises(InputError):
            other.interviews.take_in(replace(talk, row={**talk.row, **odd}))
        assert other.opened.take_in(replace(given, row={**given.row, **zone}))
        assert other.opened.of(old.id).row["kept_from"] == "2026-01-01T00:00:00.000+00:00"
        assert other.interviews.take_in(talk)
        assert other.removal.clock_fault() is None


def counted(folder: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(folder / "store.sqlite")) as file:
        query = "SELECT record_bytes, interview_bytes FROM tenants WHERE tenant = 'local'"
        records, interviews = file.execute(query).fetchone()
    return records, interviews


def test_stored_bytes_are_counted_whatever_happens(store: OpenedStore, tmp_path: Path) -> None:
    def sealed(*tables: str) -> int:
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file:
            queries = (f"SELECT coalesce(sum(length(body)), 0) FROM {one}" for one in tables)  # noqa: S608
            return sum(file.execute(query).fetchone()[0] for query in queries)

    anna = store.add(new_record("Anna"))
    ben = store.add(new_record("Ben"))
    store.reviews.begin(ben.id, "one")
    store.reviews.append(ben.id, "one", RATINGS)
    store.interviews.add("talk", STORED, COLUMNS)
    store.interviews.replace("talk", b"later and longer", {**COLUMNS, "version": 2}, version=1)
    found = counted(tmp_path)
    assert found[0] == sealed("bodies", "calls", "reviews") > 0
    assert found[1] == sealed("interviews", "origins", "answers", "turns") > 0
    store.removal.erase(anna.id)
    store.removal.erase_subject(ben.subject_id)
    store.interviews.delete(id_hash("talk"))
    assert counted(tmp_path) == (0, 0)


def test_a_tenant_stores_no_more_bytes_than_it_may(tmp_path: Path) -> None:
    limits = StoreLimits(max_bytes=3_000)
    with (
        closing(open_store(tmp_path, limits=limits)) as store,
        closing(open_store(tmp_path, tenant="other", limits=limits)) as other,
    ):
        kept = [store.add(new_record("Anna"))]
        store.reviews.begin(kept[0].id, "one")
        with refused("storage_full"):
            while True:
                kept.append(store.add(new_record("Anna")))
        with refused("storage_full"):
            store.add_jobs([NewJob(record=new_record(), request=b"", asked_by="ann")])
        with refused("storage_full"):
            store.interviews.add("talk", StoredInterview(origin=b"x" * 2_000, state=b""), COLUMNS)
        with refused("storage_full"):
            for _ in range(9):
                store.reviews.append(kept[0].id, "one", RATINGS)
        assert sum(counted(tmp_path)) <= 3_000
        other.add(new_record("Anna"))
        store.removal.erase_subject(kept[0].subject_id)
        store.add(new_record("Anna"))


def test_a_full_disk_is_told_and_leaves_nothing_half_stored(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        kept = store.add(new_record("Anna"))
        with store.files.transaction("local", writes=False) as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 3}")
            before = connection.exec_driver_sql("SELECT count(*) FROM bodies").scalar_one()
        stored = 0
        with refused("storage_full"):
            while True:
                store.add(new_record("Anna"))
                stored += 1
        with store.files.transaction("local", writes=False) as connection:
            after = connection.exec_driver_sql("SELECT count(*) FROM bodies").scalar_one()
            connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
        assert after == before + 2 * stored
        assert len(listed(store)) == 1 + stored
        assert store.get(kept.id).result == RESULT
        store.add(new_record("Ben"))
