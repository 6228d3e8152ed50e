"""A transcript can come as the one part of a form, as browsers and many programs send files."""

from collections.abc import Iterator

import httpx
import pytest

from tests.integration.canary import CANARY, INTERVIEW
from tests.integration.running_app import client_of, settings_with

PATH = "/v1/assess/quantitative"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path_factory.mktemp("state"))) as client:
        yield client


def scores(answer: httpx.Response) -> object:
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def test_a_form_is_read_as_the_file_in_it(client: httpx.Client) -> None:
    plain = client.post(PATH, content=INTERVIEW, headers={"Content-Type": "text/plain"})
    files = {"transcript": ("talk.txt", INTERVIEW.encode(), "text/plain")}
    assert scores(client.post(PATH, files=files)) == scores(plain)
    padded = INTERVIEW + "\nInterviewer: Thank you." * 50_000
    long = {"transcript": ("talk.txt", padded.encode(), "text/plain")}
    assert client.post(PATH, files=long).status_code in {200, 413}


@pytest.mark.parametrize(
    "files",
    [
        {CANARY: ("talk.txt", CANARY.encode(), "text/plain")},
        {
            "transcript": ("talk.txt", CANARY.encode(), "text/plain"),
            "other": ("b.txt", CANARY.encode(), "text/plain"),
        },
    ],
    ids=["another name", "two parts"],
)
def test_another_form_is_refused(
    client: httpx.Client, files: dict[str, tuple[str, bytes, str]]
) -> None:
    answer = client.post(PATH, files=files)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    ("content_type", "content", "fault"),
    [
        ("image/png", b"\x89PNG", "The Content-Type is none that is read here."),
        ("text/plain", b'{"transcript_text": "a"}', "The body is JSON, and its Content-Type is"),
        ("application/json", b"", "The body is empty."),
        ("application/json", b"[1]", "The body is JSON, and no object."),
        (None, b'{"transcript_text": "a"}', "The header Content-Type is missing."),
    ],
)
def test_a_body_that_is_no_request_is_told_what_is_wrong_with_it(
    client: httpx.Client, content_type: str | None, content: bytes, fault: str
) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    told = client.post(PATH, content=content, headers=headers).json()
    assert (told["code"], told["field"]) == ("invalid_request", "body")
    assert told["detail"].startswith(fault)
    assert "or a transcript itself" in told["detail"]
    told = client.post("/v1/session", content=content, headers=headers).json()
    assert "transcript" not in told["detail"]


@pytest.mark.parametrize("content", [b'{\n "transcript_text": "a",\n}', b'{"mode": [1,\n\n'])
def test_malformed_json_is_told_its_line_and_column(client: httpx.Client, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    told = client.post(PATH, content=content, headers=headers).json()
    assert told["code"] == "malformed_json"
    assert "line 3, column 1" in told["detail"]


@pytest.mark.parametrize("path", ["/full_pipeline", "/assess/quantitative", "/assess/qualitative"])
def test_an_idempotency_key_is_refused_where_nothing_is_done_once(
    client: httpx.Client, path: str
) -> None:
    headers = {"Idempotency-Key": "visit"}
    told = client.post(path, json={"transcript_text": INTERVIEW}, headers=headers)
    assert told.status_code == 422
    assert told.json()["field"] == "idempotency-key"
    assert "leave it out" in told.json()["detail"]


def test_a_form_without_boundary_is_refused(client: httpx.Client) -> None:
    answer = client.post(PATH, content=b"x", headers={"Content-Type": "multipart/form-data"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


@pytest.mark.parametrize(
    ("content_type", "content", "named"),
    [
        ("application/pdf", f"%PDF-1.7 {CANARY}", "PDF"),
        ("text/rtf", rf"{{\rtf1 {CANARY}}}", "RTF"),
        ("text/html", f"<p>Participant: {CANARY}</p>", "HTML"),
    ],
)
@pytest.mark.parametrize("is_form", [False, True])
def test_a_file_of_another_program_is_refused_by_its_name(
    client: httpx.Client, content_type: str, content: str, named: str, *, is_form: bool
) -> None:
    form = {"transcript": ("talk", content.encode(), content_type)}
    answer = (
        client.post(PATH, files=form)
        if is_form
        else client.post(PATH, content=content, headers={"Content-Type": content_type})
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "unusable_input")
    assert named in answer.text
    assert "save it as" in answer.text
    assert CANARY not in answer.text
