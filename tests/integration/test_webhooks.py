"""Webhooks, from the end of a job to receivers of every kind."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.typing import EventDict

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.engine import JobEnd, JobRef
from ai_psychiatrist.jobs.webhooks.letter import Answer, Delivery, DeliveryState, Expected, Letter
from ai_psychiatrist.jobs.webhooks.sending import Sender, webhook_client
from ai_psychiatrist.jobs.webhooks.settings import WebhookSettings
from ai_psychiatrist.jobs.webhooks.signing import signature
from ai_psychiatrist.jobs.webhooks.webhooks import ORPHAN_SECONDS, Pace, Webhooks
from tests.fakes.captured_events import captured_events
from tests.fakes.webhook_receiver import Reaction, Receiver, receiving
from tests.integration.command import run as run_command
from tests.integration.pages import ROOT, blocks

SECRET = "canary-0123456789abcdef0123456789"
JOB = JobRef(tenant="clinic", id="job-1")
SECONDS = 20


@dataclass
class Clock:
    """The time, as the test moves it."""

    seconds: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Ends:
    """How jobs ended, as the archive would say."""

    known: dict[JobRef, JobEnd | None] = field(default_factory=dict)

    async def find(self, job: JobRef) -> JobEnd | None:
        return self.known[job]


@dataclass
class Service:
    """Webhooks at work, and the clock that they go by."""

    webhooks: Webhooks
    clock: Clock
    ends: Ends
    events: list[EventDict]
    """What is logged."""

    async def end(self, receiver: Receiver, job: JobRef = JOB) -> None:
        """Want to be told of a job, and end it."""
        await self.want(receiver, job)
        await self.webhooks.note_end(end_of(job))

    async def want(self, receiver: Receiver, job: JobRef = JOB) -> None:
        destination = self.webhooks.destination(receiver.url)
        self.ends.known[job] = None
        wanted = Expected(job=job, destination=destination, created=self.clock())
        await self.webhooks.expect([wanted])

    async def is_forgotten(self) -> None:
        """Return once nothing is noted of the job."""
        async with asyncio.timeout(SECONDS):
            while await self.webhooks.delivery(JOB) is not None:  # noqa: ASYNC110  a file
                await asyncio.sleep(0.01)

    async def becomes(self, state: DeliveryState, *, tries: int, job: JobRef = JOB) -> None:
        """Return once the webhook is as far as this."""
        async with asyncio.timeout(SECONDS):
            while True:
                delivery = await self.webhooks.delivery(job)
                if delivery == Delivery(state=state, tries=tries) and self._tried(job, tries):
                    return
                await asyncio.sleep(0.01)

    def _tried(self, job: JobRef, tries: int) -> bool:
        """Return whether a try has ended; the clock may not move before."""
        ended = ((event.get("assessment_id"), event.get("count")) for event in self.events)
        return (job.id, tries) in ended


def end_of(job: JobRef) -> JobEnd:
    begun = datetime(2026, 11, 23, 20, 11, 40, tzinfo=UTC)
    ended = begun + timedelta(seconds=5)
    return JobEnd(job=job, state=RecordState.FINISHED, created_at=begun, ended_at=ended)


def settings_for(*places: str, secret: str = SECRET) -> WebhookSettings:
    return WebhookSettings.model_validate({"hosts": places, "secret": secret, "allow_http": True})


@asynccontextmanager
async def serving(folder: Path, *receivers: Receiver) -> AsyncIterator[Service]:
    now, found = Clock(), Ends()
    webhooks = Webhooks(
        folder=folder,
        settings=settings_for(*(receiver.place for receiver in receivers)),
        pace=Pace(now=now, look_seconds=0.02, ask_seconds=0.02),
    )
    with captured_events() as events:
        async with webhooks.running(found.find):
            yield Service(webhooks=webhooks, clock=now, ends=found, events=events)
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
            seconds = int(head["webhook-timestamp"])
            wanted = signature(said["id"], seconds, call.body, [SECRET.encode()])
            assert head["webhook-signature"] == wanted
            assert seconds == int(service.clock())
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
            service.clock.seconds += 10
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
            service.clock.seconds += 100_000
            await asyncio.sleep(0.1)
            assert len(receiver.calls) == 1

    asyncio.run(run())


def test_receiver_that_asks_for_time_gets_it(tmp_path: Path) -> None:
    async def run() -> None:
        busy = answers(Reaction(status=503, headers={"Retry-After": "600"}), Reaction())
        async with receiving(busy) as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            await service.becomes(DeliveryState.PENDING, tries=1)
            service.clock.seconds += 590
            await asyncio.sleep(0.1)
            assert len(receiver.calls) == 1
            service.clock.seconds += 20
            await service.becomes(DeliveryState.DELIVERED, tries=2)

    asyncio.run(run())


def test_it_is_given_up_after_a_day_of_tries(tmp_path: Path) -> None:
    async def run() -> None:
        failing = answers(Reaction(status=500))
        async with receiving(failing) as receiver, serving(tmp_path, receiver) as service:
            await service.end(receiver)
            for tries in range(1, 12):
                await service.becomes(DeliveryState.PENDING, tries=tries)
                service.clock.seconds += 26_000
            await service.becomes(DeliveryState.GIVEN_UP, tries=12)
            assert len(receiver.calls) == 12
            assert service.events[-1]["outcome"] == "given_up"

    asyncio.run(run())


def test_slow_receiver_holds_up_no_other_and_gets_few_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        never = asyncio.Event()
        slow_ones = [JobRef(tenant="clinic", id=f"slow-{number}") for number in range(9)]
        quick_ones = [JobRef(tenant="clinic", id=f"quick-{number}") for number in range(30)]
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


def test_end_that_nobody_told_of_is_found(tmp_path: Path) -> None:
    """As when the process was killed between the end of the job and the telling."""

    async def run() -> None:
        async with receiving() as receiver, serving(tmp_path, receiver) as service:
            await service.want(receiver)
            await asyncio.sleep(0.1)
            assert not receiver.calls
            service.ends.known[JOB] = end_of(JOB)
            await service.becomes(DeliveryState.DELIVERED, tries=1)

    asyncio.run(run())


def test_job_that_was_never_stored_is_forgotten_after_an_hour(tmp_path: Path) -> None:
    async def run() -> None:
        async with receiving() as receiver, serving(tmp_path, receiver) as service:
            await service.want(receiver)
            del service.ends.known[JOB]
            await asyncio.sleep(0.1)
            assert await service.webhooks.delivery(JOB) is not None
            service.clock.seconds += ORPHAN_SECONDS + 1
            await service.is_forgotten()

    asyncio.run(run())


_SERVER = """
import asyncio, sys, time
from pathlib import Path
from typing import Any
from tests.integration.test_webhooks import JOB, end_of, settings_for
from ai_psychiatrist.jobs.webhooks.letter import Expected
from ai_psychiatrist.jobs.webhooks.webhooks import Pace, Webhooks

async def main():
    folder, place, is_new = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "new"
    now = lambda: time.time() + (0 if is_new else 61)
    webhooks = Webhooks(
        folder=folder, settings=settings_for(place), pace=Pace(now=now, look_seconds=0.02)
    )
    async def unknown(job): return None
    async with webhooks.running(unknown):
        if is_new:
            to = webhooks.destination(f"http://{place}/ended")
            await webhooks.expect([Expected(job=JOB, destination=to, created=time.time())])
            await webhooks.note_end(end_of(JOB))
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
        webhooks = Webhooks(folder=tmp_path / "state", settings=WebhookSettings())
        async with webhooks.running(Ends().find):
            await webhooks.note_end(end_of(JOB))
            assert await webhooks.delivery(JOB) is None

    asyncio.run(run())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("reaction", "answer"),
    [
        (Reaction(waits_for=asyncio.Event()), Answer(reason="timed_out")),
        (Reaction(closes=True), Answer(reason="connection_failed")),
        (Reaction(status=200, body=b"x", length=9), Answer(reason=None, http_status=200)),
        (
            Reaction(status=502, body=b"x", length=9),
            Answer(reason="http_502", http_status=502),
        ),
    ],
    ids=["silent", "closing", "half an answer", "half a failure"],
)
def test_one_try_ends_in_time_and_the_status_counts(reaction: Reaction, answer: Answer) -> None:
    async def run() -> None:
        async with receiving(lambda _: reaction) as receiver, webhook_client() as client:
            sender = Sender(client=client, keys=[b"k" * 32], now=Clock(), whole_seconds=0.3)
            letter = Letter(
                id="msg_1",
                job_id="job-1",
                place=receiver.place,
                url=receiver.url,
                body=b"{}",
                tries=1,
            )
            assert await sender.send(letter) == answer

    asyncio.run(run())


def test_example_of_the_documentation_checks_what_is_sent(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    page = (ROOT / "docs" / "many.md").read_text("utf-8")
    (example,) = (block.text for block in blocks(page) if "def is_genuine" in block.text)
    exec(example, names)  # noqa: S102

    async def run() -> None:
        async with receiving() as receiver, serving(tmp_path, receiver) as service:
            service.clock.seconds = time.time()
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
            assert json.loads(line) == {
                "job_id": "job-1",
                "tenant": "clinic",
                "host": receiver.place,
                "given_up_at": "2023-11-14T22:13:20+00:00",
                "tries": 1,
                "reason": "http_410",
            }
            done = await asyncio.to_thread(
                run_command, ["jobs", "webhooks", "--again"], tmp_path, settings
            )
            assert "1 webhooks are tried anew" in done.err
            assert "token" not in listed.out + done.out + done.err
            service.clock.seconds = time.time() + 1
            await receiver.came(2)
            await service.becomes(DeliveryState.DELIVERED, tries=1)
            one, other = receiver.calls
            assert one.headers["webhook-id"] == other.headers["webhook-id"]
            none = await asyncio.to_thread(run_command, ["jobs", "webhooks"], tmp_path, settings)
            assert (none.code, none.out) == (0, "")
            assert "no webhook was given up" in none.err

    asyncio.run(given_up_and_redone())
