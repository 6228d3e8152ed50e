"""What is kept of webhooks, until when, and who gets it."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.engine import JobEnd, JobRef
from ai_psychiatrist.jobs.webhooks.letter import Delivery, DeliveryState, Expected
from ai_psychiatrist.jobs.webhooks.outbox import FILE_NAME, TRY_SECONDS, UNNAMED_SECONDS, Outbox
from ai_psychiatrist.jobs.webhooks.places import Destination
from ai_psychiatrist.jobs.webhooks.schedule import MOST_TRIES

PLACE = "hooks.example:443"
JOB = JobRef(tenant="clinic", id="job-1")
DAY = 86_400.0
BEGUN = datetime(2026, 11, 23, 20, 11, 40, tzinfo=UTC)


def outbox_in(folder: Path) -> Outbox:
    return Outbox.open(folder / FILE_NAME)


def expected(job: JobRef = JOB, place: str = PLACE) -> Expected:
    destination = Destination(place=place, url=f"https://{place}/secret-path")
    return Expected(job=job, destination=destination, created=100.0)


def ended(job: JobRef = JOB, state: RecordState = RecordState.FINISHED) -> JobEnd:
    return JobEnd(job=job, state=state, created_at=BEGUN, ended_at=BEGUN + timedelta(seconds=5))


def test_file_is_its_owners_alone(tmp_path: Path) -> None:
    outbox_in(tmp_path)
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_webhook_is_due_once_the_job_has_ended_and_but_once(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    outbox.expect([expected()])
    assert outbox.claim({PLACE: 4}, now=200.0) == ()
    assert outbox.note_end(ended(), now=200.0)
    assert not outbox.note_end(ended(state=RecordState.FAILED), now=201.0)
    (letter,) = outbox.claim({PLACE: 4}, now=200.0)
    assert (letter.job_id, letter.tries) == ("job-1", 1)
    assert b"job.finished" in letter.body
    assert outbox_in(tmp_path).claim({PLACE: 4}, now=200.0) == ()


def test_end_of_a_job_that_nobody_wants_to_hear_of_is_nothing(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    assert not outbox.note_end(ended(), now=1.0)
    assert outbox.delivery(JOB) is None


def test_jobs_of_two_tenants_are_two(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    other = JobRef(tenant="other", id=JOB.id)
    outbox.expect([expected(), expected(other)])
    outbox.note_end(ended(other), now=1.0)
    assert outbox.delivery(JOB) == Delivery(state=DeliveryState.EXPECTED, tries=0)
    assert outbox.delivery(other) == Delivery(state=DeliveryState.PENDING, tries=0)


def test_broken_off_try_is_made_again_with_the_same_id(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    outbox.expect([expected()])
    outbox.note_end(ended(), now=200.0)
    (first,) = outbox.claim({PLACE: 1}, now=200.0)
    assert outbox.claim({PLACE: 1}, now=200.0 + TRY_SECONDS - 1) == ()
    (second,) = outbox.claim({PLACE: 1}, now=200.0 + TRY_SECONDS)
    assert (second.id, second.body, second.tries) == (first.id, first.body, 2)
    outbox.try_again(first, "timed_out", due=0.0)
    assert outbox.claim({PLACE: 1}, now=201.0 + TRY_SECONDS) == ()
    outbox.delivered(first, now=300.0)
    assert outbox.delivery(JOB) == Delivery(state=DeliveryState.DELIVERED, tries=2)


def test_tries_that_are_all_broken_off_are_given_up(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    outbox.expect([expected()])
    outbox.note_end(ended(), now=0.0)
    for number in range(MOST_TRIES):
        assert outbox.claim({PLACE: 1}, now=number * TRY_SECONDS)
    assert outbox.claim({PLACE: 1}, now=MOST_TRIES * TRY_SECONDS) == ()
    assert outbox.delivery(JOB) == Delivery(state=DeliveryState.GIVEN_UP, tries=MOST_TRIES)


def test_no_more_are_claimed_than_a_place_has_room_for(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    jobs = [JobRef(tenant="clinic", id=str(number)) for number in range(5)]
    outbox.expect([expected(job) for job in jobs])
    for job in jobs:
        outbox.note_end(ended(job), now=1.0)
    assert len(outbox.claim({PLACE: 3, "other:443": 3}, now=1.0)) == 3
    assert len(outbox.claim({PLACE: 3}, now=1.0)) == 2


def test_address_goes_with_the_delivery_and_the_rest_days_later(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    outbox.expect([expected()])
    outbox.note_end(ended(), now=0.0)
    (letter,) = outbox.claim({PLACE: 1}, now=0.0)
    outbox.delivered(letter, now=10.0)
    outbox.tidy([PLACE], now=10.0 + DAY, keep_seconds=DAY)
    assert outbox.delivery(JOB) is not None
    outbox.close()
    assert not any(b"secret-path" in file.read_bytes() for file in tmp_path.iterdir())
    outbox = outbox_in(tmp_path)
    outbox.tidy([PLACE], now=11.0 + DAY, keep_seconds=DAY)
    assert outbox.delivery(JOB) is None


@pytest.mark.parametrize(("places", "state"), [([PLACE], "pending"), ([], "given_up")])
def test_only_what_nobody_may_get_any_longer_is_given_up(
    tmp_path: Path, places: list[str], state: str
) -> None:
    outbox = outbox_in(tmp_path)
    outbox.expect([expected()])
    outbox.note_end(ended(), now=0.0)
    outbox.tidy(places, now=UNNAMED_SECONDS - 1, keep_seconds=DAY)
    assert outbox.delivery(JOB) == Delivery(state=DeliveryState.PENDING, tries=0)
    outbox.tidy(places, now=UNNAMED_SECONDS + 1, keep_seconds=DAY)
    assert outbox.delivery(JOB) == Delivery(state=DeliveryState(state), tries=0)


def test_erased_job_leaves_nothing(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    outbox.expect([expected()])
    outbox.forget([JOB])
    assert outbox.expected() == ()
    assert not outbox.note_end(ended(), now=1.0)
