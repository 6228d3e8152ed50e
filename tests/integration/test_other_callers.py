"""A caller sees nothing of other tenants, no danger without `read`, and cannot break a route."""

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import httpx
import pytest

from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.store.audit import AuditLogs
from ai_psychiatrist.store.opening import open_sqlite
from tests.fakes.exchange import Reply
from tests.fakes.model_server import ModelServerThread
from tests.integration.running_app import RunningApp, model_at, settings_with, waiting
from tests.integration.test_reviews_http import ASYNC, PLACE, Doors, begun
from tests.patience import wait_until

DANGER = "Participant: I feel tired every day, and I think of killing myself."
ROWS = "start_time\tstop_time\tspeaker\tvalue\n1\t2\tParticipant\tI sleep badly\n"
STORED = {"participant_id": 300}
PREVIEW = "/v1/transcripts/preview"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state folder, in which a stored transcript lies as well."""
    folder = tmp_path_factory.mktemp("state")
    path = folder / "stored" / "300_P" / "300_TRANSCRIPT.csv"
    path.parent.mkdir(parents=True)
    path.write_text(ROWS, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def doors(folder: Path) -> Iterator[Doors]:
    settings = settings_with(
        folder,
        AUTH_REQUIRED="true",
        MODEL_DEFAULT="baseline",
        DATA_TRANSCRIPTS_DIR=str(folder / "stored"),
        DATA_TRANSCRIPTS_TENANT="clinic",
    )
    with RunningApp(settings) as app, ExitStack() as stack:
        yield Doors(app.url, folder, stack)


@pytest.fixture(scope="module")
def owner(doors: Doors) -> httpx.Client:
    """A caller of whom something is stored: an empty list shows an example, whatever is asked."""
    client = doors.client()
    begun(client)
    return client


def readings(folder: Path, tenant: str) -> int:
    """Return how many readings of stored transcripts the audit log of a tenant has."""
    with closing(open_sqlite(folder)) as database:
        logs = AuditLogs(database=lambda: database, key=lambda: bytes(32))
        rows = logs.of(tenant).latest(1_000)
    return sum(row.action == "transcript_read" for row in rows)


def test_stored_transcripts_are_of_one_tenant(
    folder: Path, doors: Doors, owner: httpx.Client
) -> None:
    for path in ("/full_pipeline", PLACE, "/v1/interviews"):
        body = STORED | ({"protocol": "phq8"} if path == "/v1/interviews" else {})
        refused = doors.client(tenant="other").post(path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (404, "participant_not_found")
    batch = {"requests": [STORED]}
    assert doors.client(tenant="other").post("/v1/batches", json=batch).status_code == 404
    assert owner.post("/full_pipeline", json=STORED).status_code == 200
    assert owner.post("/v1/batches", json=batch).status_code == 202
    assert readings(folder, "clinic") == 2
    assert readings(folder, "other") == 0


def test_without_the_setting_they_are_of_no_tenant(folder: Path, tmp_path: Path) -> None:
    stored = str(folder / "stored")
    settings = settings_with(
        tmp_path, AUTH_REQUIRED="true", MODEL_DEFAULT="baseline", DATA_TRANSCRIPTS_DIR=stored
    )
    with RunningApp(settings) as app, ExitStack() as stack:
        client = Doors(app.url, tmp_path, stack).client()
        refused = client.post("/full_pipeline", json=STORED)
    assert (refused.status_code, refused.json()["code"]) == (404, "participant_not_found")


def test_a_batch_of_one_key_keeps_a_job_of_another_for_few_jobs(tmp_path: Path) -> None:
    settings = settings_with(
        tmp_path, AUTH_REQUIRED="true", MODEL_DEFAULT="baseline", JOBS_CONCURRENCY="1"
    )
    said = {"transcript_text": "Participant: I sleep badly."}
    with RunningApp(settings) as app, ExitStack() as stack:
        doors = Doors(app.url, tmp_path, stack)
        greedy, other = doors.client(), doors.client()
        batch = greedy.post("/v1/batches", json={"requests": [said] * 40})
        job = other.post(PLACE, json=said, headers=ASYNC).headers["Location"]
        wait_until(lambda: other.get(job).status_code == 303)
        states = [one["state"] for one in greedy.get(batch.headers["Location"]).json()["jobs"]]
        assert states.count("waiting") > len(states) / 2


def test_long_texts_of_one_key_leave_room_for_one_of_another_and_are_told_so(
    tmp_path: Path,
) -> None:
    long = {"transcript_text": "Participant: I sleep badly.".ljust(400)}
    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        settings = settings_with(
            tmp_path,
            AUTH_REQUIRED="true",
            API_MAX_TRANSCRIPT_CHARS="400",
            API_SLOT_WAIT_SECONDS="0",
            **model_at(models.url),
        )
        with RunningApp(settings) as app, ExitStack() as stack:
            doors = Doors(app.url, tmp_path, stack)
            greedy, other = doors.client(), doors.client()
            for number in range(1, 5):
                stack.enter_context(waiting(greedy, PLACE, long))
                wait_until(partial(_are_asked, models, number))
            refused = greedy.post(PREVIEW, json=long)
            assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
            assert int(refused.headers["Retry-After"]) > 0
            assert other.post(PREVIEW, json=long).status_code == 200


def _are_asked(models: ModelServerThread, assessments: int) -> bool:
    return sum(request.task == "evidence" for request in models.requests) == assessments


def test_a_key_that_may_not_assess_neither_waits_for_a_slot_nor_takes_one(tmp_path: Path) -> None:
    said = {"transcript_text": "Participant: I sleep badly."}
    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        one_place = {"API_MAX_CONCURRENCY": "1", "API_SLOT_WAIT_SECONDS": "0"}
        settings = settings_with(
            tmp_path, AUTH_REQUIRED="true", **one_place, **model_at(models.url)
        )
        with RunningApp(settings) as app, ExitStack() as stack:
            doors = Doors(app.url, tmp_path, stack)
            reading = doors.client(frozenset({Scope.READ}))
            with waiting(doors.client(), PLACE, said):
                wait_until(lambda: len(models.requests) > 0)
                refused = reading.post(PLACE, json=said)
                assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
                assert doors.client().post(PLACE, json=said).json()["code"] == "busy"


def test_a_key_that_may_not_read_sees_no_danger_of_jobs(doors: Doors, owner: httpx.Client) -> None:
    job = begun(owner, transcript_text=DANGER).replace(f"{PLACE}/", "/v1/jobs/")
    assert owner.get(job).json()["danger"] == "high"
    assert any(stage["stage"] == "danger" for stage in owner.get(job).json()["stages"])
    asking = doors.client(frozenset({Scope.ASSESS}))
    batch = asking.post("/v1/batches", json={"requests": [{"transcript_text": DANGER}]})
    own = asking.post(PLACE, json={"transcript_text": DANGER}, headers=ASYNC)
    wait_until(lambda: owner.get(own.headers["Location"]).status_code == 303)
    waited = asking.post(PLACE, json={"transcript_text": DANGER})
    assert {answer.json()["danger"] for answer in (own, waited)} == {"high"}
    for path in (job, f"{job}/events"):
        told = asking.get(path).text
        for allowed in ('"danger":null', '"hidden":["danger"]'):
            told = told.replace(allowed, "")
        assert "danger" not in told
        assert "high" not in told
    listed = asking.get("/v1/jobs").json()["jobs"]
    other = next(one for one in listed if job.endswith(one["job_id"]))
    assert (other["danger"], other["hidden"]) == (None, ["danger"])
    assert asking.get(batch.headers["Location"]).json()["jobs"][0]["danger"] == "high"


def cursor(*values: object) -> str:
    """Return a cursor that says so."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


@pytest.mark.parametrize("path", [PLACE, "/v1/jobs", "/"])
@pytest.mark.parametrize(
    "given",
    [
        pytest.param(cursor("created", 2**63, 1), id="value beyond 64 bits"),
        pytest.param(cursor("created", 0, -(2**63) - 1), id="line beyond 64 bits"),
        pytest.param(cursor("created", 0, 10**50), id="line of 50 digits"),
        pytest.param(cursor("created", 1.5, 1), id="no whole number"),
        pytest.param(cursor("created"), id="too short"),
        pytest.param(base64.urlsafe_b64encode(b"[" * 120).decode(), id="deep"),
        pytest.param("é\x00", id="no base64"),
        pytest.param("9" * 5_000, id="long"),
    ],
)
def test_a_cursor_that_is_none_is_refused(owner: httpx.Client, path: str, given: str) -> None:
    assert owner.get(path, params={"cursor": given}).status_code == 422


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"Authorization: Bearer \xff", id="no UTF-8"),
        pytest.param(b"Authorization: ", id="empty"),
        pytest.param(b"Authorization: Bearer", id="no token"),
        pytest.param(b"Authorization: Bearer aip_\xc3\xa9", id="no ASCII"),
        pytest.param(b"Authorization: Bearer aip_" + b"a" * 60_000, id="long key"),
        pytest.param(b"Authorization: Bearer " + b"a" * 100_000, id="100 kB"),
        pytest.param(b"Authorization: Bearer a\r\nAuthorization: Bearer b", id="doubled"),
        pytest.param(b"Authorization: Bearer a\r\nX-API-Key: b", id="two headers"),
        pytest.param(b"X-API-Key: \xff\xfe", id="key of noise"),
        pytest.param(b"Authorization: Bearer eyJhbGciOiJub25lIn0.e30.\xff", id="odd token"),
        pytest.param(b"Cookie: __Host-session=\xff; aip_session=\xff", id="odd cookie"),
    ],
)
def test_an_odd_credential_is_refused(owner: httpx.Client, header: bytes) -> None:
    host, port = owner.base_url.host, owner.base_url.port or 80
    with socket.create_connection((host, port), timeout=30) as caller:
        caller.sendall(
            b"GET /v1/assessments HTTP/1.1\r\nHost: localhost\r\n" + header + b"\r\n\r\n"
        )
        status = int(caller.makefile("rb").readline().split()[1])
    assert status in {400, 401, 431}
