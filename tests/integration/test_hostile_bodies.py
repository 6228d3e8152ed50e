"""What a body may cost: memory and an answer in proportion to its size, whatever it holds."""

import asyncio
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.asgi_app import asgi_client
from tests.integration.running_app import client_of, settings_with

SIZE = 4_194_304
MOST_ANSWERED = 65_536
MOST_MEMORY = 10 * SIZE
INTERVIEWS = "/v1/interviews"
TEXT = '{"transcript_text": '
SCORED = '{"protocol": "phq8", "assessment": {"items": {"PHQ8_Sleep": {"score": 1, "evidence": '


def filled(before: str, unit: str, after: str) -> bytes:
    """Return a body of the largest size that repeats the unit, the last one without its comma."""
    count = (SIZE - len(before) - len(after)) // len(unit)
    return (before + (unit * count).rstrip(",") + after).encode()


def numbered(before: str, unit: str, after: str, count: int) -> bytes:
    return (before + ",".join(unit % number for number in range(count)) + after).encode()


REFUSED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "wrong values": ("/full_pipeline", lambda: filled(TEXT + "[", "1,", "]}")),
    "empty lists": ("/full_pipeline", lambda: filled("[", "[],", "]")),
    "empty objects": ("/full_pipeline", lambda: filled("[", "{},", "]")),
    "empty strings": ("/full_pipeline", lambda: filled("[", '"",', "]")),
    "lists in lists": ("/full_pipeline", lambda: b"[" * (SIZE // 2) + b"]" * (SIZE // 2)),
    "objects in objects": ("/full_pipeline", lambda: filled("", '{"a":', "")),
    "unknown keys": ("/full_pipeline", lambda: numbered("{", '"k%d":1', "}", 330_000)),
    "fewer unknown keys": ("/full_pipeline", lambda: numbered("{", '"k%d":1', "}", 40_000)),
    "long unknown keys": (
        "/full_pipeline",
        lambda: numbered("{", f'"{"k" * 100_000}%d":1', "}", 40),
    ),
    "the same key": ("/full_pipeline", lambda: filled("{", '"a":1,', "}")),
    "the same key less often": ("/full_pipeline", lambda: b"{" + b'"a":1,' * 4_000 + b'"a":1}'),
    "quotes": (INTERVIEWS, lambda: filled(SCORED + "[", '{"text":1},', "]}}}}")),
    "fewer quotes": (INTERVIEWS, lambda: numbered(SCORED + "[", '{"text":%d}', "]}}}}", 20_000)),
    "a long quote": (INTERVIEWS, lambda: filled(SCORED + '[{"text": "', "a", '"}]}}}}')),
    "unknown items": (
        INTERVIEWS,
        lambda: numbered('{"protocol":"phq8","assessment":{"items":{', '"i%d":1', "}}}", 40_000),
    ),
    "inputs": (
        INTERVIEWS,
        lambda: numbered('{"protocol": "phq8", "inputs": {', '"i%d": []', "}}", 40_000),
    ),
    "a long input": (INTERVIEWS, lambda: filled('{"protocol":"phq8","inputs":{"a":"', "a", '"}}')),
    "a long protocol": (INTERVIEWS, lambda: filled('{"protocol":"', "a", '"}')),
    "a long key": (
        f"{INTERVIEWS}/{'a' * 32}/answers",
        lambda: filled('{"question_id":"q","version":1,"idempotency_key":"', "a", '"}'),
    ),
    "digits": ("/full_pipeline", lambda: filled('{"participant_id": ', "9", "}")),
    "numbers of many digits": (
        "/full_pipeline",
        lambda: filled(TEXT + "[", "9" * 4290 + ",", "]}"),
    ),
    "a number beyond all": ("/full_pipeline", lambda: b'{"participant_id": 1e999999}'),
    "quotation marks": ("/full_pipeline", lambda: b'"' * SIZE),
    "backslashes": ("/full_pipeline", lambda: b"\\" * SIZE),
    "lone surrogates": ("/full_pipeline", lambda: filled(TEXT + '"', "\\ud800", '"}')),
    "blanks": ("/full_pipeline", lambda: b" " * SIZE),
    "UTF-16": ("/full_pipeline", lambda: ("[" + "[]," * 600_000 + "[]]").encode("utf-16")),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path_factory.mktemp("state"))) as client:
        yield client


def sent(client: httpx.Client, route: str, content: bytes) -> httpx.Response:
    return client.post(route, content=content, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("case", REFUSED)
def test_a_hostile_body_is_refused_with_a_short_answer(client: httpx.Client, case: str) -> None:
    route, body = REFUSED[case]
    content = body()
    assert len(content) <= SIZE
    response = sent(client, route, content)
    assert response.status_code in (400, 413, 422), response.text[:200]
    assert response.headers["content-type"] == "application/problem+json"
    assert len(response.content) <= MOST_ANSWERED


def test_refusing_takes_memory_in_proportion_to_the_body(tmp_path: Path) -> None:
    """Where the most was made of a byte: objects, their errors, and what the errors hold."""

    async def peaks() -> dict[str, int]:
        found = {}
        async with asgi_client(settings_with(tmp_path)) as client:
            for case in ("wrong values", "empty objects", "unknown keys", "quotes", "same key"):
                route, body = REFUSED.get(case) or REFUSED["the same key"]
                content = body()
                tracemalloc.start()
                try:
                    await client.post(
                        route, content=content, headers={"Content-Type": "application/json"}
                    )
                    found[case] = tracemalloc.get_traced_memory()[1]
                finally:
                    tracemalloc.stop()
        return found

    most = asyncio.run(peaks())
    assert {case: peak for case, peak in most.items() if peak > MOST_MEMORY} == {}


def test_no_more_than_twenty_errors_are_listed_and_the_rest_counted(client: httpx.Client) -> None:
    item = {"score": "x", "unknown_reason": 1, "evidence": 1}
    scores = {"items": {"PHQ8_Sleep": item}, "quantitative": {"items": {"PHQ8_Sleep": item}}}
    wrong = {"protocol": 1, "assessment": scores, "inputs": 1, "transcript_text": 1}
    unknown = {f"k{number}": number for number in range(15)}
    problem = client.post(INTERVIEWS, json=wrong | unknown).json()
    assert problem["code"] == "invalid_request"
    assert len(problem["errors"]) == 20
    assert problem["more_errors"] == 4
    few = client.post(INTERVIEWS, json={"protocol": 1}).json()
    assert (len(few["errors"]), few["more_errors"]) == (1, 0)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"transcript_text": "Participant: a", "transcript_text": "b"}', "transcript_text"),
        ('{"quillaya": 1, "quillaya": 1}', "unknown"),
        ('{"transcript_text": {"mode": 1, "mode": 1}}', "mode"),
        ('{"mode": 0, "\\u006dode": 0}', "mode"),
    ],
)
def test_a_key_given_twice_is_refused_with_the_cure(
    client: httpx.Client, body: str, field: str
) -> None:
    response = sent(client, "/full_pipeline", body.encode())
    problem = response.json()
    assert (response.status_code, problem["code"], problem["field"]) == (
        400,
        "duplicate_key",
        field,
    )
    assert "once" in problem["detail"]
    assert "quillaya" not in response.text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('[{"a": 1}, ' * 50_000, id="brackets and commas"),
        pytest.param('"quoted", ' * 50_000, id="quotation marks"),
        pytest.param("\\" * 99_999, id="an odd number of backslashes"),
        pytest.param('\\" \\\\" {[' * 20_000, id="escapes before brackets"),
    ],
)
def test_what_stands_in_a_string_is_no_structure(client: httpx.Client, text: str) -> None:
    body = {"transcript_text": "Interviewer: " + text, "mode": 5}
    response = client.post("/full_pipeline", json=body)
    assert {error["field"] for error in response.json()["errors"]} == {"mode"}


def test_a_body_of_many_values_says_how_many_it_may_hold(client: httpx.Client) -> None:
    response = sent(client, "/full_pipeline", json.dumps([0] * 60_000).encode())
    assert response.status_code == 413
    assert "50000 values" in response.json()["detail"]


@pytest.mark.parametrize("length", [b"\xb2", b"9" * 5_000])
def test_a_declared_length_may_be_anything(tmp_path: Path, length: bytes) -> None:
    """Servers refuse most of that before it gets here; not all do."""

    async def status() -> int:
        async with asgi_client(settings_with(tmp_path)) as client:
            headers = {b"Content-Length": length, b"Content-Type": b"application/json"}
            response = await client.post("/full_pipeline", content=b"{}", headers=headers)
            return response.status_code

    assert asyncio.run(status()) in (413, 422)


@pytest.mark.parametrize("path", ["/health", "/healthz", "/readyz"])
def test_the_head_of_a_status_can_be_asked_for(client: httpx.Client, path: str) -> None:
    response = client.head(path)
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/full_pipeline", {"POST"}),
        ("POST", f"{INTERVIEWS}/{'a' * 32}", {"GET", "HEAD", "DELETE"}),
        ("PATCH", "/v1/full_pipeline", {"POST"}),
        ("HEAD", "/v1/full_pipeline", {"POST"}),
        ("OPTIONS", "/v1/health", {"GET", "HEAD"}),
        ("POST", "/healthz", {"GET", "HEAD"}),
        ("PROPFIND", "/openapi.json", {"GET", "HEAD"}),
    ],
)
def test_a_wrong_method_is_told_every_method_of_the_path(
    client: httpx.Client, method: str, path: str, allowed: set[str]
) -> None:
    response = client.request(method, path)
    assert response.status_code == 405
    assert set(response.headers["allow"].split(", ")) == allowed


def test_a_wrong_value_under_a_name_that_stands_for_others_is_told(client: httpx.Client) -> None:
    """`unknown` is a name in the query, and stands for made-up fields of a body as well."""
    refused = client.get("/v1/assessments", params={"unknown": "399"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert refused.json()["errors"][0]["field"] == "unknown"
