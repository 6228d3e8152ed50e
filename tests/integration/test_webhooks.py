"""Webhooks, from the end of a job to receivers of every kind."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from structlog.typing import EventDict

from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.jobs.settings import WebhookSettings, callback_host
from ai_psychiatrist.jobs.webhooks import Webhooks
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.database import StoreLimits
from ai_psychiatrist.store.deliveries import Delivery, DeliveryState
from ai_psychiatrist.store.jobs import NewJob
from ai_psychiatrist.store.records import NewRecord
from ai_psychiatrist.store.stores import KEY_NAME, Records, StorePlace, Stores
from tests.fakes.captured_events import captured_events
from tests.fakes.webhook_receiver import Reaction, Receiver, receiving
from tests.integration.command_here import run_here as run_command
from tests.integration.pages import ROOT, blocks
from tests.patience import PATIENCE_SECONDS

SECRET = "canary-0123456789abcdef0123456789"
JOB = "job-1"
TENANT = "clinic"
SECONDS = PATIENCE_SECONDS


@dataclass
class Clock:
    """The time, as far ahead as the test moves it."""

    ahead: float = 0.0
    """Seconds."""

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(time.time() + self.ahead, UTC)


@dataclass
class Service:
    """Webhooks at work, and the clock that they go by."""

    webhooks: Webhooks
    clock: Clock
    records: Records
    events: list[EventDict]
    """What is logged."""

    async def end(self, receiver: Receiver, job: str = JOB) -> None:
        """Want to be told of a job, and end it."""
        await want(self.records, receiver.url, self.webhooks.settings, job)
        await self.records.ask(lambda store: store.jobs.cancel(job))
        self.webhooks.wake()

    async def becomes(self, state: DeliveryState, *, tries: int, job: str = JOB) -> None:
        """Return once the webhook is as far as this."""
        async with asyncio.timeout(SECONDS):
            while True:
                delivery = await self._delivery(job)
                if delivery == Delivery(state=state, tries=tries) and self._tried(job, tries):
                    return
                await asyncio.sleep(0.01)

    async def has_delivered(self, job: str) -> None:
        """Return once any process has delivered a webhook at its first try."""
        async with asyncio.timeout(SECONDS):
            while await self._delivery(job) != Delivery(state=DeliveryState.DELIVERED, tries=1):  # noqa: ASYNC110  a file
                await asyncio.sleep(0.01)

    async def _delivery(self, job: str) -> Delivery | None:
        return await self.records.ask(lambda store: store.deliveries.one(job))

    def _tried(self, job: str, tries: int) -> bool:
        """Return whether a try has ended; the clock may not move before."""
        ended = ((event.get("assessment_id"), event.get("count")) for event in self.events)
        return (job, tries) in ended


async def want(records: Records, url: str, settings: WebhookSettings, job: str = JOB) -> None:
    """Store a job whose end is to be told."""
    record = NewRecord(id=job, transcript=parse_transcript("Participant: I sleep badly, canary."))
    to = Callback(host=callback_host(url, settings), url=url)
    new = NewJob(record=record, request=b"{}", asked_by="ann", callback=to)
    await records.ask(lambda store: store.add_jobs([new]))


def settings_for(*places: str, secret: str = SECRET) -> WebhookSettings:
    return WebhookSettings.model_validate({"hosts": places, "secret": secret, "allow_http": True})


def stores_in(folder: Path) -> Stores:
    keys = StoreKeys(own=folder / KEY_NAME)
    return Stores(StorePlace(folder=folder), keys, StoreLimits())


def signatures(event_id: str, seconds: str, body: bytes, *secrets: str) -> str:
    """Return what the convention says, as it is written there."""
    signed = f"{event_id}.{seconds}.".encode() + body
    digests = (hmac.digest(one.encode(), signed, hashlib.sha256) for one in secrets)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)


@asynccontextmanager
async def serving(
    folder: Path, *receivers: Receiver, secret: str = SECRET, try_seconds: float = 15.0
) -> AsyncIterator[Service]:
    now = Clock()
    places = (receiver.place for receiver in receivers)
    with captured_events() as events, closing(stores_in(folder)) as stores:
        webhooks = Webhooks(
            settings=settings_for(*places, secret=secret),
            stores=stores,
            now=now,
            look_seconds=0.02,
            try_seconds=try_seconds,
        )
        async with webhooks.running():
            records = stores.records(TENANT)
            yield Service(webhooks=webhooks, clock=now, records=records, events=events)
    words = ("canary", "token", "127.0.0.1", "/ended")
    assert not any(word in str(events) for word in words)


def test_end_of_a_job_is_told_and_signed(tmp_path: Path) -> None:
    async def run() -> None:
        async with receiving() as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            await service.becomes(DeliveryState.DELIVERED, tries=1)
            (call,) = receiver.calls
            head = call.headers
            said = json.loads(call.body)
            assert said["id"] == head["webhook-id"]
            assert said["data"]["job_id"] == "job-1"
            seconds = head["webhook-timestamp"]
            wanted = signatures(said["id"], seconds, call.body, SECRET)
            assert head["webhook-signature"] == wanted
            assert 0 <= service.clock().timestamp() - int(seconds) < SECONDS
            assert head["content-type"] == "application/json"
            assert "cookie" not in head

    asyncio.run(run())


def answers(*reactions: Reaction) -> Callable[[int], Reaction]:
    """React as given, the last one for ever."""
    return lambda before: reactions[min(before, len(reactions) - 1)]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(Reaction(status=500), id="failing"),
        pytest.param(Reaction(status=404), id="unknown"),
        pytest.param(Reaction(status=302, headers={"Location": "/elsewhere"}), id="redirecting"),
        pytest.param(Reaction(status=307, headers={"Location": "/elsewhere"}), id="sending on"),
        pytest.param(Reaction(closes=True), id="closing"),
        pytest.param(Reaction(status=500, body=b"x" * 9_000_000), id="telling much"),
    ],
)
def test_receiver_that_fails_is_tried_again_with_the_same_id(
    tmp_path: Path, first: Reaction
) -> None:
    async def run() -> None:
        react = answers(first, Reaction(headers={"Set-Cookie": "a=b"}))
        async with receiving(react) as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            await service.becomes(DeliveryState.PENDING, tries=1)
            await asyncio.sleep(0.1)
            assert len(receiver.calls) == 1, "it is too early for another try"
            service.clock.ahead += 10
            await service.becomes(DeliveryState.DELIVERED, tries=2)
            one, other = receiver.calls
            assert one.headers["webhook-id"] == other.headers["webhook-id"]
            assert one.body == other.body
            assert one.headers["webhook-timestamp"] != other.headers["webhook-timestamp"]
            assert {call.path for call in receiver.calls} == {"/ended"}

    asyncio.run(run())


def test_answer_that_never_ends_is_no_failure_and_not_read(tmp_path: Path) -> None:
    async def run() -> None:
        endless = Reaction(status=200, body=b"x" * 100_000, length=10**12)
        async with receiving(lambda _: endless) as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            await service.becomes(DeliveryState.DELIVERED, tries=1)

    asyncio.run(run())


def test_receiver_that_wants_no_more_is_left_alone(tmp_path: Path) -> None:
    async def run() -> None:
        gone = answers(Reaction(status=410))
        async with receiving(gone) as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            await service.becomes(DeliveryState.GIVEN_UP, tries=1)
            service.clock.ahead += 100_000
            await asyncio.sleep(0.1)
            assert len(receiver.calls) == 1

    asyncio.run(run())


def test_receiver_that_asks_for_time_gets_it(tmp_path: Path) -> None:
    async def run() -> None:
        busy = answers(Reaction(status=503, headers={"Retry-After": "600"}), Reaction())
        async with receiving(busy) as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            await service.becomes(DeliveryState.PENDING, tries=1)
            service.clock.ahead += 590
            await asyncio.sleep(0.1)
            assert len(receiver.calls) == 1
            service.clock.ahead += 20
            await service.becomes(DeliveryState.DELIVERED, tries=2)

    asyncio.run(run())


def test_it_is_given_up_after_a_day_of_tries(tmp_path: Path) -> None:
    async def run() -> None:
        failing = answers(Reaction(status=500))
        async with receiving(failing) as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            for tries in range(1, 12):
                await service.becomes(DeliveryState.PENDING, tries=tries)
                service.clock.ahead += 26_000
            await service.becomes(DeliveryState.GIVEN_UP, tries=12)
            assert len(receiver.calls) == 12
            assert service.events[-1]["outcome"] == "given_up"

    asyncio.run(run())


def test_slow_receiver_holds_up_no_other_and_gets_few_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        never = asyncio.Event()
        slow_ones = [f"slow-{number}" for number in range(9)]
        quick_ones = [f"quick-{number}" for number in range(30)]
        async with (
            receiving(lambda _: Reaction(waits_for=never)) as slow,
            receiving() as quick,
            serving(tmp_path, slow, quick) as service,
        ):
            for job in slow_ones:
                await service.end(slow, job)
            await slow.came(4)
            for job in quick_ones:
                await service.end(quick, job)
            for job in quick_ones:
                await service.becomes(DeliveryState.DELIVERED, tries=1, job=job)
            assert len(slow.calls) == slow.most_at_once == 4
            never.set()
            for job in slow_ones:
                await service.becomes(DeliveryState.DELIVERED, tries=1, job=job)

    asyncio.run(run())


def test_nothing_is_sent_through_a_proxy_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with receiving() as proxy, receiving() as receiver:
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, f"http://{proxy.place}")
            async with serving(tmp_path, receiver) as service:
                await service.end(receiver)
                await service.becomes(DeliveryState.DELIVERED, tries=1)
            assert not proxy.calls

    asyncio.run(run())


def test_end_that_another_process_stored_is_told(tmp_path: Path) -> None:
    """As when the process was killed between the end of the job and the telling."""

    async def run() -> None:
        async with receiving() as receiver, serving(tmp_path, receiver) as service:
            await want(service.records, receiver.url, service.webhooks.settings)
            await asyncio.sleep(0.1)
            assert not receiver.calls
            with closing(stores_in(tmp_path)) as others:
                others.open(TENANT).jobs.cancel(JOB)
            await service.becomes(DeliveryState.DELIVERED, tries=1)

    asyncio.run(run())


def test_each_of_two_secrets_signs(tmp_path: Path) -> None:
    other = "0123456789abcdef0123456789abcdef"

    async def run() -> None:
        async with (
            receiving() as receiver,
            serving(tmp_path, receiver, secret=f"{SECRET} {other}") as service,
        ):
            await service.end(receiver)
            await receiver.came(1)
            (call,) = receiver.calls
            head = call.headers
            seconds = head["webhook-timestamp"]
            wanted = signatures(head["webhook-id"], seconds, call.body, SECRET, other)
            assert head["webhook-signature"] == wanted

    asyncio.run(run())


def test_several_processes_tell_of_each_job_once(tmp_path: Path) -> None:
    jobs = [f"job-{number}" for number in range(12)]

    async def run() -> None:
        async with (
            receiving() as receiver,
            serving(tmp_path, receiver) as service,
            serving(tmp_path, receiver) as other,
        ):
            for number, job in enumerate(jobs):
                await (service, other)[number % 2].end(receiver, job)
            for job in jobs:
                await other.has_delivered(job)
            told = [json.loads(call.body)["data"]["job_id"] for call in receiver.calls]
            assert sorted(told) == sorted(jobs)

    asyncio.run(run())


_SERVER = """
import asyncio, sys
from pathlib import Path
from tests.integration.test_webhooks import JOB, TENANT, Clock, settings_for, stores_in, want
from ai_psychiatrist.jobs.webhooks import Webhooks

async def main():
    folder, place, is_new = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "new"
    stores, settings = stores_in(folder), settings_for(place)
    clock = Clock(0 if is_new else 61)
    webhooks = Webhooks(settings=settings, stores=stores, now=clock, look_seconds=0.02)
    async with webhooks.running():
        if is_new:
            records = stores.records(TENANT)
            await want(records, f"http://{place}/ended", settings)
            await records.ask(lambda store: store.jobs.cancel(JOB))
        await asyncio.sleep(60)

asyncio.run(main())
"""


async def _process(folder: Path, receiver: Receiver, age: str) -> asyncio.subprocess.Process:
    root = Path(__file__).parents[2]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, str(folder), receiver.place, age, cwd=root
    )


def test_kill_between_store_and_delivery_loses_nothing(tmp_path: Path) -> None:
    """The first process is killed while the receiver has not answered; the next one delivers."""

    async def run() -> None:
        never = asyncio.Event()
        react = answers(Reaction(waits_for=never), Reaction())
        async with receiving(react) as receiver:
            for age, count in (("new", 1), ("old", 2)):
                process = await _process(tmp_path, receiver, age)
                try:
                    await receiver.came(count)
                finally:
                    os.kill(process.pid, signal.SIGKILL)
                    await process.wait()
            one, other = receiver.calls
            assert one.headers["webhook-id"] == other.headers["webhook-id"]
            assert one.body == other.body

    asyncio.run(run())


def test_without_hosts_nothing_is_made(tmp_path: Path) -> None:
    async def run() -> None:
        webhooks = Webhooks(settings=WebhookSettings(), stores=stores_in(tmp_path / "state"))
        async with webhooks.running():
            webhooks.wake()

    asyncio.run(run())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("reaction", "reason", "status"),
    [
        (Reaction(waits_for=asyncio.Event()), "timed_out", None),
        (Reaction(closes=True), "connection_failed", None),
        (Reaction(status=200, body=b"x", length=9), None, 200),
        (Reaction(status=502, body=b"x", length=9), "http_502", 502),
    ],
    ids=["silent", "closing", "half an answer", "half a failure"],
)
def test_one_try_ends_in_time_and_the_status_counts(
    tmp_path: Path, reaction: Reaction, reason: str | None, status: int | None
) -> None:
    state = DeliveryState.PENDING if reason else DeliveryState.DELIVERED
    # Only what is silent is waited for; on a busy machine an answer may take a while.
    try_seconds = 0.3 if reason == "timed_out" else PATIENCE_SECONDS

    async def run() -> None:
        async with (
            receiving(lambda _: reaction) as receiver,
            serving(tmp_path, receiver, try_seconds=try_seconds) as service,
        ):
            await service.end(receiver)
            await service.becomes(state, tries=1)
            (event,) = (one for one in service.events if one["event"] == "webhook_tried")
            assert (event["reason"], event["http_status"]) == (reason, status)

    asyncio.run(run())


def test_example_of_the_documentation_checks_what_is_sent(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    page = (ROOT / "docs" / "http.md").read_text("utf-8")
    (example,) = (block.text for block in blocks(page) if "def is_genuine" in block.text)
    exec(example, names)  # noqa: S102

    async def run() -> None:
        async with receiving() as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            await receiver.came(1)
            (call,) = receiver.calls
            headers = {name.title(): value for name, value in call.headers.items()}
            assert names["is_genuine"](SECRET, headers, call.body)
            assert not names["is_genuine"](SECRET, headers, call.body + b" ")
            assert not names["is_genuine"](SECRET + "x", headers, call.body)
            old = {**headers, "Webhook-Timestamp": str(int(time.time()) - 400)}
            assert not names["is_genuine"](SECRET, old, call.body)

    asyncio.run(run())


def test_what_was_given_up_is_listed_and_tried_anew(tmp_path: Path) -> None:
    settings = {"DATA_STATE_DIR": str(tmp_path)}

    async def given_up_and_redone() -> None:
        react = answers(Reaction(status=410), Reaction())
        async with receiving(react) as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            await service.becomes(DeliveryState.GIVEN_UP, tries=1)
            listed = await asyncio.to_thread(
                run_command, ["jobs", "webhooks", "--json"], tmp_path, settings
            )
            (line,) = listed.out.splitlines()
            given_up_at = json.loads(line)["given_up_at"]
            since = service.clock() - datetime.fromisoformat(given_up_at)
            assert 0 <= since.total_seconds() < 600
            assert json.loads(line) == {
                "job_id": "job-1",
                "event": "job.ended",
                "tenant": "clinic",
                "host": receiver.place,
                "given_up_at": given_up_at,
                "tries": 1,
                "reason": "http_410",
            }
            done = await asyncio.to_thread(
                run_command, ["jobs", "webhooks", "--again"], tmp_path, settings
            )
            assert "1 webhooks are tried again" in done.err
            assert "token" not in listed.out + done.out + done.err
            service.clock.ahead += 1
            await receiver.came(2)
            await service.becomes(DeliveryState.DELIVERED, tries=1)
            one, other = receiver.calls
            assert one.headers["webhook-id"] == other.headers["webhook-id"]
            none = await asyncio.to_thread(run_command, ["jobs", "webhooks"], tmp_path, settings)
            assert (none.code, none.out) == (0, "")
            assert "no webhook was given up" in none.err

    asyncio.run(given_up_and_redone())
