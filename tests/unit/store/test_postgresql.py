"""The store in PostgreSQL: the same answers, and a second wall between tenants."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL
from tests.fakes.access import WARD
from tests.fakes.refusals import refused
from tests.jobs.places import owned_database, server_address
from tests.patience import PATIENCE_SECONDS
from tests.unit.store.stored import (
    RATINGS,
    RESULT,
    TRANSCRIPT,
    Clock,
    figures,
    keys_in,
    new_record,
)

import ai_psychiatrist.store.database as database_module
from ai_psychiatrist.access.interview_links import InterviewLinks
from ai_psychiatrist.access.keys import KeyStore
from ai_psychiatrist.access.sessions import MOST_OF_ONE, SessionStore
from ai_psychiatrist.domain.acknowledgement import Statement, WasRead
from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    InputError,
    RequestConflict,
    StoreUnusable,
)
from ai_psychiatrist.domain.failures import CallPath
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel
from ai_psychiatrist.store.audit import NO_TENANT, AuditLogs
from ai_psychiatrist.store.database import Database, StoreLimits, Value, written
from ai_psychiatrist.store.deliveries import (
    Delivery,
    DeliveryEvent,
    DeliveryState,
    DueDelivery,
    InterviewNotice,
)
from ai_psychiatrist.store.interviews import InterviewListRequest, StoredInterview, id_hash
from ai_psychiatrist.store.job_rows import KeptJobCall
from ai_psychiatrist.store.jobs import JobRef, NewJob, TakenJob
from ai_psychiatrist.store.listing import RecordListRequest, Sort
from ai_psychiatrist.store.opening import open_postgresql
from ai_psychiatrist.store.queue import Queue
from ai_psychiatrist.store.records import NewRecord
from ai_psychiatrist.store.removal import ClockFault
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.wiring.backup import back_up

COLUMNS: dict[str, Value] = {
    "version": 1,
    "protocol": "phq8",
    "protocol_version": "1",
    "protocol_digest": "d",
    "state": "awaiting",
    "turns": 0,
    "model_calls": 0,
    "end_reason": None,
    "danger": None,
    "to_read": 0,
    "total_min": None,
    "total_max": None,
}


@pytest.fixture(scope="module")
def place() -> Iterator[URL]:
    """An empty database that belongs to a role which is no superuser."""
    with owned_database(server_address()) as url:
        yield url


@pytest.fixture
def database(place: URL) -> Iterator[Database]:
    with closing(open_postgresql(place)) as opened:
        yield opened


def store_of(database: Database, folder: Path, tenant: str, clock: Clock | None = None) -> Store:
    return Store(database, keys_in(folder), tenant, clock=clock or Clock())


def test_jobs_that_are_done_at_once_end_once_each_with_all_their_steps(
    database: Database, tmp_path: Path
) -> None:
    store, queue = store_of(database, tmp_path, "busy"), Queue(database=database)
    names = [f"job-{number}" for number in range(24)]
    store.add_jobs(
        [
            NewJob(record=NewRecord(id=name, transcript=TRANSCRIPT), request=b"{}", asked_by="ann")
            for name in names
        ]
    )
    steps = ("evidence", "scores")

    def done(runner: str) -> int:
        ended = 0
        while (job := queue.claim(runner)) is not None:
            assert isinstance(store.jobs.take(job.id, runner), TakenJob)
            for step in steps:
                # Of a job that others have taken for dead, two processes tell.
                with ThreadPoolExecutor() as both:
                    list(both.map(lambda _, s=step: store.jobs.tell(job.id, s, "finished"), "ab"))
            if job.id in names[:4]:
                store.jobs.cancel(job.id)
            ended += store.jobs.finish(job.id, runner, RESULT, figures()) is not None
        return ended

    with ThreadPoolExecutor() as pool:
        assert sum(pool.map(done, "abcd")) == 20
    for name in names:
        told = store.jobs.events(name)
        last = "cancelled" if name in names[:4] else "finished"
        assert [event.number for event in told] == [1, 2, 3, 4, 5]
        assert [event.outcome for event in told] == ["waiting", "begun", *["finished"] * 2, last]
    assert queue.state() == (0, 0, None)


END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user"


def test_a_server_that_was_started_again_is_not_noticed(
    place: URL, database: Database, tmp_path: Path
) -> None:
    store = store_of(database, tmp_path, "restarted")
    address = place.set(drivername="postgresql").render_as_string(hide_password=False)

    def cut() -> None:
        with psycopg.connect(address) as connection:
            connection.execute(f"{END_OTHERS} AND pid != pg_backend_pid()")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: store.lists.finished("nobody"), range(20)))
    cut()
    new = store.add(new_record("Anna"))
    cut()
    assert store.get(new.id).result == RESULT

    def broken_off() -> None:
        with database.transaction("restarted", writes=True) as begun:
            begun.execute(text("UPDATE tenants SET last_record = 9 WHERE tenant = 'restarted'"))
            cut()

    with pytest.raises(StoreUnusable):
        broken_off()
    assert store.database.counter("last_record") == 1


def test_a_process_that_stands_still_amid_a_change_is_not_waited_for(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_LONGEST_PAUSE_SECONDS", 1)
    store = store_of(database, tmp_path, "paused")
    store.add(new_record("Anna"))

    def stands_still() -> None:
        with database.transaction("paused", writes=True) as begun:
            begun.execute(text("UPDATE tenants SET last_record = 9 WHERE tenant = 'paused'"))
            with ThreadPoolExecutor(1) as other:
                other.submit(store.add, new_record("Berta")).result(timeout=PATIENCE_SECONDS)

    with pytest.raises(StoreUnusable):
        stands_still()
    assert store.database.counter("last_record") == 2


def rows_seen(place: URL, tenant: str | None, statement: str) -> int:
    """Return how many rows a session of a tenant sees or changes by a statement."""
    address = place.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address) as connection:
        if tenant is not None:
            connection.execute("SELECT set_config('store.tenant', %s, true)", (tenant,))
        return connection.execute(statement.encode()).rowcount


def test_servers_that_start_at_once_make_one_store(place: URL) -> None:
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(open_postgresql, [place] * 4))
    for one in opened:
        one.close()


def test_assessments_reviews_and_jobs_are_kept_as_in_files(
    database: Database, tmp_path: Path
) -> None:
    store, new = store_of(database, tmp_path, "one"), new_record("Anna")
    subject_id = store.add(new).subject_id
    assert store.add(new_record(" Anna ")).subject_id == subject_id
    assert store.get(new.id).result == RESULT
    assert store.keys.name(subject_id) == "Anna"
    store.reviews.begin(new.id, "rater")
    store.reviews.append(new.id, "rater", RATINGS)
    assert [row.said for row in store.reviews.of(new.id)] == [RATINGS]
    with refused("already_committed"):
        store.reviews.append(new.id, "rater", RATINGS)
    for sort in Sort:
        assert store.lists.page(RecordListRequest(rater="rater", sort=sort, limit=1)).total == 2
    record = NewRecord(id="job", transcript=TRANSCRIPT)
    store.add_jobs([NewJob(record=record, request=b"{}", asked_by="ann")])
    assert store.jobs.summary("job").position == 1
    with ThreadPoolExecutor() as pool:
        claimed = list(pool.map(Queue(database=database).claim, "abcd"))
    assert claimed.count(None) == 3
    answers = [store.jobs.take("job", runner) for runner in "abcd"]
    (taken,) = (one for one in answers if isinstance(one, TakenJob))
    call = ModelCall(agent="a", model="m", path=CallPath.AGENT, digest="d", reply='"said"')
    kept = [KeptJobCall(record_id=name, call=call, seal=taken.seal) for name in ("job", "none")]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: store.jobs.keep(kept), range(2)))
    (owner,) = (one for one, found in zip("abcd", answers, strict=True) if found is taken)
    store.jobs.put_back("job", owner)
    assert Queue(database=database).claim("e") == JobRef("one", "job")
    again = store.jobs.take("job", "e")
    assert isinstance(again, TakenJob)
    assert again.calls == {("d", 0): call}
    assert store.keys.rotate() == 2
    assert store.get(new.id).result == RESULT
    assert store.removal.erase_subject(subject_id) == 2
    with refused("assessment_not_found"):
        store.get(new.id)


def test_what_reads_sees_all_rows_as_they_were_at_one_moment(
    database: Database, tmp_path: Path
) -> None:
    store = store_of(database, tmp_path, "read")
    store.add(new_record())
    with ThreadPoolExecutor(1) as pool, store.database.reading():
        assert store.lists.page(RecordListRequest(rater="a")).total == 1
        added = pool.submit(store.add, new_record()).result()
        assert store.lists.page(RecordListRequest(rater="a")).total == 1
        with refused("assessment_not_found"):
            store.get(added.id)
    assert store.get(added.id).result == RESULT


def test_webhooks_of_all_tenants_are_found_and_each_is_sent_by_one_process(
    database: Database, tmp_path: Path
) -> None:
    stores = [store_of(database, tmp_path, tenant) for tenant in ("hook-a", "hook-b")]
    to = Callback(host="hooks.example:443", url="https://hooks.example/")
    for store in stores:
        new = [NewRecord(id=one, transcript=TRANSCRIPT, subject="Anna") for one in ("j1", "j2")]
        store.add_jobs(
            [NewJob(record=one, request=b"{}", asked_by="ann", callback=to) for one in new]
        )
    later = datetime(2026, 1, 2, tzinfo=UTC)
    assert database.tenants(due=written(later)) == ()
    for store in stores:
        store.jobs.cancel("j1")
    assert set(database.tenants(due=written(later))) == {"hook-a", "hook-b"}

    def claimed(store: Store) -> DueDelivery | None:
        return store.deliveries.claim([to.host], [to.host], now=later)

    with ThreadPoolExecutor() as pool:
        (due,) = (one for one in pool.map(claimed, [stores[0]] * 4) if one is not None)
    assert (due.job_id, due.callback) == ("j1", to)
    assert database.tenants(due=written(later)) == ("hook-b",)
    stores[0].deliveries.note(due, DeliveryState.GIVEN_UP, "http_410", due=later)
    assert stores[0].deliveries.redo(now=later) == 1
    stores[0].removal.erase_subject(stores[0].summary("j1").subject_id)
    assert stores[0].deliveries.one("j2") is None
    assert claimed(stores[0]) is None
    assert stores[1].deliveries.one("j1") == Delivery(state=DeliveryState.PENDING, tries=0)


def test_danger_that_is_not_read_is_told_by_one_process(database: Database, tmp_path: Path) -> None:
    store = store_of(database, tmp_path, "unread")
    to = Callback(host="hooks.example:443", url="https://hooks.example/")
    danger = figures(danger=RiskLevel.HIGH, danger_group=RiskGroup.READ_NOW, to_read=1)
    for name in ("read", "unread"):
        new = NewRecord(id=name, transcript=TRANSCRIPT, figures=danger)
        store.add_jobs([NewJob(record=new, request=b"{}", asked_by="ann", callback=to)])
        store.jobs.cancel(name)
    said = WasRead(statements=(Statement(start=0, end=5),))
    store.acknowledgements.add("read", "ann", said, unread=0)
    later = datetime(2026, 1, 2, tzinfo=UTC)
    with ThreadPoolExecutor() as pool:
        found = pool.map(
            lambda _: store.deliveries.claim([to.host], [to.host], now=later), "abcdef"
        )
        told = [json.loads(due.body) for due in found if due is not None]
    assert sorted((one["type"], one["data"]["job_id"]) for one in told) == [
        ("assessment.unread", "unread"),
        ("job.cancelled", "read"),
        ("job.cancelled", "unread"),
    ]


def test_of_several_at_once_one_gets_a_study_id_that_is_unique(
    database: Database, tmp_path: Path
) -> None:
    limits = StoreLimits(unique_subjects=True)
    store = Store(database, keys_in(tmp_path), "unique", limits=limits, clock=Clock())

    def add(name: str) -> bool:
        new = NewRecord(id=name, transcript=TRANSCRIPT, subject="Anna")
        try:
            store.add_jobs([NewJob(record=new, request=b"{}", asked_by="ann")])
        except RequestConflict as error:
            return error.field != "subject"
        return True

    with ThreadPoolExecutor() as pool:
        assert sum(pool.map(add, "abcdef")) == 1


def test_danger_in_interviews_is_in_lists_of_records(database: Database, tmp_path: Path) -> None:
    store = store_of(database, tmp_path, "in-danger")
    grave, _ = store.add(new_record("Anna")), store.add(new_record("Ben"))
    stored = StoredInterview(origin=b"began", state=b"state")
    columns = {**COLUMNS, "record_id": grave.id, "danger": RiskLevel.HIGH.rank, "to_read": 2}
    done = {**COLUMNS, "record_id": grave.id, "state": "done", "total_min": 4, "total_max": 7}
    assert store.interviews.add("held", stored, columns)
    assert store.interviews.add("done", stored, done)
    for wanted in ({"sort": Sort.UNREAD}, {"sort": Sort.DANGER}, {"unread": True}):
        first = store.lists.page(RecordListRequest(rater="a", **wanted)).records[0]
        assert (first.summary.id, first.danger) == (grave.id, RiskLevel.HIGH)
        assert (first.interview_unread, first.interview_total) == (2, (4, 7))
    assert store.lists.page(RecordListRequest(rater="a", danger=RiskLevel.HIGH)).total == 1
    assert (store.lists.unread(), store.interviews.unread()) == (1, 0)
    said = WasRead(statements=(Statement(turn=1, start=0, end=5),))
    store.interviews.acknowledge("held", "ann", said, newly_read=2)
    assert store.lists.unread() == 0
    assert [one.said for one in store.interviews.acknowledged("held")] == [said]
    assert {one.id for one in store.interviews.meant_by("Anna")} == {"done", "held"}
    store.removal.erase(grave.id)
    assert [*store.interviews.list()] == []


def test_of_one_level_held_interviews_come_first_and_then_more_statements(
    database: Database, tmp_path: Path
) -> None:
    store = store_of(database, tmp_path, "in-order")
    high = partial(figures, danger=RiskLevel.HIGH)
    held, several, one, moderate = (
        store.add(new_record(of=found)).id
        for found in (
            high(to_read=1),
            high(to_read=3),
            high(to_read=1),
            figures(danger=RiskLevel.MODERATE, to_read=9),
        )
    )
    stored = StoredInterview(origin=b"began", state=b"state")
    columns: dict[str, Value] = {
        "record_id": held,
        "state": "safety_hold",
        "danger": RiskLevel.HIGH.rank,
    }
    assert store.interviews.add("held", stored, {**COLUMNS, **columns, "to_read": 1})
    for sort in (Sort.UNREAD, Sort.DANGER):
        listed = store.lists.page(RecordListRequest(rater="a", sort=sort)).records
        assert [one.summary.id for one in listed] == [held, several, one, moderate]


def test_interviews_are_kept_as_in_files(place: URL, database: Database, tmp_path: Path) -> None:
    clock = Clock()
    store = store_of(database, tmp_path, "talks", clock)
    rows = store.interviews
    stored = StoredInterview(origin=b"began", state=b"state")
    assert rows.add("an-id", stored, COLUMNS)
    assert rows.load("an-id") == stored
    to = Callback(host="hooks.example:443", url="https://hooks.example/")
    notice = InterviewNotice(
        event=DeliveryEvent.INTERVIEW_HELD, callback=to, data={"interview_id": "an-id"}
    )
    held = {**COLUMNS, "version": 2, "state": "safety_hold"}
    rows.replace("an-id", b"later", held, version=1, notices=[notice])
    due = store.deliveries.claim([to.host], [to.host], now=clock.now)
    assert due is not None
    assert (due.interview_id, due.job_id, due.callback) == ("an-id", None, to)
    store.deliveries.note(due, DeliveryState.DELIVERED, None, due=clock.now)
    assert rows.add("another", stored, COLUMNS)
    first = rows.page(InterviewListRequest(limit=1))
    second = rows.page(InterviewListRequest(limit=1, cursor=first.next))
    listed = [page.interviews[0].id for page in (first, second)]
    assert (listed, first.total, second.next) == (["an-id", "another"], 2, None)
    rows.delete(id_hash("another"))
    with refused("version_conflict"):
        rows.replace("an-id", b"late", {**COLUMNS, "version": 2}, version=1)
    assert [one.id for one in rows.list()] == ["an-id"]
    links = InterviewLinks(database=lambda: database)
    links.create("talks", id_hash("an-id"), hours=2_000)
    assert rows.id_of(id_hash("an-id")) == "an-id"
    clock.now += timedelta(days=31)
    assert store.sweep().clock_fault is ClockFault.AHEAD
    assert store.sweep(after_jump=True).counts == {"interviews_hidden": 1}
    assert list(rows.list()) == []
    store.removal.undelete("an-id")
    assert rows.load("an-id") == StoredInterview(origin=b"began", state=b"later")
    clock.now += timedelta(days=31)
    store.sweep(after_jump=True)
    clock.now += timedelta(days=15)
    assert store.sweep(after_jump=True).counts == {"interviews_expired": 1}
    assert list(rows.list()) == []
    assert rows_seen(place, "talks", "SELECT * FROM keys.subjects") == 0
    assert links.of(id_hash("an-id")) is None


def test_a_link_is_opened_once_however_many_come_at_the_same_time(database: Database) -> None:
    links = InterviewLinks(database=lambda: database)
    first, second = (links.create("east", "a" * 64, hours=1) for _ in "12")
    assert links.open(first.token) is None
    with ThreadPoolExecutor(4) as pool:
        opened = [one for one in pool.map(links.open, [second.token] * 4) if one is not None]
    assert [links.find(one.cookie) for one in opened] == [opened[0].link]
    assert KeyStore(database=lambda: database).all() == ()
    assert links.revoke("a" * 64)
    assert not links.revoke("a" * 64)
    assert links.find(opened[0].cookie) is None


def test_hidden_jobs_leave_the_queue_as_in_files(
    place: URL, database: Database, tmp_path: Path
) -> None:
    clock, queued = Clock(), "SELECT * FROM queue WHERE tenant = 'hidden' AND runner IS NULL"
    store = store_of(database, tmp_path, "hidden", clock)
    record = replace(new_record("Anna"), id="job", result=None)
    store.add_jobs([NewJob(record=record, request=b"{}", asked_by="ann")])
    assert rows_seen(place, "hidden", queued) == 1
    clock.now += timedelta(days=366)
    assert store.sweep(after_jump=True).counts == {"records_hidden": 1}
    assert rows_seen(place, "hidden", queued) == 0
    assert store.removal.undelete("job") == 1
    assert rows_seen(place, "hidden", queued) == 1


def test_the_database_itself_keeps_tenants_apart(
    place: URL, database: Database, tmp_path: Path
) -> None:
    north, south = (store_of(database, tmp_path, name) for name in ("north", "south"))
    new = new_record("Anna")
    north.add(new)
    north.reviews.begin(new.id, "rater")
    north.reviews.append(new.id, "rater", RATINGS)
    with refused("assessment_not_found"):
        south.get(new.id)
    for table in ("records", "bodies", "reviews", "keys.subjects", "keys.wraps"):
        every = f"SELECT * FROM {table} WHERE tenant IN ('north', 'south')"  # noqa: S608
        assert rows_seen(place, "north", every) >= 1
        assert rows_seen(place, None, every) == 0
        own = f"SELECT * FROM {table} WHERE tenant = 'north'"  # noqa: S608
        assert rows_seen(place, "south", own) == 0
    assert rows_seen(place, "south", "DELETE FROM records WHERE tenant = 'north'") == 0
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        rows_seen(place, "north", "UPDATE reviews SET rater = 'another'")


def test_audit_logs_are_chains_that_the_database_itself_keeps(
    place: URL, database: Database
) -> None:
    def add(tenant: str) -> None:
        logs.of(tenant).append(actor="local", action="queue_seen", outcome="200")

    logs = AuditLogs(database=lambda: database, key=lambda: b"k" * 32)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add, ["east", NO_TENANT] * 20))
    for tenant in ("east", NO_TENANT):
        checked = logs.of(tenant).check()
        assert (checked.findings, checked.end.n) == ((), 20)
        logs.of(tenant).require_whole()
    assert {"east", NO_TENANT} <= {log.tenant for log in logs.all()}
    for change in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit", "TRUNCATE audit"):
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            rows_seen(place, "east", change)
    assert rows_seen(place, "west", "SELECT * FROM audit") == 0
    assert rows_seen(place, "east", "DELETE FROM keys.audit_heads WHERE tenant = 'east'") == 1
    with pytest.raises(StoreUnusable, match="head is gone"):
        add("east")
    (found,) = [log for log in logs.all() if log.tenant == "east"]
    assert [finding.fault for finding in found.check().findings] == ["head missing"]
    assert logs.of(NO_TENANT).check().findings == ()


def test_keys_and_sessions_are_kept_as_in_files(database: Database) -> None:
    keys = KeyStore(database=lambda: database)
    sessions = SessionStore(database=lambda: database)
    made, other = keys.create(WARD), keys.create(WARD)
    found = keys.find(made.text)
    assert found is not None
    assert found.principal == made.key.principal
    assert keys.get(made.key.id).used_at is not None
    with ThreadPoolExecutor(4) as pool:
        twins = [pool.submit(keys.create_like, made.key.id) for _ in "1234"]
    assert sum(isinstance(twin.exception(), InputError) for twin in twins) == 3
    kept = sessions.begin(other.key).token
    tokens = [sessions.begin(made.key).token for _ in range(MOST_OF_ONE + 1)]
    lasting = [sessions.find(token, takes_raters=False) is not None for token in (kept, *tokens)]
    assert lasting == [True, False, *[True] * MOST_OF_ONE]
    keys.revoke(made.key.id)
    assert keys.find(made.text) is None
    assert sessions.find(tokens[-1], takes_raters=False) is None
    sessions.end(kept)
    assert sessions.find(kept, takes_raters=False) is None


def test_another_key_and_a_server_that_is_away_are_told(place: URL, tmp_path: Path) -> None:
    with closing(open_postgresql(place)) as database:
        store_of(database, tmp_path, "kept").add(new_record())
        (tmp_path / "records.key").write_text("00" * 32)
        with pytest.raises((ArtifactMismatch, ConfigurationError)):
            store_of(database, tmp_path, "kept")
    with pytest.raises(StoreUnusable):
        open_postgresql(place.set(port=1))


def test_a_full_disk_and_stored_bytes_are_told_as_of_files(
    place: URL, database: Database, tmp_path: Path
) -> None:
    store, new = store_of(database, tmp_path, "full"), new_record("Anna")
    store.add(new)
    assert store.database.bytes_stored() > 0
    address = place.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$"
        )
        connection.execute(
            "CREATE TRIGGER no_room BEFORE INSERT ON bodies FOR EACH ROW EXECUTE FUNCTION no_room()"
        )
        with refused("storage_full"):
            store.add(new_record("Ben"))
        connection.execute("DROP TRIGGER no_room ON bodies")
    assert store.lists.page(RecordListRequest(rater="a")).total == 1
    store.removal.erase(new.id)
    assert store.database.bytes_stored() == 0
    assert database.faults() == 0
    with pytest.raises(InputError, match="pg_dump --format=custom --exclude-schema=keys"):
        back_up(database, tmp_path, tmp_path / "out", keys_out=None)
    assert not (tmp_path / "out").exists()
