"""The canary among the references: other people's words stay in the prompt that shows them."""

import json
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServerThread, good_replies
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    assert_files_silent,
    assert_silent,
    canary_as_quote,
    canary_as_wrong_type,
)
from tests.integration.command import Serving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, model_at

SAID = (
    "Interviewer: How are you?\n"
    "Participant: I feel tired nearly every day because of my work.\n"
    "Participant: I sleep badly every night, as I said.\n"
)
WORDS = frozenset({"chunks.jsonl", "bm25_words.json", "ledger.sqlite", "ledger.sqlite-wal"})
SHOWN = ["few_shot", "random_references"]


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """References of one interview, which holds the word."""
    folder = tmp_path_factory.mktemp("references")
    row = {"id": "a", "text": INTERVIEW, "items": [0, 0, 3, 3, 0, 0, 0, 0]}
    (folder / "talks.jsonl").write_text(json.dumps(row), "utf-8")
    for words in (["build", "talks.jsonl", "--out", "refs"], ["score", "refs", "--by", "labels"]):
        done = run_here(["references", *words], folder)
        assert done.code == 0, done.err
    return folder / "refs"


def settings_of(references: Path, url: str) -> dict[str, str]:
    verbose = {"LOG_LEVEL": "DEBUG", "LOG_FORMAT": "json", "PYDANTIC_AI_RETRIES": "1"}
    return {**model_at(url), **verbose, "REFERENCES_DIR": str(references)}


@pytest.mark.parametrize("mode", SHOWN)
def test_commands_tell_nothing_of_those_whose_words_are_shown(
    tmp_path: Path, references: Path, mode: str
) -> None:
    (tmp_path / "talk.txt").write_text(SAID, "utf-8")
    with ModelServerThread(good_replies()) as models:
        settings = settings_of(references, models.url)
        assessed = run_here(["assess", "talk.txt", "--json", "--mode", mode], tmp_path, settings)
        printed = run_here(["assess", "talk.txt", "--mode", mode], tmp_path, settings)
        ran = ["evaluate", "run", "talk.txt", "--out", "out", "--mode", mode]
        evaluated = run_here(ran, tmp_path, settings)
        prompts = [one.messages[-1].content for one in models.requests if one.task == "scoring"]
        for script in (canary_as_quote, canary_as_wrong_type):
            models.server.script = script
            failed = run_here(["assess", "talk.txt", "--mode", mode], tmp_path, settings)
            assert_silent(failed.err)
    assert len(prompts) == 3
    assert all(f"{CANARY}-said" in prompt for prompt in prompts)
    for done in (assessed, printed, evaluated):
        assert done.code == 0, done.err
        assert_silent(done.out, done.err)
    assert '"references"' in assessed.out
    report = run_here(["evaluate", "report", "out"], tmp_path)
    assert_silent(report.out, report.err)
    assert_files_silent(tmp_path, sinks=WORDS)


def test_the_server_tells_nothing_of_those_whose_words_are_shown(
    tmp_path: Path, references: Path
) -> None:
    with ModelServerThread(good_replies()) as models:
        with Serving(tmp_path, settings_of(references, models.url)) as serving:
            with client_at(serving.url) as client:
                answers = [
                    client.post(route, json={"transcript_text": SAID, "mode": mode})
                    for route in ("/full_pipeline", "/assess/quantitative")
                    for mode in SHOWN
                ]
            done = serving.stop()
        shown = [CANARY in one.messages[-1].content for one in models.requests]
    assert sum(shown) == len(answers) == 4
    for answer in answers:
        assert answer.status_code == 200
        assert_silent(answer.text, str(answer.headers))
    assert_silent(done.out, done.err)
    assert all("dropped_keys" not in line for line in done.served_lines)


def test_a_refusal_to_measure_names_nobody(tmp_path: Path, references: Path) -> None:
    row = {"id": f"{CANARY}-id", "text": INTERVIEW}
    (tmp_path / "talks.jsonl").write_text(json.dumps(row), "utf-8")
    settings = {"LOG_LEVEL": "DEBUG", "REFERENCES_DIR": str(references)}
    words = ["evaluate", "run", "talks.jsonl", "--out", "out", "--mode", "few_shot"]
    done = run_here(words, tmp_path, settings)
    assert done.code == 2
    assert_silent(done.out, done.err)
