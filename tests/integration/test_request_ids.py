"""Every response names its request, and every log line its request and assessment."""

import json
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.exchange import Reply, Request
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServerThread
from tests.fakes.replies import good_text, participant_quotes
from tests.integration.command import Serving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, client_of, model_at, settings_with

INTERVIEW = "Participant: I feel tired nearly every day because of job number {}.\n"
JSON_TYPE = {"Content-Type": "application/json"}
Line = dict[str, Any]
Send = Callable[[httpx.Client], httpx.Response]

ANSWERS: dict[str, tuple[int, Send]] = {
    "an assessment": (
        200,
        lambda client: client.post("/full_pipeline", json={"transcript_text": "Patient: tired"}),
    ),
    "malformed JSON": (
        400,
        lambda client: client.post("/full_pipeline", content="{", headers=JSON_TYPE),
    ),
    "an unknown route": (404, lambda client: client.get("/nonesuch")),
    "a wrong method": (405, lambda client: client.put("/full_pipeline")),
    "few-shot": (
        409,
        lambda client: client.post(
            "/full_pipeline", json={"transcript_text": "Patient: tired", "mode": 1}
        ),
    ),
    "a declared length": (
        413,
        lambda client: client.post("/full_pipeline", json={"transcript_text": "x" * 5000}),
    ),
    "an undeclared length": (
        413,
        lambda client: client.post("/full_pipeline", content=iter([b"x" * 5000])),
    ),
    "a field": (422, lambda client: client.post("/full_pipeline", json={"nonesuch": 1})),
    "a preflight": (
        200,
        lambda client: client.options(
            "/full_pipeline",
            headers={"Origin": "https://page.example", "Access-Control-Request-Method": "POST"},
        ),
    ),
    "a refused preflight": (
        400,
        lambda client: client.options(
            "/full_pipeline",
            headers={"Origin": "https://else.example", "Access-Control-Request-Method": "POST"},
        ),
    ),
    "documentation": (200, lambda client: client.get("/docs")),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = settings_with(
        tmp_path_factory.mktemp("state"),
        API_MAX_BODY_BYTES="2000",
        API_CORS_ORIGINS="https://page.example",
    )
    with client_of(settings) as client:
        yield client


@pytest.mark.parametrize("case", ANSWERS)
def test_every_response_has_a_request_id(client: httpx.Client, case: str) -> None:
    status, send = ANSWERS[case]
    first, second = send(client), send(client)
    assert first.status_code == second.status_code == status
    ids = {first.headers["X-Request-ID"], second.headers["X-Request-ID"]}
    assert len(ids) == 2
    assert all(len(one) == 36 for one in ids)


def slow_and_uneven(request: Request) -> Reply:
    """Answer well, one call in five with an error, after a while that differs."""
    seed = f"{request.transcript}{request.task}{request.attempt}"
    chance = random.Random(seed)  # noqa: S311  it only has to differ
    seconds = chance.random() * 0.03
    if chance.random() < 0.2:
        return replace(FAULTS["status_500"](request), delay_seconds=seconds)
    return Reply(
        text=good_text(request.task, participant_quotes(request.transcript)), delay_seconds=seconds
    )


def lines_of(written: str) -> list[Line]:
    """Return the log lines but for what a server says of its settings when it starts."""
    lines = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] not in {"crisis_line_not_set", "serving"}]


def test_lines_of_requests_at_the_same_time_carry_their_own_ids(tmp_path: Path) -> None:
    with ModelServerThread(slow_and_uneven) as models:
        settings = model_at(models.url) | {"LOG_FORMAT": "json", "LOG_LEVEL": "DEBUG"}
        with Serving(tmp_path, settings) as serving:
            with client_at(serving.url) as client, ThreadPoolExecutor(8) as threads:
                responses = list(threads.map(lambda number: assess(client, number), range(8)))
            lines = lines_of(serving.stop().err)
    told = {response.headers["X-Request-ID"]: response.json() for response in responses}
    assert len(told) == 8
    assert len({body["assessment_id"] for body in told.values()}) == 8
    assert {line.get("request_id") for line in lines} == set(told)
    for line in lines:
        assert line["assessment_id"] == told[line["request_id"]]["assessment_id"], line
    for request_id, body in told.items():
        events = [line["event"] for line in lines if line["request_id"] == request_id]
        assert events.count("attempt_finished") == len(body["attempts"])
        assert events[-2:] == ["assessment_finished", "request_finished"]


def assess(client: httpx.Client, number: int) -> httpx.Response:
    return client.post("/full_pipeline", json={"transcript_text": INTERVIEW.format(number)})


@pytest.mark.parametrize("route", ["/full_pipeline", "/assess/quantitative", "/v1/interviews"])
def test_an_assessment_of_which_nothing_finished_has_an_id(tmp_path: Path, route: str) -> None:
    with ModelServerThread(FAULTS["status_500"]) as models:
        settings = model_at(models.url) | {"LOG_FORMAT": "json"}
        with Serving(tmp_path, settings) as serving:
            with client_at(serving.url) as client:
                transcript = {"transcript_text": INTERVIEW.format(1)}
                protocol = {"protocol": "phq8"} if route == "/v1/interviews" else {}
                response = client.post(route, json=transcript | protocol)
            lines = lines_of(serving.stop().err)
    assert response.status_code == 502
    assert "ai-psychiatrist doctor --model openai-chat:fake-model" in response.json()["detail"]
    expected = (response.headers["X-Request-ID"], response.json()["assessment_id"])
    assert {(line.get("request_id"), line.get("assessment_id")) for line in lines} == {expected}


@pytest.mark.parametrize(("fault", "code"), [("good", 0), ("status_500", 3)])
def test_lines_of_a_command_carry_the_id_of_its_assessment(
    tmp_path: Path, fault: str, code: int
) -> None:
    with ModelServerThread(FAULTS.get(fault)) as models:
        settings = model_at(models.url) | {"LOG_FORMAT": "json", "LOG_LEVEL": "INFO"}
        text = INTERVIEW.format(1).encode()
        done = run_here(["assess", "-", "--json"], tmp_path, settings, stdin=text)
    assert done.code == code
    lines = lines_of(done.err)
    assert "assessment_finished" in {line["event"] for line in lines}
    assert {line.get("assessment_id") for line in lines} == {json.loads(done.out)["assessment_id"]}


def test_a_line_of_one_request_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    """Both come over one connection, whose task could carry ids on."""
    with Serving(tmp_path, {"LOG_FORMAT": "json"}) as serving:
        with client_at(serving.url) as client:
            assess(client, 1)
            client.get("/health")
        lines = lines_of(serving.stop().err)
    assert "assessment_id" not in lines[-1]
    assert lines[-1]["request_id"] != lines[-2]["request_id"]
