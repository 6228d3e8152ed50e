"""What a command says when a model failed: which model, where, why, and what to do."""

from pathlib import Path

import pytest

from tests.fakes.faults import FAULTS, only_for
from tests.fakes.model_server import ModelServerThread, Reply, Script
from tests.integration.command import Finished, run
from tests.integration.running_app import model_at

INTERVIEW = b"Participant: I feel tired nearly every day.\n"
NOBODY = "http://127.0.0.1:1"
MISSING: Script = lambda _: Reply(status=404, raw_body=b'{"error": "model not found"}')  # noqa: E731


def assess(folder: Path, script: Script, *arguments: str, wire: str = "ollama") -> Finished:
    with ModelServerThread(script) as models:
        settings = model_at(models.url, wire)
        done = run(["assess", "-", *arguments], folder, settings, stdin=INTERVIEW)
    return Finished(code=done.code, out=done.out, err=done.err.replace(models.url, "URL"))


@pytest.mark.parametrize("arguments", [[], ["--json"]], ids=["words", "json"])
def test_a_model_that_is_not_there_is_named_with_its_cure(
    tmp_path: Path, arguments: list[str]
) -> None:
    done = assess(tmp_path, MISSING, *arguments)
    assert done.code == 3
    assert "ollama:fake-model at URL: model_not_found" in done.err
    assert "ollama pull fake-model" in done.err
    assert done.err.count("ai-psychiatrist doctor --model ollama:fake-model") == 1


def test_a_server_that_does_not_answer_is_named_with_its_cure(tmp_path: Path) -> None:
    settings = model_at(NOBODY)
    done = run(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 3
    assert f"openai-chat:fake-model at {NOBODY}/v1: connection_failed" in done.err
    assert "OPENAI_BASE_URL" in done.err


def test_a_server_without_room_is_not_called_broken(tmp_path: Path) -> None:
    busy = Reply(status=503, raw_body=b'{"error": "server busy"}')
    with ModelServerThread(lambda _: busy) as models:
        settings = model_at(models.url) | {"MODEL_BUSY_WAITS_SECONDS": "0.01"}
        done = run(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 3
    assert "backend_error, HTTP 503" in done.err
    assert "failed on its side" not in done.err
    assert "MODEL_MAX_CONCURRENCY" in done.err


def test_a_password_in_an_address_is_not_shown(tmp_path: Path) -> None:
    settings = model_at("http://somebody:quillaya@127.0.0.1:1")
    done = run(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 3
    assert f"at {NOBODY}/v1" in done.err
    assert "quillaya" not in done.err + done.out


def test_a_part_whose_replies_were_rejected_names_the_model(tmp_path: Path) -> None:
    done = assess(tmp_path, only_for(["scoring"], FAULTS["prose"]))
    assert done.code == 1
    assert "ollama:fake-model at URL: output_rejected" in done.err
    assert "MODEL_FALLBACKS" in done.err


def test_a_whole_assessment_says_nothing_of_the_kind(tmp_path: Path) -> None:
    with ModelServerThread(FAULTS["status_500"]) as models:
        settings = model_at(models.url) | {"MODEL_FALLBACKS": "baseline"}
        done = run(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 0
    assert done.err == ""


def test_an_interview_that_begins_with_a_failed_assessment_says_why(tmp_path: Path) -> None:
    (tmp_path / "interview.txt").write_bytes(INTERVIEW)
    with ModelServerThread(MISSING) as models:
        command = ["interview", "--protocol", "phq8", "--transcript", "interview.txt"]
        done = run(command, tmp_path, model_at(models.url, "ollama"))
    assert done.code == 3
    assert "ollama pull fake-model" in done.err
    assert "ai-psychiatrist doctor --model ollama:fake-model" in done.err
