"""Every result names the hosts that words of its transcript were sent to, and each attempt its."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ai_psychiatrist.assessment.assessor import AssessmentOptions
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.wiring import bootstrap
from tests.fakes.call_memory import CallMemory
from tests.fakes.embedding_server import by_letters, embedding_server
from tests.fakes.http_connection import HttpCall
from tests.fakes.model_server import ModelServerThread, Script, fault, good_replies
from tests.fakes.recording_server import RecordingServer
from tests.fakes.references import shown_by
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with
from tests.integration.test_evaluate_command import write_interviews

INTERVIEW = "Interviewer: How do you sleep?\nParticipant: I sleep badly nearly every night.\n"


def host_of(url: str) -> str:
    return url.removeprefix("http://")


def assessed(folder: Path, **settings: str) -> dict[str, Any]:
    environment = {"READER_ENABLED": "false"} | settings
    done = run_here(["assess", "-", "--json"], folder, environment, stdin=INTERVIEW.encode())
    result: dict[str, Any] = json.loads(done.out)
    return result


def test_the_baseline_sends_words_nowhere(tmp_path: Path) -> None:
    result = assessed(tmp_path)
    assert (result["hosts"], {len(one["hosts"]) for one in result["attempts"]}) == ([], {0})


@pytest.mark.parametrize("script", [good_replies(), fault("status_500")], ids=["good", "failing"])
@pytest.mark.parametrize("wire", ["openai", "ollama"])
def test_a_server_is_named_whether_or_not_it_answers(
    tmp_path: Path, script: Script, wire: str
) -> None:
    with ModelServerThread(script) as server:
        result = assessed(tmp_path, **model_at(server.url.replace("//", "//me:pass@"), wire))
        assert result["hosts"] == [host_of(server.url)]
        assert {tuple(one["hosts"]) for one in result["attempts"]} == {(host_of(server.url),)}


def test_all_servers_of_a_result_are_named_over_http(tmp_path: Path) -> None:
    with ModelServerThread() as one, ModelServerThread() as other:
        models = model_at(one.url) | model_at(other.url, "ollama")
        settings = settings_with(
            tmp_path, **models, MODEL_JUDGE_MODEL="openai-chat:fake-model", READER_ENABLED="false"
        )
        with client_of(settings) as client:
            result = client.post("/full_pipeline", json={"transcript_text": INTERVIEW}).json()
        assert result["hosts"] == sorted(map(host_of, (one.url, other.url)))


def test_a_proxy_that_can_read_the_words_is_named(tmp_path: Path) -> None:
    def closed(_: HttpCall) -> tuple[int, object]:
        return 503, {}

    async def result() -> dict[str, Any]:
        async with RecordingServer(closed) as proxy:
            settings = model_at("http://nowhere.invalid") | {"MODEL_HTTP_PROXY": proxy.url}
            found = await asyncio.to_thread(assessed, tmp_path, **settings)
            assert proxy.calls
            return found | {"proxy": host_of(proxy.url)}

    found = asyncio.run(result())
    assert found["hosts"] == sorted(["nowhere.invalid", found["proxy"]])


@pytest.mark.parametrize("mode", ["few_shot", "random_references", "zero_shot"])
def test_an_embedder_is_named_where_evidence_was_sent_to_it(tmp_path: Path, mode: str) -> None:
    write_interviews(tmp_path)
    with ModelServerThread() as models, embedding_server(by_letters) as (url, calls):
        by_server = {"REFERENCES_EMBEDDER": "openai:any", "OPENAI_BASE_URL": f"{url}/v1"}
        refs = shown_by(tmp_path / "refs", **by_server)
        settings = {**model_at(models.url, "ollama"), **refs}
        for words in (["build", "interviews", "--out", "refs"], ["score", "refs", "--by", "model"]):
            made = run_here(["references", *words], tmp_path, settings)
            assert made.code == 0, made.err
        before = len(calls)
        with client_of(settings_with(tmp_path, **settings, READER_ENABLED="false")) as client:
            body = {"mode": mode, "transcript_text": INTERVIEW}
            result = client.post("/full_pipeline", json=body).json()
        embedders = [host_of(url)] if mode == "few_shot" else []
        assert result["hosts"] == sorted([host_of(models.url), *embedders])
        assert (len(calls) > before) == bool(embedders)


def test_calls_that_are_found_again_keep_the_host_they_were_sent_to(tmp_path: Path) -> None:
    async def hosts(url: str, store: CallMemory) -> tuple[str, ...]:
        values = model_at(url) | {"DATA_STATE_DIR": str(tmp_path), "READER_ENABLED": "false"}
        async with bootstrap(load_settings(values, dotenv=None)) as services:
            transcript = read_transcript(INTERVIEW)
            return (
                await services.assessor.assess(transcript, AssessmentOptions(store=store))
            ).hosts

    async def both() -> None:
        store = CallMemory()
        first = await hosts(one.url, store)
        assert first == (host_of(one.url),)
        assert await hosts(other.url, store) == first
        assert other.requests == []

    with ModelServerThread() as one, ModelServerThread() as other:
        asyncio.run(both())


def test_a_run_keeps_the_host_of_each_attempt(tmp_path: Path) -> None:
    write_interviews(tmp_path)
    run = ["evaluate", "run", "interviews", "--out", "run"]
    with ModelServerThread() as one, ModelServerThread() as other:
        settings = {"READER_ENABLED": "false"}
        run_here([*run, "--limit", "1"], tmp_path, settings | model_at(one.url))
        run_here([*run, "--resume", "--accept-changed"], tmp_path, settings | model_at(other.url))
        for unit, server in (("a", one), ("b", other)):
            run_here(["evaluate", "unit", "run", unit, "--out", "unit.json"], tmp_path)
            calls = json.loads((tmp_path / "unit.json").read_text("utf-8"))["calls"]
            assert {tuple(call["hosts"]) for call in calls} == {(host_of(server.url),)}
