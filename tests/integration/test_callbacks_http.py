"""`callback_url` of jobs and batches, from the request to the receiver's door."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
from standardwebhooks import Webhook

from ai_psychiatrist.jobs.webhooks import Webhooks
from tests.fakes.webhook_receiver import Receiver, receiving
from tests.integration.running_app import client_of, settings_with
from tests.integration.test_interface_document import document
from tests.integration.test_webhooks import Clock, settings_for, stores_in
from tests.patience import wait_until

SECRET = "0123456789abcdef0123456789abcdef"
BODY = {"transcript_text": "Participant: I sleep badly every night, canary."}
ASYNC = {"Prefer": "respond-async"}


def moment_of(written: str) -> datetime:
    return datetime.fromisoformat(written)


async def nothing_later(_: Receiver) -> None:
    """Let nothing happen after the server stopped."""


def assert_described(event: dict[str, Any]) -> None:
    """Assert that a webhook is as the OpenAPI document says."""
    (body,) = document()["webhooks"][event["type"]]["post"]["requestBody"]["content"].values()
    schema = body["schema"] | {"components": document()["components"]}
    assert jsonschema_rs.validator_for(schema).is_valid(event), event
    schemas = document()["components"]["schemas"]
    described = schemas[body["schema"]["$ref"].rpartition("/")[2]]["properties"]
    data = schemas[described["data"]["$ref"].rpartition("/")[2]]["properties"]
    assert (event.keys(), event["data"].keys()) == (described.keys(), data.keys())


def told(
    folder: Path,
    ask: Callable[[httpx.Client, Receiver], Any],
    count: int,
    later: Callable[[Receiver], Awaitable[None]] = nothing_later,
    **more: str,
) -> list[Any]:
    """Return what the receiver got, once so many calls came; each is signed, none has words.

    `later`: what happens once the server has stopped. `more`: further settings of it, in which
    `{url}` stands for the receiver's address.
    """

    def serve(receiver: Receiver, loop: asyncio.AbstractEventLoop) -> None:
        settings = settings_with(
            folder,
            MODEL_DEFAULT="baseline",
            JOBS_WEBHOOK_HOSTS=receiver.place,
            JOBS_WEBHOOK_SECRET=SECRET,
            JOBS_WEBHOOK_ALLOW_HTTP="true",
            **{name: value.format(url=receiver.url) for name, value in more.items()},
        )
        with client_of(settings) as client:
            ask(client, receiver)
            asyncio.run_coroutine_threadsafe(receiver.came(count), loop).result()

    async def run() -> list[Any]:
        async with receiving() as receiver:
            await asyncio.to_thread(serve, receiver, asyncio.get_running_loop())
            for call in receiver.calls:
                head = call.headers
                assert abs(int(head["webhook-timestamp"]) - time.time()) < 60
                Webhook(SECRET.encode()).verify(call.body, dict(head))
            await later(receiver)
            assert not any(b"canary" in call.body for call in receiver.calls)
            events = [json.loads(call.body) for call in receiver.calls]
            for event in events:
                assert_described(event)
            return events

    return asyncio.run(run())


def test_receiver_is_told_of_a_job(tmp_path: Path) -> None:
    jobs: list[dict[str, Any]] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        body = BODY | {"callback_url": receiver.url}
        begun = client.post("/v1/assessments", json=body, headers=ASYNC)
        assert begun.status_code == 202, begun.text
        place = begun.headers["Location"]
        wait_until(lambda: client.get(place).json()["callback"]["state"] == "delivered")
        jobs.append(client.get(place).json())
        assert jobs[0]["callback"] == {"state": "delivered", "tries": 1}

    (event,) = told(tmp_path, ask, 1)
    (job,) = jobs
    assert event["type"] == "job.finished"
    assert event["data"]["job_id"] == job["job_id"]
    assert event["data"]["status"] == job["status"] == "complete"
    for moment in ("created_at", "ended_at"):
        assert moment_of(event["data"][moment]) == moment_of(job[moment])


def test_receiver_is_told_of_a_cancelled_job(tmp_path: Path) -> None:
    jobs: list[dict[str, Any]] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        body = {"requests": [BODY] * 10, "callback_url": receiver.url}
        begun = client.post("/v1/batches", json=body).json()["jobs"]
        last = f"/v1/jobs/{begun[-1]['job_id']}"
        assert client.delete(last).status_code == 202
        jobs.append(client.get(last).json())

    events = told(tmp_path, ask, 10)
    (event,) = [one["data"] for one in events if one["type"] == "job.cancelled"]
    (job,) = jobs
    assert event["job_id"] == job["job_id"]
    for moment in ("created_at", "ended_at"):
        assert moment_of(event[moment]) == moment_of(job[moment])


def test_batch_tells_of_each_job(tmp_path: Path) -> None:
    begun: list[Any] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        body = {"requests": [BODY] * 3, "callback_url": receiver.url}
        answer = client.post("/v1/batches", json=body)
        assert answer.status_code == 202, answer.text
        begun.append(answer.json())

    events = told(tmp_path, ask, 3)
    batch = begun[0]
    assert {event["data"]["batch_id"] for event in events} == {batch["batch_id"]}
    assert {event["data"]["job_id"] for event in events} == {job["job_id"] for job in batch["jobs"]}


def test_receiver_is_reminded_after_a_restart_of_danger_that_nobody_has_read(
    tmp_path: Path,
) -> None:
    """The server ends two jobs and stops; another process, half an hour later, tells of one."""
    dangerous = {"transcript_text": "Participant: I think about killing myself. canary."}
    settings = {"DANGER_REMIND_MINUTES": "30"}
    jobs: list[str] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        body = {
            "requests": [dangerous | {"subject": "Study 7"}, dangerous],
            "callback_url": receiver.url,
        }
        jobs.extend(one["job_id"] for one in client.post("/v1/batches", json=body).json()["jobs"])

        def is_told() -> bool:
            found = (client.get(f"/v1/jobs/{job}").json() for job in jobs)
            return all(one["callback"]["state"] == "delivered" for one in found)

        wait_until(is_told)
        read = client.post(f"/v1/assessments/{jobs[1]}/acknowledgements", json={})
        assert read.status_code == 201, read.text

    async def later(receiver: Receiver) -> None:
        for minutes, count in ((29, 2), (31, 3), (90, 3)):
            clock, hosts = Clock(minutes * 60), settings_for(receiver.place, secret=SECRET)
            with closing(stores_in(tmp_path)) as stores:
                process = Webhooks(settings=hosts, stores=stores, now=clock, look_seconds=0.02)
                async with process.running():
                    await asyncio.sleep(0.3)
                    await receiver.came(count)
            assert len(receiver.calls) == count

    *_, event = told(tmp_path, ask, 2, later, **settings)
    assert event["type"] == "assessment.unread"
    assert (event["data"]["job_id"], event["data"]["subject"]) == (jobs[0], "Study 7")
    assert (event["data"]["danger"], event["data"]["danger_group"]) == ("high", "read_now")


def test_address_for_danger_is_reminded_of_what_a_job_without_an_address_found(
    tmp_path: Path,
) -> None:
    """One job has no address, one another, one the same; calm words are reported to none."""
    dangerous = "Participant: I think about killing myself. canary."
    jobs: list[str] = []

    def ask(client: httpx.Client, receiver: Receiver) -> None:
        same, other = receiver.url, f"{receiver.url}/other"
        for text, callback in (
            (dangerous, {}),
            (dangerous, {"callback_url": other}),
            (dangerous, {"callback_url": same}),
            (BODY["transcript_text"], {}),
        ):
            body = {"transcript_text": text, **callback}
            begun = client.post("/v1/assessments", json=body, headers=ASYNC)
            jobs.append(begun.json()["job_id"])

        def is_over() -> bool:
            found = (client.get(f"/v1/jobs/{job}").json() for job in jobs)
            return all(one["state"] == "finished" for one in found)

        wait_until(is_over)

    async def later(receiver: Receiver) -> None:
        clock, hosts = Clock(3_700), settings_for(receiver.place, secret=SECRET)
        with closing(stores_in(tmp_path)) as stores:
            process = Webhooks(settings=hosts, stores=stores, now=clock, look_seconds=0.02)
            async with process.running():
                await receiver.came(6)
                await asyncio.sleep(0.3)

    *_, a, b, c, d = events = told(tmp_path, ask, 2, later, DANGER_CALLBACK_URL="{url}")
    assert len(events) == 6
    reminders = sorted(one["data"]["job_id"] for one in (a, b, c, d))
    assert {one["type"] for one in (a, b, c, d)} == {"assessment.unread"}
    assert reminders == sorted([jobs[0], jobs[1], jobs[1], jobs[2]])


def test_address_that_cannot_be_told_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, MODEL_DEFAULT="baseline")
    body = BODY | {"callback_url": "https://evil.example/canary"}
    with client_of(settings) as client:
        for headers, says in ((ASYNC, "JOBS_WEBHOOK_HOSTS"), ({}, "respond-async")):
            answer = client.post("/v1/assessments", json=body, headers=headers)
            assert (answer.status_code, answer.json()["field"]) == (422, "callback_url")
            assert says in answer.json()["detail"]
            assert "canary" not in answer.text
        assert client.get("/v1/assessments").json()["total"] == 0
