"""What is kept of webhooks, until when, and which process sends them."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.store.stored import RESULT, TRANSCRIPT, Clock, OpenedStore, figures, open_store
from tests.unit.store.test_postgresql import COLUMNS

from ai_psychiatrist.domain.acknowledgement import Statement, WasRead
from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel
from ai_psychiatrist.store.database import StoreLimits, written
from ai_psychiatrist.store.deliveries import (
    MOST_TRIES,
    TRY_TIME,
    UNNAMED_TIME,
    Delivery,
    DeliveryEvent,
    DeliveryState,
    DueDelivery,
    InterviewNotice,
)
from ai_psychiatrist.store.interviews import StoredInterview
from ai_psychiatrist.store.jobs import NewJob
from ai_psychiatrist.store.records import Figures, NewRecord
from ai_psychiatrist.store.store import Store

HOST = "hooks.example:443"
PATH = "secret-path"
LATER = datetime(2026, 1, 2, tzinfo=UTC)
"""After all that the clock of the store shows in a test."""
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OpenedStore]:
    with closing(open_store(tmp_path)) as opened:
        yield opened


def expect(
    store: Store, *job_ids: str, subject: str | None = None, batch: str | None = None
) -> None:
    """Store jobs of which somebody wants to be notified."""
    found = Figures(danger=RiskLevel.LOW, danger_group=RiskGroup.PAST_OR_OF_OTHERS)
    store.add_jobs(
        [
            NewJob(
                record=NewRecord(id=one, transcript=TRANSCRIPT, subject=subject, figures=found),
                request=b"{}",
                asked_by="ann",
                batch_id=batch,
                callback=Callback(host=HOST, url=f"https://{HOST}/{PATH}"),
            )
            for one in job_ids
        ],
        runner="runner",
    )


def end(store: Store, job_id: str = "job-1") -> None:
    """Let a job that waits finish."""
    store.jobs.take(job_id, "runner")
    found = figures(danger=RiskLevel.HIGH, danger_group=RiskGroup.READ_NOW)
    assert store.jobs.finish(job_id, "runner", RESULT, found)


def claimed(store: Store, now: datetime = LATER, most: int = 4) -> tuple[DueDelivery, ...]:
    """Take so many that are due, one after the other."""
    due = (store.deliveries.claim([HOST], [HOST], now=now) for _ in range(most))
    return tuple(one for one in due if one is not None)


def is_due(store: OpenedStore, now: datetime = LATER) -> bool:
    """Return whether whoever looks for tenants with something due finds this one."""
    return store.files.tenants(due=written(now)) == ("local",)


def state_of(store: Store, job_id: str = "job-1") -> tuple[str, int] | None:
    found = store.deliveries.one(job_id)
    return None if found is None else (found.state.value, found.tries)


def test_webhook_is_due_once_the_job_has_ended_and_is_sent_by_one_process(
    store: OpenedStore, tmp_path: Path
) -> None:
    expect(store, "job-1")
    assert not is_due(store)
    assert claimed(store) == ()
    assert store.deliveries.one("job-1") == Delivery(state=DeliveryState.EXPECTED, tries=0)
    end(store)
    assert is_due(store)
    with closing(open_store(tmp_path)) as other, ThreadPoolExecutor() as pool:
        (due,) = sum(pool.map(claimed, [store, other] * 4), ())
    assert (due.job_id, due.tries) == ("job-1", 1)
    assert due.callback.url == f"https://{HOST}/{PATH}"
    assert not is_due(store)


def test_event_tells_the_end_and_the_danger_without_words(store: OpenedStore) -> None:
    expect(store, "job-1", batch="b-1")
    end(store)
    (due,) = claimed(store)
    told = store.jobs.summary("job-1")
    assert told.ended_at is not None
    created_at, ended_at = (
        written(at).replace("+00:00", "Z") for at in (told.created_at, told.ended_at)
    )
    assert json.loads(due.body) == {
        "id": due.id,
        "type": "job.finished",
        "timestamp": ended_at,
        "data": {
            "job_id": "job-1",
            "batch_id": "b-1",
            "state": "finished",
            "status": "complete",
            "reason": None,
            "danger": "high",
            "danger_group": "read_now",
            "created_at": created_at,
            "ended_at": ended_at,
        },
    }


def test_event_of_a_job_without_a_result_tells_the_danger_that_was_read(store: OpenedStore) -> None:
    expect(store, "cancelled", "failed", "broken")
    store.jobs.cancel("cancelled")
    for job_id in ("failed", "broken"):
        store.jobs.take(job_id, "runner")
    store.jobs.fail("broken", "runner", "internal_error")
    danger = Figures(danger=RiskLevel.HIGH, danger_group=RiskGroup.FOUND_BY_WORDS_ALONE)
    store.jobs.fail("failed", "runner", "timed_out", account=b"{}", figures=danger)
    told = {due.job_id: json.loads(due.body) for due in claimed(store)}
    assert {job_id: event["type"] for job_id, event in told.items()} == {
        "cancelled": "job.cancelled",
        "failed": "job.failed",
        "broken": "job.failed",
    }
    assert told["failed"]["data"]["reason"] == "timed_out"
    assert {
        job_id: (event["data"]["danger"], event["data"]["danger_group"])
        for job_id, event in told.items()
    } == {
        "cancelled": ("low", "past_or_of_others"),
        "failed": ("high", "found_by_words_alone"),
        "broken": ("low", "past_or_of_others"),
    }


def test_end_of_a_job_that_nobody_wants_to_hear_of_is_nothing(store: OpenedStore) -> None:
    record = NewRecord(id="job-1", transcript=TRANSCRIPT)
    store.add_jobs([NewJob(record=record, request=b"{}", asked_by="ann")], runner="runner")
    end(store)
    assert not is_due(store)
    assert store.deliveries.one("job-1") is None


def test_jobs_of_two_tenants_are_two(store: OpenedStore, tmp_path: Path) -> None:
    with closing(open_store(tmp_path, tenant="other")) as other:
        expect(store, "job-1")
        expect(other, "job-1")
        end(other)
        assert (state_of(store), state_of(other)) == (("expected", 0), ("pending", 0))
        assert store.files.tenants(due=written(LATER)) == ("other",)
        assert claimed(store) == ()
        assert len(claimed(other)) == 1


def test_broken_off_try_is_made_again_with_the_same_id(store: OpenedStore) -> None:
    expect(store, "job-1")
    end(store)
    (first,) = claimed(store)
    assert claimed(store, LATER + TRY_TIME - SECOND) == ()
    assert is_due(store, LATER + TRY_TIME)
    (second,) = claimed(store, LATER + TRY_TIME)
    assert (second.id, second.body, second.tries) == (first.id, first.body, 2)
    store.deliveries.note(first, DeliveryState.PENDING, "timed_out", due=LATER)
    assert claimed(store, LATER + TRY_TIME + SECOND) == ()
    store.deliveries.note(first, DeliveryState.DELIVERED, None, due=LATER)
    assert state_of(store) == ("delivered", 2)
    assert not is_due(store, LATER + DAY)


def test_tries_that_are_all_broken_off_are_given_up(store: OpenedStore) -> None:
    expect(store, "job-1")
    end(store)
    for number in range(MOST_TRIES):
        assert claimed(store, LATER + number * TRY_TIME)
    assert claimed(store, LATER + MOST_TRIES * TRY_TIME) == ()
    assert state_of(store) == ("given_up", MOST_TRIES)
    (given_up,) = store.deliveries.given_up()
    assert given_up.reason is None


def test_nothing_is_claimed_for_a_host_without_room(store: OpenedStore) -> None:
    job_ids = [str(number) for number in range(3)]
    expect(store, *job_ids)
    for job_id in job_ids:
        end(store, job_id)
    for free in ([], ["other:443"]):
        assert store.deliveries.claim([HOST, "other:443"], free, now=LATER) is None
    assert is_due(store)
    assert [due.job_id for due in claimed(store)] == job_ids
    assert not is_due(store)


def test_address_is_sealed_and_goes_with_the_delivery_and_the_rest_days_later(
    tmp_path: Path,
) -> None:
    limits = StoreLimits(keep_deliveries=timedelta(seconds=20))
    with closing(open_store(tmp_path, limits=limits)) as store:
        expect(store, "job-1")
        end(store)
        assert not any(PATH.encode() in file.read_bytes() for file in tmp_path.iterdir())
        (due,) = claimed(store)
        now = datetime(2026, 1, 1, tzinfo=UTC)
        store.deliveries.note(due, DeliveryState.DELIVERED, None, due=now)
        store.sweep()
        assert state_of(store) == ("delivered", 1)
        for _ in range(20):
            store.sweep()
        assert state_of(store) is None
    assert not any(PATH.encode() in file.read_bytes() for file in tmp_path.iterdir())


def test_what_is_expected_or_pending_is_never_swept(tmp_path: Path) -> None:
    with closing(open_store(tmp_path, limits=StoreLimits(keep_deliveries=-DAY))) as store:
        expect(store, "job-1", "job-2")
        end(store, "job-2")
        store.sweep()
        assert (state_of(store), state_of(store, "job-2")) == (("expected", 0), ("pending", 0))


@pytest.mark.parametrize(("hosts", "state"), [([HOST], "pending"), ([], "given_up")])
def test_only_what_nobody_may_get_any_longer_is_given_up(
    store: OpenedStore, hosts: list[str], state: str
) -> None:
    expect(store, "job-1")
    end(store)
    named = [*hosts, "another:443"]
    ended_at = store.jobs.summary("job-1").ended_at
    assert ended_at is not None
    store.deliveries.claim(named, [], now=ended_at + UNNAMED_TIME - SECOND)
    assert state_of(store) == ("pending", 0)
    store.deliveries.claim(named, [], now=ended_at + UNNAMED_TIME)
    assert state_of(store) == (state, 0)


def test_what_was_given_up_is_tried_again(store: OpenedStore) -> None:
    expect(store, "job-1")
    end(store)
    (first,) = claimed(store)
    store.deliveries.note(first, DeliveryState.GIVEN_UP, "http_410", due=LATER)
    (given_up,) = store.deliveries.given_up()
    assert (given_up.record_id, given_up.host, given_up.reason) == ("job-1", HOST, "http_410")
    assert not is_due(store, LATER + DAY)
    assert store.deliveries.redo(now=LATER) == 1
    assert store.deliveries.given_up() == []
    assert is_due(store)
    (second,) = claimed(store)
    assert (second.id, second.body, second.tries) == (first.id, first.body, 1)


def test_erased_job_leaves_no_webhook(store: OpenedStore) -> None:
    expect(store, "job-1", "job-2", subject="Anna")
    subject_id = store.summary("job-1").subject_id
    end(store)
    (due,) = claimed(store)
    store.removal.erase("job-1")
    assert store.deliveries.one("job-1") is None
    store.deliveries.note(due, DeliveryState.PENDING, "timed_out", due=LATER)
    assert store.deliveries.one("job-1") is None
    end(store, "job-2")
    store.removal.erase_subject(subject_id)
    assert store.deliveries.one("job-2") is None
    assert claimed(store) == ()
    assert not is_due(store, LATER + DAY)


def test_webhook_of_a_hidden_job_waits_and_keeps_no_other(tmp_path: Path) -> None:
    clock, limits = Clock(), StoreLimits(keep=10 * DAY)
    with closing(open_store(tmp_path, clock=clock, limits=limits)) as store:
        expect(store, "old")
        end(store, "old")
        clock.now += 6 * DAY
        expect(store, "new")
        clock.now += 6 * DAY
        assert store.sweep().counts == {"records_hidden": 1}
        later = clock.now + DAY
        assert not is_due(store, later)
        end(store, "new")
        assert [due.job_id for due in claimed(store, later)] == ["new"]
        assert not is_due(store, later)
        store.removal.undelete("old")
        assert is_due(store, later)
        assert [due.job_id for due in claimed(store, later)] == ["old"]


REMIND = timedelta(hours=1)
TO_READ = figures(danger=RiskLevel.HIGH, danger_group=RiskGroup.READ_NOW, to_read=2)


def end_unread(store: Store, *job_ids: str) -> datetime:
    """Let jobs finish with two statements to be read now; returns when the first one did."""
    for job_id in job_ids:
        store.jobs.take(job_id, "runner")
        assert store.jobs.finish(job_id, "runner", RESULT, TO_READ)
    ended_at = store.jobs.summary(job_ids[0]).ended_at
    assert ended_at is not None
    return ended_at


def read(store: Store, job_id: str, *, unread: int) -> None:
    """Confirm statements, and leave so many."""
    said = WasRead(statements=(Statement(start=0, end=5),))
    store.acknowledgements.add(job_id, "ann", said, unread=unread)


def test_danger_that_is_not_read_is_told_once_and_by_one_process(
    store: OpenedStore, tmp_path: Path
) -> None:
    expect(store, "job-1", subject="Study 7", batch="b-1")
    ended_at = end_unread(store, "job-1")
    (end_of_job,) = claimed(store, ended_at)
    store.deliveries.note(end_of_job, DeliveryState.DELIVERED, None, due=ended_at)
    assert claimed(store, ended_at + REMIND - SECOND) == ()
    with closing(open_store(tmp_path)) as other, ThreadPoolExecutor() as pool:
        at = ended_at + REMIND
        (due,) = sum(pool.map(lambda one: claimed(one, at), [store, other] * 4), ())
    moments = [written(one).replace("+00:00", "Z") for one in (ended_at, ended_at + REMIND)]
    assert json.loads(due.body) == {
        "id": due.id,
        "type": "assessment.unread",
        "timestamp": moments[1],
        "data": {
            "job_id": "job-1",
            "batch_id": "b-1",
            "subject": "Study 7",
            "state": "finished",
            "danger": "high",
            "danger_group": "read_now",
            "to_read": 2,
            "ended_at": moments[0],
        },
    }
    assert (due.job_id, due.callback.url) == ("job-1", f"https://{HOST}/{PATH}")
    store.deliveries.note(due, DeliveryState.DELIVERED, None, due=at)
    assert claimed(store, at + 30 * DAY) == ()
    assert state_of(store) == ("delivered", 1)
    assert not any(b"Study 7" in file.read_bytes() for file in tmp_path.iterdir())


def test_danger_that_was_read_meanwhile_is_not_told_of(store: OpenedStore) -> None:
    expect(store, "read", "in-part", "late", "calm")
    ended_at = end_unread(store, "read", "in-part", "late")
    end(store, "calm")
    for due in claimed(store, ended_at + 10 * SECOND):
        store.deliveries.note(due, DeliveryState.DELIVERED, None, due=ended_at)
    read(store, "read", unread=0)
    read(store, "in-part", unread=1)
    assert {due.job_id for due in claimed(store, LATER)} == {"in-part", "late"}
    # A receiver that does not answer is not told later of what was read since.
    read(store, "late", unread=0)
    assert {due.job_id for due in claimed(store, LATER + DAY)} == {"in-part"}


@pytest.mark.parametrize("read_at_last", [1, 2])
def test_danger_of_an_interview_that_is_not_read_is_told_again(
    store: OpenedStore, read_at_last: int
) -> None:
    stored = StoredInterview(origin=b"began", state=b"now")
    store.interviews.add("talk", stored, COLUMNS)
    to = Callback(host=HOST, url=f"https://{HOST}/{PATH}")
    data = {"interview_id": "talk", "level": "high"}
    notice = InterviewNotice(event=DeliveryEvent.INTERVIEW_HELD, callback=to, data=data)
    held = {**COLUMNS, "version": 2, "danger": 4, "to_read": 2}
    store.interviews.replace("talk", b"later", held, version=1, notices=(notice,))
    at = store.database.clock()
    (first,) = claimed(store, at + SECOND)
    assert json.loads(first.body)["type"] == "interview.held"
    store.deliveries.note(first, DeliveryState.DELIVERED, None, due=at)
    said = WasRead(statements=(Statement(turn=1, start=0, end=5),))
    store.interviews.acknowledge("talk", "ann", said, newly_read=read_at_last)
    told = [json.loads(due.body) for due in claimed(store, at + REMIND + SECOND)]
    assert [one["type"] for one in told] == ["interview.unread"] * (2 - read_at_last)
    assert [one["data"]["interview_id"] for one in told] == ["talk"] * (2 - read_at_last)


def test_nobody_is_reminded_of_what_was_erased_or_where_no_job_has_an_address(
    store: OpenedStore,
) -> None:
    expect(store, "job-1", subject="Anna")
    store.add_jobs(
        [
            NewJob(
                record=NewRecord(id="job-2", transcript=TRANSCRIPT, figures=TO_READ),
                request=b"{}",
                asked_by="ann",
            )
        ],
        runner="runner",
    )
    end_unread(store, "job-1", "job-2")
    store.removal.erase_subject(store.summary("job-1").subject_id)
    assert claimed(store, LATER + DAY) == ()
    assert not is_due(store, LATER + DAY)


def test_nobody_is_reminded_where_the_settings_say_never(tmp_path: Path) -> None:
    limits = StoreLimits(remind_unread=timedelta(0))
    with closing(open_store(tmp_path, limits=limits)) as store:
        expect(store, "job-1")
        end_unread(store, "job-1")
        assert [json.loads(due.body)["type"] for due in claimed(store)] == ["job.finished"]


def test_a_cancelled_job_is_told_of_as_well(store: OpenedStore) -> None:
    new = NewRecord(id="job-1", transcript=TRANSCRIPT, figures=TO_READ)
    to = Callback(host=HOST, url=f"https://{HOST}/{PATH}")
    store.add_jobs([NewJob(record=new, request=b"{}", asked_by="ann", callback=to)])
    store.jobs.cancel("job-1")
    told = [json.loads(due.body) for due in claimed(store)]
    assert [one["type"] for one in told] == ["job.cancelled", "assessment.unread"]
    assert (told[1]["data"]["state"], told[1]["data"]["subject"]) == ("cancelled", None)


def test_file_of_an_earlier_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "webhooks.sqlite").touch()
    with pytest.raises(ConfigurationError, match=r"webhooks\.sqlite.*deliver them"):
        open_store(tmp_path)
