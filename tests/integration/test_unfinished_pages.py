"""The pages of assessments without a result: words, signs of danger, the cause, and another try."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fakes.faults import FAULTS, fault, only_for
from tests.fakes.model_server import ModelServerThread, Reply
from tests.fakes.parsed_page import ParsedPage
from tests.fakes.replies import danger_text
from tests.integration.running_app import client_of, model_at, settings_with
from tests.patience import wait_until

PLACE = "/v1/assessments"
WORDS = "I keep thinking about killing myself"
TEXT = (
    "Interviewer: How do you sleep?\nParticipant: Badly, nearly every night.\n"
    f"Interviewer: What else is there?\nParticipant: {WORDS}. I told nobody.\n"
)
BODY = {"transcript_text": TEXT, "subject": "Eva from the ward", "mode": "descriptions_only"}
ASYNC = {"Prefer": "respond-async"}
WAITING = {"Prefer": "respond-async, wait=60"}
NO_SERVER = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "MODEL_DEFAULT": "openai-chat:gone"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    """A server whose model cannot be reached."""
    with client_of(settings_with(tmp_path, **NO_SERVER)) as opened:
        yield opened


def failed(client: httpx.Client, body: dict[str, str] = BODY) -> str:
    """Return the id of a job that failed."""
    job = client.post(PLACE, json=body, headers=ASYNC).json()["job_id"]
    wait_until(lambda: client.get(f"/v1/jobs/{job}").json()["state"] == "failed")
    return str(job)


def shown(client: httpx.Client, record_id: str) -> str:
    answer = client.get(f"/assessments/{record_id}")
    assert answer.status_code == 200, answer.text
    return answer.text


def try_again(client: httpx.Client, page: str) -> httpx.Response:
    """Press the button of a page."""
    (form,) = [one for one in ParsedPage(page).of("form") if "Try again" in one.text]
    assert form.attributes["method"] == "post"
    fields = {
        one.attributes["name"]: one.attributes.get("value", "")
        for one in ParsedPage(page).elements
        if one.tag in {"input", "button"} and "name" in one.attributes
    }
    return client.post(form.attributes["action"], data=fields)


def assert_panel(page: str) -> None:
    assert "Signs of danger: high" in page
    assert "Read now: affirmed, hypothetical or unclear" in page
    said = [one.text for one in ParsedPage(page).of("q")]
    assert f"{WORDS}." in said, said
    assert "What else is there?" in said
    assert "Badly, nearly every night." in page


def test_a_failed_assessment_shows_words_danger_cause_and_the_hint_of_readyz(
    client: httpx.Client,
) -> None:
    page = shown(client, failed(client))
    assert_panel(page)
    assert "The assessment failed" in page
    assert "could not be reached" in page
    ready = client.get("/readyz").json()
    (cure,) = {one["cure"] for one in ready["causes"]}
    assert cure in page
    assert "openai-chat:gone" in page


def test_try_again_assesses_the_stored_text_with_the_same_options(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, **NO_SERVER)) as client:
        first = failed(client)
    with client_of(settings_with(tmp_path)) as client:
        answer = try_again(client, shown(client, first))
        assert answer.status_code == 303
        second = answer.headers["location"].rpartition("/")[2]
        assert second != first
        wait_until(lambda: client.get(f"/v1/jobs/{second}").status_code == 303)
        result = client.get(f"{PLACE}/{second}").json()
        assert (result["status"], result["mode"]) == ("complete", "descriptions_only")
        assert client.get(f"{PLACE}/{second}/transcript").json()["text"] == TEXT
        assert "Eva from the ward" in shown(client, second)
        listed = {one["assessment_id"]: one for one in client.get(PLACE).json()["assessments"]}
        assert listed[first]["state"] == "failed"
        assert listed[first]["subject_id"] == listed[second]["subject_id"]


def test_only_what_has_no_result_is_tried_again(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        done = client.post(PLACE, json=BODY, headers=WAITING).headers["Location"]
        path = f"/assessments/{done.rpartition('/')[2]}"
        again = {"action": "again", "id": path.rpartition("/")[2]}
        answer = client.post("/new", data=again)
        assert (answer.status_code, answer.headers["location"]) == (303, path)
        assert client.get(PLACE).json()["total"] == 1
        gone = client.post("/new", data=again | {"id": "nowhere"})
        assert gone.status_code == 404


def test_a_running_assessment_shows_words_and_danger_before_any_model_answers(
    tmp_path: Path,
) -> None:
    with ModelServerThread(fault("hang")) as models:
        settings = settings_with(tmp_path, **model_at(models.url))
        with client_of(settings) as client:
            job = client.post(PLACE, json=BODY, headers=ASYNC).json()["job_id"]
            page = shown(client, job)
            assert "under way" in page
            assert "Try again" not in page
            assert_panel(page)
            told = client.get(f"{PLACE}/{job}/transcript").json()["risk"]
            assert (told["level"], told["signals"][0]["sentence"]) == ("high", f"{WORDS}.")
            client.delete(f"/v1/jobs/{job}")
            page = shown(client, job)
            assert "was cancelled" in page
            assert_panel(page)
            assert try_again(client, page).headers["location"] != f"/assessments/{job}"


def test_what_a_model_found_stands_though_nothing_else_finished(tmp_path: Path) -> None:
    hint = "I have been out to the old quarry again to count the steps to the edge"
    text = f"Interviewer: What did you do?\nParticipant: Not much. {hint}.\n"
    found = Reply(text=danger_text(hint, kind="preparation"))
    script = only_for(["danger"], lambda _: found, otherwise=FAULTS["prose"])
    with ModelServerThread(script) as models:
        environment = model_at(models.url) | {"PYDANTIC_AI_RETRIES": "0"}
        with client_of(settings_with(tmp_path, **environment)) as client:
            job = failed(client, BODY | {"transcript_text": text})
            page = shown(client, job)
            assert "Signs of danger: high" in page
            assert f"{hint}." in [one.text for one in ParsedPage(page).of("q")]
            assert "found by a model" in page
            assert client.get(f"/v1/jobs/{job}").json()["danger"] == "high"
