"""What was sent is what is recorded: a run's record holds what shapes its calls, and to whom."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import ModelServerThread, Script
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at
from tests.integration.test_evaluate_command import write_interviews
from tests.integration.test_model_servers import in_envelope

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


def answering_as(name: Callable[[], str], fingerprint: str | None = None) -> Script:
    """Answer well, under the name of another model."""
    return in_envelope(lambda body: body.update(model=name(), system_fingerprint=fingerprint))


def test_a_run_stops_where_another_model_answers_and_goes_on_where_that_is_accepted(
    folder: Path,
) -> None:
    """The name that was asked for is only echoed, and says nothing."""
    name = ["large-2025-01"]
    with ModelServerThread(answering_as(lambda: name[0])) as server:
        evaluate(folder, server.url, "--limit", "1", settings={})
        name[0] = "fake-model"
        echoed = evaluate(folder, server.url, "--resume", "--limit", "2", settings={})
        assert (echoed.code, "2 of 2 units complete" in echoed.err) == (0, True)
        name[0] = "small-2025-06"
        stopped = evaluate(folder, server.url, "--resume", settings={})
        assert (stopped.code, "3 of 3 units complete" in stopped.err) == (1, True)
        host = server.url.removeprefix("http://")
        assert f"openai-chat:fake-model at {host} answers as another model" in stopped.err
        assert "--accept-changed" in stopped.err
        assert "small" not in stopped.err + (folder / "run" / "run.json").read_text("utf-8")
        refused = evaluate(folder, server.url, "--resume", settings={})
        assert (refused.code, "served models" in refused.err) == (2, True)
        assert "--accept-changed" in refused.err
        for options in (["--accept-changed"], []):
            done = evaluate(folder, server.url, "--resume", *options, settings={})
            assert (done.code, "another model" in done.err) == (0, False)
    (change,) = record_of(folder)["changes"]
    assert [len(digests) for digests in change["served_models"].values()] == [2]
    report = run_here(["evaluate", "runs", "."], folder)
    assert "served models" in " ".join(report.out.split())


def test_no_unit_is_begun_after_another_model_has_answered(folder: Path) -> None:
    calls: list[int] = []

    def name() -> str:
        calls.append(1)
        return "large" if len(calls) < 4 else "small"

    with ModelServerThread(answering_as(name)) as server:
        stopped = evaluate(folder, server.url, "--concurrency", "1", settings={})
        assert (stopped.code, "1 of 3 units complete" in stopped.err) == (1, True)
        done = evaluate(folder, server.url, "--resume", "--accept-changed", settings={})
        assert (done.code, "3 of 3 units complete" in done.err) == (0, True)


def test_another_fingerprint_is_noted_and_stops_nothing(folder: Path) -> None:
    marks = iter(f"fp_{number}" for number in range(1000))
    script = in_envelope(lambda body: body.update(system_fingerprint=next(marks)))
    with ModelServerThread(script) as server:
        done = evaluate(folder, server.url, settings={})
    assert (done.code, "system fingerprints" in done.err) == (0, True)
    (digests,) = record_of(folder)["fingerprints"].values()
    assert len(digests) > 1


OLLAMA: dict[str, object] = {"digest": "a" * 64, "details": {"quantization_level": "Q4_K_M"}}


def test_a_run_keeps_to_the_weights_that_ollama_names(folder: Path) -> None:
    with ModelServerThread() as server:
        served = model_at(server.url, "ollama")

        def run(*options: str) -> Finished:
            return evaluate(folder, server.url, *options, settings=served)

        server.server.details = OLLAMA
        run("--limit", "1")
        assert record_of(folder)["weights"] == {
            "ollama:fake-model digest": ["a" * 64],
            "ollama:fake-model quantisation": ["Q4_K_M"],
        }
        server.server.details = {"details": "of another type"}
        assert run("--resume", "--limit", "2").code == 0
        server.server.details = OLLAMA | {"digest": "b" * 64}
        refused = run("--resume")
        assert refused.code == 2
        assert f"ollama:fake-model digest: {'a' * 60}… → {'b' * 60}…" in refused.err
        assert "--accept-changed" in refused.err
        assert run("--resume", "--accept-changed").code == 0
        assert run("--resume").code == 0


def test_shards_keep_what_their_servers_say_and_the_merged_run_has_all(folder: Path) -> None:
    with (
        ModelServerThread(answering_as(lambda: "large")) as one,
        ModelServerThread(answering_as(lambda: "small")) as other,
    ):
        for number, server in ((1, one), (2, other)):
            shard = ("--shard", f"{number}/2")
            evaluate(folder, server.url, *shard, settings={}, out=f"parts/{number}")
        command = ["evaluate", "merge", "parts/1", "parts/2", "--out", "run"]
        assert run_here(command, folder).code == 0
        assert len(record_of(folder)["served_models"]) == 2
        assert evaluate(folder, other.url, "--resume", settings={}).code == 0
