"""What the service says about a model that would not answer, or did not, and what to do."""

import socket
from pathlib import Path

import pytest

from tests.fakes.exchange import Wire
from tests.fakes.model_server import ModelServerThread, fault
from tests.integration.running_app import client_of, model_at, settings_with
from tests.integration.soundness import Json

INTERVIEW = "Participant: I feel tired all the time."
WIRES: tuple[Wire, ...] = ("openai", "ollama")
both_wires = pytest.mark.parametrize("wire", WIRES)
MISSING = {
    "openai": "{url}/v1 has no model 'fake-model': check the name, and OPENAI_BASE_URL, which "
    "mostly ends in /v1.",
    "ollama": "On {url}, run: ollama pull fake-model",
}


def look(state_dir: Path, **environment: str) -> tuple[Json, int, Json]:
    """Return the health, and status and body of the readiness."""
    with client_of(settings_with(state_dir, **environment)) as client:
        ready = client.get("/readyz")
        return client.get("/health").json(), ready.status_code, ready.json()


@both_wires
def test_a_model_that_is_not_there_is_unready_with_its_cure(tmp_path: Path, wire: Wire) -> None:
    with ModelServerThread(models=["another"]) as server:
        environment = model_at(server.url, wire)
        health, status, body = look(tmp_path, **environment)
        assert server.requests == []
    cause = {
        "model": environment["MODEL_DEFAULT"],
        "code": "model_not_found",
        "http_status": None,
        "cure": MISSING[wire].format(url=server.url),
    }
    assert (status, body["causes"]) == (503, [cause])
    assert (health["status"], health["problems"]) == ("degraded", [cause])


def test_an_ollama_server_without_any_model_is_unready(tmp_path: Path) -> None:
    with ModelServerThread(models=[]) as server:
        _, status, _ = look(tmp_path, **model_at(server.url, "ollama"))
    assert status == 503


def test_the_latest_tag_needs_no_name(tmp_path: Path) -> None:
    with ModelServerThread(models=["fake-model:latest"]) as server:
        _, status, _ = look(tmp_path, **model_at(server.url, "ollama"))
    assert status == 200


@both_wires
@pytest.mark.parametrize(
    ("list_status", "code"),
    [(401, "not_authorised"), (403, "not_authorised"), (500, "backend_error"), (404, None)],
)
def test_a_list_that_is_refused_says_why_and_a_missing_one_nothing(
    tmp_path: Path, wire: Wire, list_status: int, code: str | None
) -> None:
    with ModelServerThread(list_status=list_status) as server:
        health, status, _ = look(tmp_path, **model_at(server.url, wire))
    assert status == (200 if code is None else 503)
    found = [(problem["code"], problem["http_status"]) for problem in health["problems"]]
    assert found == ([] if code is None else [(code, list_status)])


def test_the_cure_of_a_refused_key_names_its_variable(tmp_path: Path) -> None:
    with ModelServerThread(list_status=401) as server:
        health, _, _ = look(tmp_path, OPENAI_API_KEY="sk-nonesuch", **model_at(server.url))
    assert "OPENAI_API_KEY" in health["problems"][0]["cure"]
    assert "nonesuch" not in str(health)


def test_the_model_of_interviews_counts(tmp_path: Path) -> None:
    with ModelServerThread() as server:
        _, status, body = look(
            tmp_path,
            INTERVIEW_MODEL="ollama:another",
            MODEL_DEFAULT="baseline",
            OLLAMA_HOST=server.url,
        )
    assert (status, body["agents"]) == (503, ["interview"])


def test_a_silent_server_is_not_waited_for_long(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environment = model_at(f"http://127.0.0.1:{silent.getsockname()[1]}")
        health, status, _ = look(tmp_path, **environment)
    assert status == 503
    assert health["problems"][0]["code"] == "timed_out"


@both_wires
@pytest.mark.parametrize("enabled", ["true", "false"])
@pytest.mark.parametrize(
    ("name", "code", "status"),
    [("status_401", "not_authorised", 401), ("status_404", "model_not_found", 404)],
)
def test_a_refusal_is_named_with_its_status_and_cure_and_asked_once(
    tmp_path: Path, wire: Wire, enabled: str, name: str, code: str, status: int
) -> None:
    with ModelServerThread(fault(name)) as server:
        settings = settings_with(
            tmp_path,
            PYDANTIC_AI_ENABLED=enabled,
            DANGER_MODEL="off",
            **model_at(server.url, wire),
        )
        with client_of(settings) as client:
            answer = client.post("/assess/qualitative", json={"transcript_text": INTERVIEW})
        assert len(server.requests) == 1
    assert answer.status_code == 502
    (cause,) = answer.json()["causes"]
    assert (cause["code"], cause["http_status"]) == (code, status)
    assert server.url in cause["cure"]
    assert INTERVIEW not in answer.text
