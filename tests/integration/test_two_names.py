"""Every route is under /v1, the oldest under their first names too; HEAD is where GET is."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.responses import StreamingResponse

from ai_psychiatrist.api.app import create_app
from tests.integration.canary import INTERVIEW
from tests.integration.running_app import client_of, settings_with

POSTS = ("/full_pipeline", "/assess/quantitative", "/assess/qualitative")
GETS = ("/health", "/healthz", "/readyz")
OF_EACH_ANSWER = ("date", "x-request-id", "transfer-encoding")
CHANGING = ("assessment_id", "duration_ms")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path_factory.mktemp("state"))) as client:
        yield client


def lasting(response: httpx.Response) -> object:
    assert response.status_code == 200
    body = response.json()
    for attempt in body["attempts"]:
        attempt.pop("duration_ms")
    return {name: value for name, value in body.items() if name not in CHANGING}


@pytest.mark.parametrize("path", POSTS)
def test_both_names_give_the_same_assessment(client: httpx.Client, path: str) -> None:
    body = {"transcript_text": INTERVIEW}
    first, second = (client.post(prefix + path, json=body) for prefix in ("", "/v1"))
    assert lasting(first) == lasting(second)


@pytest.mark.parametrize("path", POSTS)
def test_both_names_refuse_the_same(client: httpx.Client, path: str) -> None:
    body = {"transcript_text": INTERVIEW, "else": 1}
    first, second = (client.post(prefix + path, json=body) for prefix in ("", "/v1"))
    assert first.status_code == second.status_code == 422
    assert first.json() == second.json()


@pytest.mark.parametrize("path", GETS)
def test_both_names_give_the_same_status(client: httpx.Client, path: str) -> None:
    assert client.get(path).json() == client.get(f"/v1{path}").json()


def test_the_log_tells_by_which_name_a_route_was_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_with(tmp_path, LOG_LEVEL="DEBUG", LOG_FORMAT="json")
    with client_of(settings) as client:
        client.get("/healthz")
        client.head("/v1/healthz")
        client.post("/v1/full_pipeline", json={"transcript_text": INTERVIEW})
        client.get("/v1/interviews/nonesuch")
    lines = map(json.loads, capsys.readouterr().err.splitlines())
    told = [
        (line["method"], line["route"]) for line in lines if line["event"] == "request_finished"
    ]
    assert told == [
        ("GET", "/healthz"),
        ("HEAD", "/v1/healthz"),
        ("POST", "/v1/full_pipeline"),
        ("GET", "/v1/interviews/{interview_id}"),
    ]


def test_both_names_share_the_places_for_requests(tmp_path: Path) -> None:
    app = create_app(settings_with(tmp_path, API_MAX_CONCURRENCY="1", API_SLOT_WAIT_SECONDS="0"))
    held = app.state.slots.hold(1, "local")
    with client_of(app) as client, asyncio.Runner() as runner:
        runner.run(held.__aenter__())
        answers = [client.post(prefix + POSTS[0], json={}) for prefix in ("", "/v1")]
        runner.run(held.__aexit__(None, None, None))
    assert [answer.json()["code"] for answer in answers] == ["busy", "busy"]


def test_head_is_answered_as_get_is_everywhere(client: httpx.Client) -> None:
    begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
    described = client.get("/openapi.json").json()["paths"]
    paths = [path for path, operations in described.items() if "get" in operations]
    assert "/v1/interviews/{interview_id}/report" in paths
    for template in [*paths, *GETS, "/docs", "/openapi.json", "/nonesuch"]:
        path = re.sub(r"\{\w+\}", begun["interview_id"], template)
        got, head = client.get(path), client.head(path)
        assert head.status_code == got.status_code, path
        assert head.content == b""
        assert _lasting_headers(head) == _lasting_headers(got), path


def _lasting_headers(response: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name not in OF_EACH_ANSWER}


def test_head_ends_an_answer_that_never_ends(tmp_path: Path) -> None:
    app = create_app(settings_with(tmp_path))

    async def forever() -> AsyncIterator[bytes]:
        while True:
            yield b"x"

    app.add_api_route("/events", lambda: StreamingResponse(forever(), media_type="text/plain"))
    with client_of(app) as client:
        answer = client.head("/events")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"].startswith("text/plain")


def test_head_of_what_fails_is_answered_without_a_body_too(tmp_path: Path) -> None:
    app = create_app(settings_with(tmp_path))

    def fail() -> None:
        raise LookupError

    app.add_api_route("/broken", fail)
    asked = "".join(
        f"{method} /broken HTTP/1.1\r\nHost: localhost\r\nConnection: {then}\r\n\r\n"
        for method, then in (("HEAD", "keep-alive"), ("GET", "close"))
    )
    with client_of(app) as client:
        place = (client.base_url.host, client.base_url.port or 80)
        with socket.create_connection(place) as caller, caller.makefile("rb") as answers:
            caller.sendall(asked.encode())
            told = answers.read()
    assert told.count(b"HTTP/1.1 500") == 2
    assert told.count(b'"code":"internal_error"') == 1
