"""The canary through every problem: in body, path, query, headers, Host, media type and method."""

import json
import os
import signal
import socket
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from ai_psychiatrist.domain.problems import problem_kinds
from tests.fakes.exchange import Reply
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServerThread
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    NO_PARTICIPANT,
    assert_files_silent,
    assert_silent,
    broken,
)
from tests.integration.command import Serving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, model_at
from tests.patience import wait_until

Json = dict[str, Any]
EVERYWHERE: Final = {
    "Authorization": f"Bearer {CANARY}",
    "Cookie": f"{CANARY}={CANARY}",
    "Referer": f"https://localhost/{CANARY}",
    "User-Agent": CANARY,
    "X-Forwarded-For": CANARY,
    "X-Request-ID": CANARY,
    f"X-{CANARY}": CANARY,
}
QUERY: Final = {"q": CANARY, CANARY: ""}
SETTINGS: Final = {
    "API_MAX_BODY_BYTES": "100000",
    "API_MAX_TRANSCRIPT_CHARS": "60000",
    "API_MAX_CONCURRENCY": "1",
    "API_SLOT_WAIT_SECONDS": "0",
    "API_BODY_TIMEOUT_SECONDS": "0.2",
    "API_SHUTDOWN_SECONDS": "0.5",
    "INTERVIEW_MAX_STORED": "2",
    "LOG_LEVEL": "DEBUG",
    "LOG_FORMAT": "json",
    "PYDANTIC_AI_RETRIES": "0",
}
NOT_DRIVEN: Final = {
    "internal_error": "nobody knows of a defect",
    "not_opened": "driven through the mounted application",
    "protocol_changed": "its operator has to change a protocol",
}
DRIVEN_ELSEWHERE: Final = frozenset(
    # Of stored assessments and reviews: test_privacy_records.py, test_reviews_http.py.
    "already_committed assessment_failed assessment_running assessment_unreadable assessments_full "
    "not_acceptable not_committed review_not_begun still_blind too_few_raters "
    # Of study ids: test_study_ids.py.
    "subject_taken "
    # Of links to interviews: test_privacy_interview.py.
    "link_refused "
    # Of a full store or disk: test_full_disk.py, test_expiry.py.
    "storage_full "
    # Of quotes that were not said: test_http.py, test_failure_account.py.
    "ungrounded_evidence "
    # Of jobs and batches: test_jobs_http.py, test_privacy_records.py.
    "batch_not_found job_over key_of_another key_under_way "
    # Of the doors, which have no words: test_credentials.py, test_browser_sessions.py and others.
    "csrf_token_wrong entrance_unusable forbidden open_address too_many_logins "
    # Of what is counted: test_metrics_http.py, and of the state folder: test_operated_server.py.
    "metrics_off state_unwritable".split()
)
"""Codes of problems whose own tests look for words."""


def sent(client: httpx.Client, text: str, **headers: str) -> httpx.Response:
    given = {"Content-Type": "application/json"} | headers
    return client.post("/full_pipeline", content=text.encode(), headers=given)


def assess(client: httpx.Client, transcript: str = INTERVIEW, **fields: object) -> httpx.Response:
    return sent(client, json.dumps({"transcript_text": transcript, **fields}))


def raw(client: httpx.Client, head: str) -> httpx.Response:
    """Send what a client would not, and return the answer."""
    place = (client.base_url.host, client.base_url.port or 80)
    with closing(socket.create_connection(place)) as caller:
        caller.sendall(head.replace("\n", "\r\n").encode())
        answer = caller.makefile("rb").read()
    top, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = top.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return httpx.Response(int(first.split()[1]), headers=headers, content=body)


REQUESTS: Final[dict[str, Callable[[httpx.Client], httpx.Response]]] = {
    "malformed": lambda client: sent(client, f'{{"transcript_text": "{CANARY}'),
    "other media type": lambda client: sent(client, CANARY, **{"Content-Type": f"text/{CANARY}"}),
    "unusable file": lambda client: sent(
        client, f'[{{"{CANARY}": ', **{"Content-Type": "text/plain"}
    ),
    "key twice": lambda client: sent(client, f'{{"{CANARY}": "{CANARY}", "{CANARY}": 1}}'),
    "many values": lambda client: sent(client, f'["{CANARY}"{", 1" * 60_000}'[:99_999]),
    "many values, whole": lambda client: sent(client, "[" + "1," * 49_990 + f'"{CANARY}"]'),
    "compressed": lambda client: sent(client, CANARY, **{"Content-Encoding": "gzip"}),
    "large": lambda client: assess(client, CANARY * 100_000),
    "long": lambda client: assess(client, CANARY * 10_000),
    "unknown field": lambda client: assess(client, **{CANARY: CANARY}),
    "no participant": lambda client: assess(client, NO_PARTICIPANT),
    "few-shot": lambda client: assess(client, mode=1),
    "not stored": lambda client: sent(client, '{"participant_id": 300}'),
    "query": lambda client: client.post(
        "/full_pipeline", params=QUERY, json={"transcript_text": INTERVIEW}
    ),
    "path": lambda client: client.get(f"/{CANARY}/{CANARY}", params=QUERY),
    "method": lambda client: client.request("PROPFIND", "/full_pipeline", params=QUERY),
    "host": lambda client: client.get(
        f"/{CANARY}", params=QUERY, headers={"Host": f"{CANARY}.example"}
    ),
    "unclear host": lambda client: raw(
        client, f"GET /{CANARY} HTTP/1.1\nHost: {CANARY}@localhost\nConnection: close\n\n"
    ),
    "unknown assessment": lambda client: client.get(f"/v1/assessments/{CANARY}"),
    "unknown subject": lambda client: client.get(f"/v1/subjects/{CANARY}"),
    "a key that does not work": lambda client: client.get(
        "/v1/queue", headers={"Authorization": f"Bearer aip_{CANARY}"}
    ),
    "two keys": lambda client: client.get(
        "/v1/queue",
        headers={"Authorization": f"Bearer aip_{CANARY}", "X-API-Key": f"aip_{CANARY}"},
    ),
    "another site": lambda client: client.post(
        "/full_pipeline",
        json={"transcript_text": INTERVIEW},
        headers={"Origin": f"https://{CANARY}.example"},
    ),
    "slow body": lambda client: raw(
        client,
        f"POST /full_pipeline?{CANARY} HTTP/1.1\nHost: localhost\nX-{CANARY}: {CANARY}\n"
        f'Content-Type: application/json\nContent-Length: 900\n\n{{"{CANARY}": "{CANARY}',
    ),
}


def interviewed(client: httpx.Client, folder: Path) -> Iterator[httpx.Response]:
    """Meet every problem of interviews but those of models."""

    def post(path: str, body: Json) -> httpx.Response:
        return client.post(f"/v1/interviews{path}", params=QUERY, json=body)

    def answered(text: str, key: str, version: int = 1) -> httpx.Response:
        question = {"question_id": "q1", "version": version, "idempotency_key": key}
        return post(f"/{begun['interview_id']}/answers", question | {"text": text})

    begun = post("", {"protocol": "phq8"}).json()
    path = f"/v1/interviews/{begun['interview_id']}"
    for unknown in (f"/{CANARY}", f"/{CANARY}/report"):
        yield client.get(f"/v1/interviews{unknown}", params=QUERY)
    yield client.delete(f"/v1/interviews/{CANARY}")
    for step in ("retry", "report"):
        yield post(f"/{CANARY}/{step}", {CANARY: CANARY})
    yield post(f"/{CANARY}/answers", {CANARY: CANARY})
    yield client.get(f"{path}/report", params=QUERY)
    yield client.post(f"{path}/report", params=QUERY)
    yield post(f"/{begun['interview_id']}/reopen", {"reason": CANARY})
    key = str(uuid.uuid4())
    taken = answered(f"nearly every day, {CANARY}", key)
    assert taken.is_success
    version = taken.json()["version"]
    yield answered(f"some, {CANARY}", key)
    yield answered(f"some, {CANARY}", str(uuid.uuid4()), version=99)
    stop = {"question_id": "q1", "version": version, "idempotency_key": "stop", "stop": True}
    assert post(f"/{begun['interview_id']}/answers", stop).is_success
    yield answered(CANARY, str(uuid.uuid4()), version=version + 1)
    names = ("title", "summary", "interviewee_name", "interviewee_role")
    failed = post("", {"protocol": "incident", "inputs": dict.fromkeys(names, CANARY)})
    yield failed
    stop = {"question_id": "q1", "version": failed.json()["version"], "stop": True}
    path = f"/v1/interviews/{failed.json()['interview_id']}"
    assert client.post(f"{path}/answers", json=stop | {"idempotency_key": "stop"}).is_success
    yield client.get(f"{path}/report", params=QUERY)
    assert client.delete(path).is_success
    path = f"/v1/interviews/{begun['interview_id']}"
    post("", {"protocol": "phq8"})
    yield post("", {"protocol": "phq8", "inputs": {}})
    with closing(sqlite3.connect(folder / "state" / "store.sqlite")) as file, file:
        file.execute("UPDATE interviews SET body = ?", (CANARY.encode(),))
    yield client.get(path, params=QUERY)
    assert client.delete(path).is_success


@contextmanager
def under_way(client: httpx.Client, *transcripts: str) -> Iterator[list[Future[httpx.Response]]]:
    with ThreadPoolExecutor(len(transcripts)) as pool:
        yield [pool.submit(assess, client, transcript) for transcript in transcripts]


def lost(client: httpx.Client, server: int) -> httpx.Response:
    """Have the process killed that reads a long transcript, as a machine without memory does."""
    with under_way(client, INTERVIEW * 150) as (answer,):

        def is_answered() -> bool:
            for child in children_of(server):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            return answer.done()

        wait_until(is_answered)
        return answer.result()


def children_of(parent: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if path.read_text("utf-8", "replace").rpartition(")")[2].split()[1] == str(parent):
                yield int(path.parent.name)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
def test_no_problem_repeats_anything_of_its_request(tmp_path: Path) -> None:
    problems: list[httpx.Response] = []
    with (
        ModelServerThread(FAULTS["status_500"]) as models,
        Serving(tmp_path, SETTINGS | model_at(models.url)) as serving,
        client_at(serving.url) as client,
    ):
        client.headers.update(EVERYWHERE)
        problems += [send(client) for send in REQUESTS.values()]
        problems += interviewed(client, tmp_path)
        problems += [assess(client), lost(client, serving.pid)]
        models.server.script = broken(500)
        problems.append(assess(client))
        models.server.script = lambda _: Reply(hang=True)
        with under_way(client, INTERVIEW) as (running,):
            wait_until(lambda: models.server.in_flight > 0)
            problems.append(assess(client))
            serving.signal(signal.SIGTERM)
            wait_until(lambda: client.get("/readyz").status_code == 503)
            problems += [assess(client), running.result()]
        done = serving.wait()
        hasty = SETTINGS | model_at(models.url) | {"API_REQUEST_TIMEOUT_SECONDS": "0.3"}
        with Serving(tmp_path, hasty) as second:
            with client_at(second.url) as hurried:
                problems.append(assess(hurried))
            late = second.stop()
    (tmp_path / "elsewhere" / "store.sqlite").mkdir(parents=True)
    nowhere = {"DATA_STATE_DIR": "elsewhere"} | model_at("http://127.0.0.1:1")
    with Serving(tmp_path, nowhere) as serving:
        with client_at(serving.url) as client:
            problems.append(client.get("/readyz", params=QUERY))
            problems.append(client.post("/v1/interviews", json={"protocol": "phq8"}))
        unavailable = serving.stop()
    damaged = {"DATA_STATE_DIR": "damaged"} | model_at("http://127.0.0.1:1")
    with Serving(tmp_path, damaged) as serving:
        with client_at(serving.url) as client:
            assert client.post("/v1/interviews", json={"protocol": "phq8"}).status_code == 201
            with closing(sqlite3.connect(tmp_path / "damaged" / "store.sqlite")) as file, file:
                file.execute("ALTER TABLE interviews RENAME TO gone")
            problems.append(client.post("/v1/interviews", json={"protocol": "phq8"}))
            with closing(sqlite3.connect(tmp_path / "damaged" / "keys.sqlite")) as file, file:
                file.execute("DELETE FROM audit_heads")
            problems.append(client.post("/v1/interviews", json={"protocol": "phq8"}))
        partly = serving.stop()
    for answer in problems:
        assert answer.status_code not in {200, 201, 500}, answer.text
        assert_silent(answer.text, str(dict(answer.headers)))
    for one in (done, late, unavailable, partly):
        assert_silent(one.out, one.err)
    codes = {answer.json()["code"] for answer in problems}
    assert problem_kinds().keys() - codes == {*NOT_DRIVEN, *DRIVEN_ELSEWHERE}


STRAY_LINES: Final = {
    "a key on the next line": f"OPENAI_API_KEY=\nsk-{CANARY}\n",
    "words": f"Participant: {CANARY} {CANARY}\n",
    "a name in small letters": f"{CANARY}={CANARY}\n",
    "an open quotation": f'OPENAI_API_KEY="{CANARY}\n{CANARY}\n',
}


@pytest.mark.parametrize("case", STRAY_LINES)
def test_a_stray_line_of_the_env_file_is_never_shown(tmp_path: Path, case: str) -> None:
    (tmp_path / ".env").write_text(STRAY_LINES[case], "utf-8")
    (tmp_path / "talk.txt").write_text("Participant: I sleep well.\n", "utf-8")
    for arguments in (["settings"], ["assess", "talk.txt"], ["doctor"]):
        done = run_here(arguments, tmp_path, {"LOG_LEVEL": "DEBUG"})
        assert_silent(done.out, done.err)
    with (
        suppress(AssertionError),
        Serving(tmp_path, {"LOG_LEVEL": "DEBUG"}) as serving,
        client_at(serving.url) as client,
    ):
        client.get("/health")
    assert_silent(*((tmp_path / name).read_text() for name in ("serve.out", "serve.err")))
    (tmp_path / ".env").unlink()
    assert_files_silent(tmp_path)
