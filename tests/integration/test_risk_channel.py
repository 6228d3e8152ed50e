"""Signs of danger reach the caller whatever becomes of the models."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fakes.faults import FAULTS, fault
from tests.fakes.model_server import ModelServerThread
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with

WORDS = "I keep thinking about killing myself"
INTERVIEW = f"Interviewer: How are you?\nParticipant: {WORDS}.\nInterviewer: Okay.\n"
ROUTES = ("/full_pipeline", "/assess/quantitative", "/assess/qualitative")
DEAD = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "MODEL_DEFAULT": "openai-chat:dead"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path, RISK_CRISIS_RESOURCES="Call 0123.")) as opened:
        yield opened


def assert_alarmed(body: dict[str, object], *, text: bool) -> None:
    risk = body["risk"]
    assert isinstance(risk, dict)
    assert risk["level"] == "high"
    signal = risk["signals"][0]
    assert INTERVIEW[signal["start"] : signal["end"]] in WORDS
    assert ("text" in signal) is text


@pytest.mark.parametrize("route", ROUTES)
def test_every_result_carries_the_signs_with_fixed_words(client: httpx.Client, route: str) -> None:
    body = client.post(route, json={"transcript_text": INTERVIEW}).json()

    assert_alarmed(body, text=True)
    assert "A person has to read" in body["risk"]["statement"]
    assert body["risk"]["resources"] == "Call 0123."


@pytest.mark.parametrize(
    ("answer", "polarities", "level"),
    [
        ("I've thought about it. I've not done anything.", {"affirmed"}, "high"),
        (
            "I looked at the hose in the garage on Sunday. Then I went back in.",
            {"affirmed", "unclear"},
            "high",
        ),
        ("Not really.", {"unclear"}, "moderate"),
        ("No, nothing like that.", {"denied"}, "none"),
        ("Ten years ago, not since.", {"past"}, "low"),
    ],
)
def test_an_answer_about_suicide_is_told_as_it_was_given(
    client: httpx.Client, answer: str, polarities: set[str], level: str
) -> None:
    text = f"Interviewer: Are you having thoughts of suicide?\nParticipant: {answer}\n"
    risk = client.post("/assess/qualitative", json={"transcript_text": text}).json()["risk"]

    assert risk["level"] == level
    assert risk["signals"][0]["polarity"] in polarities


def test_a_transcript_without_signs_says_so(client: httpx.Client) -> None:
    body = client.post(
        "/assess/qualitative", json={"transcript_text": "Participant: I sleep fine."}
    ).json()

    assert body["risk"]["level"] == "none"
    assert body["risk"]["signals"] == []


def test_of_very_many_signs_the_gravest_are_shown_and_all_counted(tmp_path: Path) -> None:
    text = f"Participant: {'I never wanted to kill myself. ' * 300}{WORDS}.\n"
    with client_of(settings_with(tmp_path, **DEAD)) as client:
        problem = client.post("/assess/quantitative", json={"transcript_text": text}).json()
    with client_of(settings_with(tmp_path)) as client:
        result = client.post("/assess/quantitative", json={"transcript_text": text}).json()

    for risk in (problem["risk"], result["risk"]):
        levels = [signal["level"] for signal in risk["signals"]]
        assert (risk["level"], risk["signal_count"]) == ("high", 301)
        assert len(levels) == 200
        assert levels[-1] == "high"
        starts = [signal["start"] for signal in risk["signals"]]
        assert starts == sorted(starts)


@pytest.mark.parametrize("route", ROUTES)
def test_signs_survive_when_all_models_are_down(tmp_path: Path, route: str) -> None:
    with client_of(settings_with(tmp_path, **DEAD)) as client:
        response = client.post(route, json={"transcript_text": INTERVIEW})

    assert response.status_code == 502
    assert_alarmed(response.json(), text=False)
    assert WORDS not in response.text


def test_signs_survive_the_deadline(tmp_path: Path) -> None:
    # On a busy machine the transcript itself may be read late: then there is more time.
    for seconds in ("0.3", "3", "30"):
        with ModelServerThread(FAULTS["hang"]) as models:
            environment = model_at(models.url) | {"API_REQUEST_TIMEOUT_SECONDS": seconds}
            with client_of(settings_with(tmp_path, **environment)) as client:
                response = client.post("/full_pipeline", json={"transcript_text": INTERVIEW})
        if models.requests:
            break

    assert response.status_code == 504
    assert_alarmed(response.json(), text=False)


def test_signs_survive_a_partial_result(tmp_path: Path) -> None:
    with ModelServerThread(fault("prose", tasks=["scoring"])) as models:
        environment = model_at(models.url) | {"PYDANTIC_AI_RETRIES": "0"}
        with client_of(settings_with(tmp_path, **environment)) as client:
            body = client.post("/full_pipeline", json={"transcript_text": INTERVIEW}).json()

    assert body["status"] == "partial"
    assert_alarmed(body, text=True)


def test_a_refused_mode_still_tells_the_signs(client: httpx.Client) -> None:
    response = client.post(
        "/full_pipeline", json={"transcript_text": INTERVIEW, "mode": "few_shot"}
    )

    assert response.status_code == 409
    assert_alarmed(response.json(), text=False)
    assert WORDS not in response.text


def test_an_unreadable_transcript_has_no_signs_to_tell(client: httpx.Client) -> None:
    response = client.post("/full_pipeline", json={"transcript_text": " "})

    assert response.status_code == 422
    assert "risk" not in response.json()


def test_the_report_begins_with_the_signs_even_when_nothing_finished(tmp_path: Path) -> None:
    done = run_here(["assess", "-"], tmp_path, DEAD, stdin=INTERVIEW.encode())

    assert done.code == 3
    assert done.out.startswith("Signs of danger: high")
    assert "A person has to read" in done.out
