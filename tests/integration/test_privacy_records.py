"""The canary through stored assessments: words and names stand in no file, log or problem."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ai_psychiatrist.infrastructure.logging import ALLOWED_KEYS
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServerThread, Script, good_replies
from tests.fakes.replies import ITEMS
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    NO_PARTICIPANT,
    assert_files_silent,
    assert_silent,
    broken,
    canary_as_quote,
)
from tests.integration.command import Finished, Serving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, model_at
from tests.patience import wait_until

Json = dict[str, Any]
Send = Callable[[httpx.Client, str], httpx.Response]
PLACE = "/v1/assessments"
JOBS = "/v1/jobs"
BATCHES = "/v1/batches"
BODY = {"transcript_text": INTERVIEW, "subject": f"{CANARY} Smith"}
KEY = f"key-{CANARY.replace(' ', '-')}"
SPAN = {"start": INTERVIEW.index("I feel"), "end": INTERVIEW.index(" because")}
RATINGS = {"items": {item: {"score": 2, "evidence": [SPAN]} for item in ITEMS}}
SLEEP = {"kind": "score", "item": "PHQ8_Sleep"}
MODELS: dict[str, Script] = {
    "good": good_replies(),
    "invented quotes": canary_as_quote,
    "a page": broken(),
    "an echo with 500": FAULTS["status_500"],
}
WITH_WORDS = ("", "/transcript", "/evidence", "/acknowledgements")
WITHOUT_WORDS = ("/certificate", "/review")
BAD_REQUESTS: dict[str, Send] = {
    "no participant": lambda client, _: client.post(
        PLACE, json={"transcript_text": NO_PARTICIPANT, "subject": CANARY}
    ),
    "a subject that is none": lambda client, _: client.post(
        PLACE, json={"transcript_text": INTERVIEW, "subject": [CANARY]}
    ),
    "an extra field": lambda client, _: client.post(PLACE, json=BODY | {CANARY: CANARY}),
    "lone surrogate": lambda client, _: client.post(
        PLACE,
        content=f'{{"transcript_text": "Participant: hm", "subject": "{CANARY} \\ud800"}}',
        headers={"Content-Type": "application/json"},
    ),
    "unknown id": lambda client, _: client.get(f"{PLACE}/{CANARY}"),
    "unknown subject": lambda client, _: client.delete(f"/v1/subjects/{CANARY}"),
    "unknown query": lambda client, _: client.get(PLACE, params={CANARY: CANARY}),
    "unknown band": lambda client, _: client.get(PLACE, params={"band": CANARY}),
    "a cursor": lambda client, _: client.get(PLACE, params={"cursor": CANARY}),
    "an event": lambda client, path: client.get(
        f"{path.replace(PLACE, JOBS)}/events", headers={"Last-Event-ID": CANARY}
    ),
    "unknown job": lambda client, _: client.get(f"{JOBS}/{CANARY}"),
    "a job to cancel": lambda client, _: client.delete(f"{JOBS}/{CANARY}"),
    "unknown state": lambda client, _: client.get(JOBS, params={"state": CANARY}),
    "a cursor of jobs": lambda client, _: client.get(JOBS, params={"cursor": CANARY}),
    "unknown batch": lambda client, _: client.get(f"{BATCHES}/{CANARY}"),
    "a key of a request": lambda client, _: client.post(
        PLACE, json=BODY, headers={"Idempotency-Key": f"{CANARY} {CANARY}"}
    ),
    "a key of another request": lambda client, _: client.post(
        PLACE, json=BODY | {"subject": "another"}, headers={"Idempotency-Key": KEY}
    ),
    "a bad request in a batch": lambda client, _: client.post(
        BATCHES, json={"requests": [BODY, {"transcript_text": NO_PARTICIPANT}]}
    ),
    "an extra field in a batch": lambda client, _: client.post(
        BATCHES, json={"requests": [BODY | {CANARY: CANARY}]}
    ),
    "unknown item": lambda client, path: client.post(
        f"{path}/review/ratings", json={"items": RATINGS["items"] | {CANARY: {"score": 1}}}
    ),
    "a score that is none": lambda client, path: client.post(
        f"{path}/review/ratings",
        json={"items": RATINGS["items"] | {"PHQ8_Sleep": {"score": CANARY}}},
    ),
    "a remark that is none": lambda client, path: client.post(
        f"{path}/review/rows", json={"kind": CANARY, "item": CANARY, CANARY: CANARY}
    ),
    "gold scores of one rater": lambda client, path: client.post(
        f"{path}/review/gold", json={"items": {"PHQ8_Sleep": {"score": 1, "reason": CANARY}}}
    ),
    "a statement that is none": lambda client, path: client.post(
        f"{path}/acknowledgements",
        json={"statements": [{"start": 0, "end": 1}], "note": CANARY},
    ),
    "a statement without a place": lambda client, path: client.post(
        f"{path}/acknowledgements", json={"statements": [CANARY], CANARY: CANARY}
    ),
    "ratings twice": lambda client, path: client.post(f"{path}/review/ratings", json=RATINGS),
}


def answers(client: httpx.Client, models: ModelServerThread) -> Iterator[httpx.Response]:
    """Drive the canary through every route, with good and with failing models."""
    for script in MODELS.values():
        models.server.script = script
        yield client.post(PLACE, json=BODY)
        yield client.post(PLACE, json=BODY, headers={"Idempotency-Key": KEY})
        begun = client.post(PLACE, json=BODY, headers={"Prefer": "respond-async"})
        yield begun
        job = begun.headers["Location"]
        _wait_for_end(client, job)
        for part in ("", "/events"):
            yield client.get(job + part)
        yield client.delete(job)
        path = job.replace(JOBS, PLACE)
        yield client.post(f"{path}/review")
        yield client.post(f"{path}/review/ratings", json=RATINGS)
        yield client.post(f"{path}/review/rows", json=SLEEP | {"score": 1})
        yield client.post(
            f"{path}/review/rows", json={"kind": "missed", "item": "PHQ8_Sleep", **SPAN}
        )
        yield client.post(f"{path}/acknowledgements", json={"note": CANARY})
        for part in (*WITH_WORDS, *WITHOUT_WORDS):
            yield client.get(path + part)
        for send in BAD_REQUESTS.values():
            yield send(client, path)
    yield client.post(BATCHES, json={"requests": [BODY]}, headers={"Idempotency-Key": KEY})
    batch = client.post(BATCHES, json={"requests": [BODY] * 2})
    yield batch
    yield client.get(batch.headers["Location"])
    yield client.get(JOBS)
    yield client.get(PLACE)
    subject_id = client.get(PLACE).json()["assessments"][0]["subject_id"]
    yield client.get(f"/v1/subjects/{subject_id}")


def _wait_for_end(client: httpx.Client, job: str) -> None:
    wait_until(lambda: client.get(job).json()["state"] not in {"waiting", "running"})


def may_hold_words(answer: httpx.Response) -> bool:
    """Return whether an answer is for whoever may read the interview."""
    request = answer.request
    if answer.is_error or answer.status_code == 202:
        return False
    path = request.url.path
    is_noted = path.endswith("/acknowledgements")
    is_made = request.method == "POST" and (path == PLACE or is_noted)
    is_read = request.method == "GET" and path.startswith((f"{PLACE}/", "/v1/subjects/"))
    return is_made or (is_read and not path.endswith(WITHOUT_WORDS))


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_stored_words_are_where_they_belong_and_nowhere_else(
    tmp_path: Path, log_format: str
) -> None:
    told = 0
    with ModelServerThread() as models:
        environment = model_at(models.url) | {
            "LOG_LEVEL": "DEBUG",
            "LOG_FORMAT": log_format,
            "PYDANTIC_AI_RETRIES": "0",
            "FEEDBACK_MAX_ITERATIONS": "1",
        }
        with Serving(tmp_path, environment) as serving:
            with client_at(serving.url) as client:
                for answer in answers(client, models):
                    assert answer.status_code != 500, answer.request.url.path
                    assert_silent(str(dict(answer.headers)))
                    if may_hold_words(answer):
                        told += CANARY in answer.text
                    else:
                        assert_silent(answer.text)
                assert_files_silent(tmp_path)
            done = serving.stop()
    assert told > 3 * len(WITH_WORDS)
    assert_silent(done.out, done.err)
    assert_files_silent(tmp_path)
    if log_format == "json":
        _assert_only_allowed_keys(done)
        _assert_commands_silent(tmp_path)


def _assert_only_allowed_keys(done: Finished) -> None:
    lines = done.served_lines
    assert {"request_finished", "assessment_not_finished"} <= {line["event"] for line in lines}
    for line in lines:
        assert set(line) <= ALLOWED_KEYS
        assert "dropped_keys" not in line, line["event"]


def _assert_commands_silent(folder: Path) -> None:
    listed = run_here(["records", "list", "--json"], folder)
    lines = [json.loads(line) for line in listed.out.splitlines()]
    assert len(lines) > len(MODELS)
    key = folder / "new.key"
    key.write_text("44" * 32)
    for arguments, code in (
        (["list"], 0),
        (["rotate-key", "--new-key-file", str(key)], 0),
        (["rotate-key", "--new-key-file", str(folder)], 2),
        (["sweep"], 0),
        (["undelete", CANARY], 2),
        (["undelete", "--since", "2020-01-01"], 0),
        (["undelete", "--since", CANARY], 2),
        (["backup", "--out", str(folder / "data"), "--with-keys", str(folder / "keys")], 0),
        (["backup", "--out", str(folder / "data")], 2),
        (["backup", "--out", str(folder / "state" / "records.key")], 2),
        (["restore", str(folder / "data"), "--with-keys", str(folder / "keys")], 2),
        (["restore", str(folder / CANARY)], 2),
        (["export", "--out", str(folder / "all.jsonl")], 0),
        (["export", "--out", str(folder / "all.jsonl")], 2),
        (["export", "--out", str(folder / CANARY / "all.jsonl"), "--tenant", CANARY], 2),
        (["import", str(folder / "all.jsonl")], 0),
        (["import", str(folder / "all.jsonl"), "--tenant", f"../{CANARY}"], 2),
        (["import", str(key)], 2),
        (["erase", lines[0]["assessment_id"]], 0),
        (["erase", "--subject", lines[1]["subject_id"]], 0),
        (["erase", CANARY], 2),
        (["erase"], 2),
        (["list", "--tenant", "../elsewhere"], 2),
    ):
        _assert_silent_command(["records", *arguments], code, folder)
    for arguments in ([], ["--all"], ["--all", "--json"]):
        _assert_silent_command(["doctor", "--store", *arguments], 0, folder)
    for arguments, code in (
        (["show", "--json", "--record", CANARY], 0),
        (["show", "--tenant", CANARY], 2),
        (["verify"], 0),
        (["verify", "--head", CANARY], 2),
        (["head"], 0),
    ):
        _assert_silent_command(["audit", *arguments], code, folder)
    assert CANARY in (folder / "all.jsonl").read_text("utf-8")
    (folder / "all.jsonl").unlink()
    assert_files_silent(folder)


def _assert_silent_command(arguments: list[str], code: int, folder: Path) -> None:
    done = run_here(arguments, folder)
    assert done.code == code, (arguments, done.err)
    assert_silent(done.out, done.err)
