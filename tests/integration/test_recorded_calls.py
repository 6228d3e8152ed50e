"""What was sent is what is recorded: a run's record holds what shapes its calls, and to whom."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import ModelServerThread
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at
from tests.integration.test_evaluate_command import write_interviews

SECRET = "sk-quite-secret"


@pytest.fixture
def models() -> Iterator[ModelServerThread]:
    with ModelServerThread() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_interviews(tmp_path)
    return tmp_path


def evaluate(
    folder: Path, url: str, *arguments: str, settings: Mapping[str, str], out: str = "run"
) -> Finished:
    environment = {"READER_ENABLED": "false"} | model_at(url) | dict(settings)
    command = ["evaluate", "run", "interviews", "--out", out, *arguments]
    return run_here(command, folder, environment)


def record_of(folder: Path, out: str = "run") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / out / "run.json").read_text("utf-8"))
    return found


CHANGES = {
    "MODEL_MAX_OUTPUT_TOKENS": ("8192", "700"),
    "MODEL_TEMPERATURE": ("0.0", "0.5"),
    "MODEL_THINKING": ("none", "off"),
    "MODEL_OUTPUT_MODE": ("auto", "text"),
    "OLLAMA_NUM_CTX": ("none", "4096"),
    "MODEL_EXTRA_BODY": ("none", '{"*": {"top_k": 7}}'),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_run_goes_on_with_other_calls_only_where_that_is_accepted(
    folder: Path, models: ModelServerThread, name: str
) -> None:
    before, now = CHANGES[name]
    evaluate(folder, models.url, "--limit", "1", settings={})
    evaluate(folder, models.url, "--limit", "1", settings={name: now}, out="other")
    assert record_of(folder) != record_of(folder, "other")
    asked = len(models.requests)
    refused = evaluate(folder, models.url, "--resume", settings={name: now})
    assert (refused.code, len(models.requests)) == (2, asked)
    value = "7" if name == "MODEL_EXTRA_BODY" else now
    assert name in refused.err
    assert f": {before} → {value}" in refused.err
    assert "--accept-changed" in refused.err
    accepted = evaluate(folder, models.url, "--resume", "--accept-changed", settings={name: now})
    assert (accepted.code, "3 of 3 units complete" in accepted.err) == (0, True)
    compared = run_here(["evaluate", "compare", "run", "other"], folder)
    assert f"{before} → {value}" in compared.out


def test_a_run_goes_on_at_another_address_only_where_that_is_accepted(
    folder: Path, models: ModelServerThread
) -> None:
    evaluate(folder, models.url, "--limit", "1", settings={})
    assert record_of(folder)["addresses"] == {"openai-chat:fake-model": [f"{models.url}/v1"]}
    with ModelServerThread() as other:
        refused = evaluate(folder, other.url, "--resume", settings={})
        assert (refused.code, other.requests) == (2, [])
        assert "OPENAI_BASE_URL" in refused.err
        assert f"{models.url}/v1 → {other.url}/v1" in refused.err
        accepted = evaluate(folder, other.url, "--resume", "--accept-changed", settings={})
        assert (accepted.code, len(other.requests) > 0) == (0, True)
    (change,) = record_of(folder)["changes"]
    assert change["addresses"] == {"openai-chat:fake-model": [f"{other.url}/v1"]}


def test_credentials_of_an_address_are_neither_recorded_nor_compared(
    folder: Path, models: ModelServerThread
) -> None:
    bare = models.url.removeprefix("http://")
    first = {"OPENAI_BASE_URL": f"http://me:{SECRET}@{bare}/v1"}
    evaluate(folder, models.url, "--limit", "1", settings=first)
    assert SECRET not in (folder / "run" / "run.json").read_text("utf-8")
    done = evaluate(folder, models.url, "--resume", settings={})
    assert (done.code, "3 of 3 units complete" in done.err) == (0, True)


def test_extra_fields_that_may_hold_a_secret_are_recorded_as_a_digest(
    folder: Path, models: ModelServerThread
) -> None:
    body = {"openai-chat:fake-model": {"api_key": SECRET}, "*": {"top_k": 5}}
    settings = {"MODEL_EXTRA_BODY": json.dumps(body)}
    evaluate(folder, models.url, "--limit", "1", settings=settings)
    recorded = record_of(folder)["calls"]["model_extra_body"]
    assert recorded["*"] == {"top_k": 5}
    assert recorded["openai-chat:fake-model"].startswith("scrypt:")
    assert SECRET not in (folder / "run" / "run.json").read_text("utf-8")
    assert evaluate(folder, models.url, "--resume", settings=settings).code == 0
    other = {"MODEL_EXTRA_BODY": json.dumps(body).replace(SECRET, "another")}
    refused = evaluate(folder, models.url, "--resume", settings=other)
    assert (refused.code, "MODEL_EXTRA_BODY.openai-chat:fake-model: scrypt:" in refused.err) == (
        2,
        True,
    )


def test_shards_may_have_an_address_each_and_the_merged_run_names_all(
    folder: Path, models: ModelServerThread
) -> None:
    with ModelServerThread() as other:
        for number, url in ((1, models.url), (2, other.url)):
            done = evaluate(
                folder, url, "--shard", f"{number}/2", settings={}, out=f"parts/{number}"
            )
            assert done.code == 0
        command = ["evaluate", "merge", "parts/1", "parts/2", "--out", "run"]
        assert run_here(command, folder).code == 0
        both = [f"{models.url}/v1", f"{other.url}/v1"]
        assert record_of(folder)["addresses"] == {"openai-chat:fake-model": both}
        assert evaluate(folder, other.url, "--resume", settings={}).code == 0
    third = evaluate(folder, "http://127.0.0.1:9", "--resume", settings={})
    assert (third.code, "OPENAI_BASE_URL" in third.err) == (2, True)
