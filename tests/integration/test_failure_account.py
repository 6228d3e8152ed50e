"""What a command says when a model failed: which model, where, why, and what to do."""

from pathlib import Path

import pytest

from tests.fakes.faults import FAULTS, only_for
from tests.fakes.model_server import ModelServerThread, Reply, Script
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

INTERVIEW = b"Participant: I feel tired nearly every day.\n"
NOBODY = "http://127.0.0.1:1"
INVENTED = FAULTS["hallucinated_quotes"]
PAGE = Path(__file__).parents[2] / "docs" / "start.md"
MISSING: Script = lambda _: Reply(status=404, raw_body=b'{"error": "model not found"}')  # noqa: E731
BUSY: Script = lambda _: Reply(status=503, raw_body=b'{"error": "server busy"}')  # noqa: E731


def assess(folder: Path, script: Script, *arguments: str, wire: str = "ollama") -> Finished:
    with ModelServerThread(script) as models:
        settings = model_at(models.url, wire)
        done = run_here(["assess", "-", *arguments], folder, settings, stdin=INTERVIEW)
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
    done = run_here(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 3
    assert f"openai-chat:fake-model at {NOBODY}/v1: connection_failed" in done.err
    assert "OPENAI_BASE_URL" in done.err


def test_a_server_without_room_is_not_called_broken(tmp_path: Path) -> None:
    with ModelServerThread(BUSY) as models:
        settings = model_at(models.url) | {"MODEL_BUSY_WAITS_SECONDS": "0.01"}
        done = run_here(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 3
    assert "backend_error, HTTP 503" in done.err
    assert "failed on its side" not in done.err
    assert "MODEL_MAX_CONCURRENCY" in done.err


@pytest.mark.parametrize(
    ("script", "told", "variable"),
    [
        pytest.param(MISSING, "model_not_found, HTTP 404", "address", id="no such model"),
        pytest.param(FAULTS["status_401"], "not_authorised, HTTP 401", "OPENAI_API_KEY", id="key"),
        pytest.param(FAULTS["status_429"], "rate_limited, HTTP 429", "MAX_CONCURRENCY", id="quota"),
        pytest.param(BUSY, "backend_error, HTTP 503", "MODEL_BUSY_WAITS_SECONDS", id="busy"),
        pytest.param(FAULTS["hang"], "timed_out", "PYDANTIC_AI_TIMEOUT_SECONDS", id="slow"),
        pytest.param(FAULTS["status_500"], "backend_error, HTTP 500", "log", id="broken"),
        pytest.param(FAULTS["status_400"], "request_refused, HTTP 400", "log", id="refused"),
        pytest.param(FAULTS["html"], "malformed_response", "address", id="another server"),
        pytest.param(FAULTS["context_exceeded"], "context_truncated", "another model", id="window"),
        pytest.param(FAULTS["prose"], "output_rejected", "MODEL_MAX_OUTPUT_TOKENS", id="rubbish"),
        pytest.param(INVENTED, "ungrounded_evidence", "larger", id="quotes"),
    ],
)
def test_what_is_shown_is_in_the_table_of_the_page(
    tmp_path: Path, script: Script, told: str, variable: str
) -> None:
    with ModelServerThread(script) as models:
        settings = model_at(models.url) | {"MODEL_BUSY_WAITS_SECONDS": "0.01"}
        if told == "timed_out":
            settings["PYDANTIC_AI_TIMEOUT_SECONDS"] = "0.5"
        done = run_here(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert told in done.err + done.out
    assert done.code == (1 if told == "ungrounded_evidence" else 3)
    (row,) = [line for line in PAGE.read_text("utf-8").splitlines() if f"`{told}`" in line]
    assert variable in row


def test_a_password_in_an_address_is_not_shown(tmp_path: Path) -> None:
    settings = model_at("http://somebody:quillaya@127.0.0.1:1")
    done = run_here(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 3
    assert f"at {NOBODY}/v1" in done.err
    assert "quillaya" not in done.err + done.out


def test_a_part_whose_replies_were_rejected_names_the_model(tmp_path: Path) -> None:
    done = assess(tmp_path, only_for(["scoring"], FAULTS["prose"]))
    assert done.code == 1
    assert "ollama:fake-model at URL: output_rejected" in done.err
    assert "MODEL_FALLBACKS" in done.err


@pytest.mark.parametrize("is_strict", [True, False], ids=["strict", "as set"])
def test_scores_that_fail_for_their_quotes_name_the_setting(
    tmp_path: Path, is_strict: bool
) -> None:
    strict = "QUANTITATIVE_EVIDENCE_QUOTE_FAIL_ON_ALL_REJECTED"
    script = only_for(["evidence"], INVENTED, otherwise=only_for(["scoring"], FAULTS["prose"]))
    with ModelServerThread(script) as models:
        settings = model_at(models.url) | {strict: str(is_strict)}
        done = run_here(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 1
    told = f"openai-chat:fake-model at {models.url}/v1: "
    assert (f"{told}ungrounded_evidence" in done.err, strict in done.err) == (is_strict, is_strict)
    assert (f"{told}output_rejected" in done.err) is not is_strict


def test_a_whole_assessment_says_nothing_of_the_kind(tmp_path: Path) -> None:
    with ModelServerThread(FAULTS["status_500"]) as models:
        settings = model_at(models.url) | {"MODEL_FALLBACKS": "baseline"}
        done = run_here(["assess", "-"], tmp_path, settings, stdin=INTERVIEW)
    assert done.code == 0
    assert done.err == ""


def test_an_interview_that_begins_with_a_failed_assessment_says_why(tmp_path: Path) -> None:
    (tmp_path / "interview.txt").write_bytes(INTERVIEW)
    with ModelServerThread(MISSING) as models:
        command = ["interview", "--protocol", "phq8", "--transcript", "interview.txt"]
        done = run_here(command, tmp_path, model_at(models.url, "ollama"))
    assert done.code == 3
    assert "ollama pull fake-model" in done.err
    assert "ai-psychiatrist doctor --model ollama:fake-model" in done.err
