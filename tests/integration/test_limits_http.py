"""What one credential may use in a day: counted however a request ends, and kept over restarts."""

import json
import socket
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from ai_psychiatrist.access.limits.usage import seconds_to_midnight
from tests.fakes.model_server import ModelServerThread, Reply, Request
from tests.fakes.replies import good_replies
from tests.integration.canary import CANARY, assert_files_silent, assert_silent
from tests.integration.running_app import RunningApp, client_at, client_of, model_at, settings_with
from tests.patience import wait_until

INTERVIEW = "Participant: I feel tired nearly every day.\nParticipant: I want to kill myself.\n"
LEAVES_AFTER_TWO = 2


def used(state_dir: Path) -> dict[str, int]:
    """Return what was counted of the one caller."""
    with closing(sqlite3.connect(state_dir / "limits.sqlite")) as connection:
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM used").fetchall()
    assert len(rows) == 1
    return {name: rows[0][name] for name in ("requests", "calls", "tokens", "characters")}


def assess(client: httpx.Client, text: str = INTERVIEW) -> httpx.Response:
    """Ask for the whole assessment."""
    return client.post("/full_pipeline", json={"transcript_text": text})


def assert_reached(answer: httpx.Response, setting: str, *, left: int = 0) -> dict[str, Any]:
    """Check the problem of a limit; return its body."""
    body: dict[str, Any] = answer.json()
    assert (answer.status_code, body["code"]) == (429, "limit_reached"), answer.text
    assert (body["setting"], body["left"]) == (setting, left)
    assert setting in body["detail"]
    waiting = int(answer.headers["retry-after"])
    assert abs(waiting - seconds_to_midnight(datetime.now(UTC))) < 60 or waiting > 86_000
    return body


def test_requests_are_counted_over_restarts_and_health_is_free(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, LIMIT_REQUESTS_PER_DAY="3", MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        for _ in range(2):
            assert client.get("/v1/interviews/none").status_code == 404
            assert client.get("/healthz").status_code == 200
    with client_of(settings) as client:
        assert client.get("/v1/interviews/none").status_code == 404
        assert_reached(client.get("/v1/interviews/none"), "LIMIT_REQUESTS_PER_DAY")
        assert client.get("/healthz").status_code == 200
    assert used(tmp_path)["requests"] == 3


def test_two_servers_of_one_installation_share_the_counts(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, LIMIT_REQUESTS_PER_DAY="4", MODEL_DEFAULT="baseline")
    with client_of(settings) as one, client_of(settings) as other:
        answers = [client.get("/v1/interviews/none") for client in (one, other, one, other, one)]
    assert [answer.status_code for answer in answers] == [404, 404, 404, 404, 429]


def test_calls_and_tokens_are_those_that_the_models_were_asked_for(tmp_path: Path) -> None:
    with ModelServerThread(good_replies()) as models:
        settings = settings_with(tmp_path, LIMIT_CALLS_PER_DAY="1", **model_at(models.url))
        with client_of(settings) as client:
            attempts = assess(client).json()["attempts"]
            assert len(models.requests) == used(tmp_path)["calls"] > 1
            assert_reached(assess(client), "LIMIT_CALLS_PER_DAY")
            assert client.get("/v1/interviews/none").status_code == 404
    told = sum((one["input_tokens"] or 0) + (one["output_tokens"] or 0) for one in attempts)
    assert used(tmp_path)["tokens"] == told > 0


def test_a_model_that_fails_is_paid_for_all_the_same(tmp_path: Path) -> None:
    with ModelServerThread(lambda _: Reply(text="No.")) as models:
        settings = settings_with(tmp_path, LIMIT_TOKENS_PER_DAY="1", **model_at(models.url))
        with client_of(settings) as client:
            assert assess(client).status_code == 502
            assert used(tmp_path)["calls"] == len(models.requests)
            assert used(tmp_path)["tokens"] > 0
            assert_reached(assess(client), "LIMIT_TOKENS_PER_DAY")


def test_the_baseline_calls_no_model(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, LIMIT_CALLS_PER_DAY="1", MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        assert assess(client).status_code == 200
        assert assess(client).status_code == 200
    assert used(tmp_path)["calls"] == 0


def test_a_caller_who_left_pays_for_what_was_asked(tmp_path: Path) -> None:
    def slow(request: Request) -> Reply:
        return Reply(hang=True) if request.task == "qualitative" else good_replies()(request)

    with ModelServerThread(slow) as models:
        environment = model_at(models.url) | {"LIMIT_CALLS_PER_DAY": "100"}
        with RunningApp(settings_with(tmp_path, **environment)) as app:
            leave(app.url, models)
            wait_until(lambda: models.server.in_flight == 0)
            wait_until(lambda: used(tmp_path)["calls"] == len(models.requests))
            with client_at(app.url) as client:
                client.get("/healthz")
    assert used(tmp_path)["calls"] >= LEAVES_AFTER_TWO


def leave(url: str, models: ModelServerThread) -> None:
    """Post an interview and close the connection when its models are at work."""
    body = json.dumps({"transcript_text": INTERVIEW}).encode()
    head = (
        "POST /full_pipeline HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    address = httpx.URL(url)
    with socket.create_connection((address.host, address.port or 80)) as connection:
        connection.sendall(head.encode() + body)
        wait_until(lambda: len(models.requests) >= LEAVES_AFTER_TWO)


def test_a_transcript_that_does_not_fit_is_refused_with_its_danger_and_asks_no_model(
    tmp_path: Path,
) -> None:
    limit = len(INTERVIEW) + 20
    with ModelServerThread(good_replies()) as models:
        environment = model_at(models.url) | {"LIMIT_CHARACTERS_PER_DAY": str(limit)}
        with client_of(settings_with(tmp_path, **environment)) as client:
            assert assess(client).status_code == 200
            asked = len(models.requests)
            counted = used(tmp_path)["characters"]
            refused = assess(client)
            body = assert_reached(refused, "LIMIT_CHARACTERS_PER_DAY", left=limit - counted)
            assert body["risk"]["level"] == "high"
            assert len(models.requests) == asked
            assert used(tmp_path)["characters"] == counted
            assert assess(client, "Participant: Ok.").status_code == 200


def test_turns_of_interviews_are_counted(tmp_path: Path) -> None:
    with ModelServerThread(lambda _: Reply(text="No.")) as models:
        environment = model_at(models.url) | {"LIMIT_CALLS_PER_DAY": "1"}
        environment["INTERVIEW_MODEL"] = environment["MODEL_DEFAULT"]
        with client_of(settings_with(tmp_path, **environment)) as client:
            begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
            question = begun.get("question") or {"id": "q1"}
            client.post(
                f"/v1/interviews/{begun['interview_id']}/answers",
                json={
                    "question_id": question["id"],
                    "version": begun["version"],
                    "idempotency_key": "k",
                    "text": "I sleep badly nearly every day.",
                },
            )
            assert used(tmp_path)["calls"] == len(models.requests) > 0
            again = client.post("/v1/interviews", json={"protocol": "phq8"})
            assert_reached(again, "LIMIT_CALLS_PER_DAY")


def test_limits_that_cannot_be_counted_let_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "limits.sqlite").mkdir()
    settings = settings_with(tmp_path, LIMIT_REQUESTS_PER_DAY="3", MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        refused = assess(client)
        assert (refused.status_code, refused.json()["code"]) == (503, "limits_unavailable")
        assert client.get("/healthz").status_code == 200


def test_the_counts_hold_no_words(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, LIMIT_CHARACTERS_PER_DAY="50", MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        refused = assess(
            client, f"Participant: {CANARY} is all I can say, again and again and again."
        )
    assert refused.status_code == 429
    assert_silent(refused.text)
    assert_files_silent(tmp_path)


@pytest.mark.parametrize("path", ["/v1/full_pipeline", "/v1/interviews/{interview_id}"])
def test_the_document_tells_of_limits(tmp_path: Path, path: str) -> None:
    with client_of(settings_with(tmp_path, MODEL_DEFAULT="baseline")) as client:
        operations = client.get("/openapi.json").json()["paths"][path]
    assert all("429" in operation["responses"] for operation in operations.values())


def test_who_gives_other_names_is_counted_with_those_who_give_none(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, LIMIT_REQUESTS_PER_DAY="2", MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        for name in ("A", "B"):
            assert client.post("/v1/session", json={"rater": name}).status_code == 201
            assert client.get("/v1/interviews/none").status_code == 404
        assert client.post("/v1/session", json={"rater": "C"}).status_code == 201
        assert_reached(client.get("/v1/interviews/none"), "LIMIT_REQUESTS_PER_DAY")
        client.cookies.clear()
        assert_reached(client.get("/v1/interviews/none"), "LIMIT_REQUESTS_PER_DAY")
