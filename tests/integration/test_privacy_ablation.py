"""The canary where scores are asked for again: nothing tells of the changed transcripts."""

import asyncio
import json
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServerThread, Reply, Request, Script, good_replies
from tests.fakes.run_words import words_in
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    assert_files_silent,
    assert_silent,
    canary_as_key,
    canary_as_quote,
    canary_as_wrong_type,
)
from tests.integration.command import Serving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, model_at, settings_with

DEBUG = {"LOG_LEVEL": "DEBUG", "LOG_FORMAT": "json", "PYDANTIC_AI_RETRIES": "1"}
LEDGER = frozenset({"ledger.sqlite", "ledger.sqlite-wal"})
ROUTES = ("/full_pipeline", "/assess/quantitative")
PLAIN = {"Content-Type": "text/plain"}

AGAIN: dict[str, Script] = {
    "good": good_replies(),
    "wrong types": canary_as_wrong_type,
    "keys": canary_as_key,
    "invented quotes": canary_as_quote,
    "prose": lambda _: Reply(text=f"{CANARY} is all I say."),
    "an echo": FAULTS["status_400"],
}
"""What a model replies when it is asked again."""


def is_changed(request: Request) -> bool:
    """Whether it asks for the scores of a changed transcript."""
    return request.task == "scoring" and request.transcript.split() != INTERVIEW.split()


def when_asked_again(script: Script) -> Script:
    """Answer well what is asked of the interview itself."""
    good = good_replies()
    return lambda request: (script if is_changed(request) else good)(request)


def asked_again(models: ModelServerThread) -> int:
    """Count the changed transcripts with the word."""
    return sum(is_changed(one) and CANARY in one.transcript for one in models.requests)


@pytest.mark.parametrize("case", AGAIN)
def test_assess_tells_nothing_of_the_changed_transcripts(tmp_path: Path, case: str) -> None:
    with ModelServerThread(when_asked_again(AGAIN[case])) as models:
        settings = model_at(models.url) | DEBUG
        command = ["assess", "-", "--ablate", "--json"]
        done = run_here(command, tmp_path, settings, stdin=INTERVIEW.encode())
        assert asked_again(models) >= 6
    assert done.code == 0, done.err
    drives = [item["drive"] for item in json.loads(done.out)["quantitative"]["items"].values()]
    assert any(drives)
    assert_silent(json.dumps(drives), done.err)
    assert '"ablation"' in done.err
    assert "dropped_keys" not in done.err
    assert_files_silent(tmp_path)


def test_the_table_of_assess_tells_nothing_of_the_changed_transcripts(tmp_path: Path) -> None:
    """It quotes the interview, and of the changes it says the verdicts alone."""
    with ModelServerThread(good_replies()) as models:
        command = ["assess", "-", "--ablate"]
        done = run_here(command, tmp_path, model_at(models.url) | DEBUG, stdin=INTERVIEW.encode())
        assert asked_again(models) >= 6
    assert done.code == 0, done.err
    assert "Ten years ago" not in done.out
    assert_silent(done.err)


def test_the_server_tells_nothing_of_the_changed_transcripts(tmp_path: Path) -> None:
    with ModelServerThread() as models:
        with Serving(tmp_path, model_at(models.url) | DEBUG) as serving:
            with client_at(serving.url) as client:
                for script in AGAIN.values():
                    models.server.script = when_asked_again(script)
                    body = {"transcript_text": INTERVIEW, "ablate": True}
                    answers = [client.post(route, json=body) for route in ROUTES]
                    file = f"{ROUTES[0]}?ablate=true"
                    for answer in [*answers, client.post(file, content=INTERVIEW, headers=PLAIN)]:
                        assert answer.status_code == 200, answer.text
                        result = answer.json()
                        items = result.get("quantitative", result)["items"].values()
                        assert any(item["drive"] for item in items)
                        told = [item["drive"] for item in items] + result["failures"]
                        assert_silent(json.dumps(told), str(answer.headers))
                body = {"transcript_text": INTERVIEW, "ablate": CANARY}
                unknown = f"{ROUTES[0]}?ablate={CANARY}"
                sent = client.post(unknown, content=INTERVIEW, headers=PLAIN)
                for refused in [sent, *(client.post(route, json=body) for route in ROUTES)]:
                    assert refused.status_code == 422
                    assert_silent(refused.text)
            done = serving.stop()
        assert asked_again(models) >= 6 * len(AGAIN) * (len(ROUTES) + 1)
    assert_silent(done.out, done.err)
    assert all("dropped_keys" not in line for line in done.served_lines)
    assert_files_silent(tmp_path)


@pytest.mark.parametrize("case", AGAIN)
def test_python_shows_nothing_of_the_changed_transcripts(
    tmp_path: Path, case: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with ModelServerThread(when_asked_again(AGAIN[case])) as models:
        settings = settings_with(tmp_path, **model_at(models.url), LOG_LEVEL="DEBUG")
        result = ap.assess_sync(INTERVIEW, settings=settings, ablate=True)
        assert asked_again(models) >= 6
    assert result.quantitative is not None
    drives = [item.drive for item in result.quantitative.items.values() if item.drive]
    assert drives
    dumped = [one.model_dump_json() for one in drives]
    assert_silent(repr(result), result._repr_html_() or "", *map(repr, drives), *dumped)
    assert_silent(*capfd.readouterr())
    assert_files_silent(tmp_path)


@pytest.mark.parametrize("case", AGAIN)
def test_runs_keep_changed_transcripts_in_the_ledger(tmp_path: Path, case: str) -> None:
    talks = tmp_path / "talks.jsonl"
    talks.write_text(json.dumps({"id": "a", "text": INTERVIEW}), "utf-8")
    with ModelServerThread(when_asked_again(AGAIN[case])) as models:
        command = ["evaluate", "run", "talks.jsonl", "--out", "run", "--ablate"]
        ran = run_here(command, tmp_path, model_at(models.url) | DEBUG)
        assert asked_again(models) >= 6
    assert ran.code == 0, ran.err
    talks.unlink()
    told = [
        run_here(arguments, tmp_path)
        for arguments in (
            ["evaluate", "ablate", "run"],
            ["evaluate", "ablate", "run", "--json"],
            ["evaluate", "report", "run"],
            ["evaluate", "metrics", "run"],
            ["revalidate", "run", "--json"],
        )
    ]
    assert [done.code for done in told] == [0] * len(told), [done.err for done in told]
    for done in (ran, *told):
        assert_silent(done.out, done.err)
    assert CANARY.encode() in words_in(tmp_path / "run" / "ledger.sqlite")
    assert_files_silent(tmp_path, sinks=LEDGER)


def test_a_run_in_python_shows_nothing_of_the_changed_transcripts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    talks = tmp_path / "talks.jsonl"
    talks.write_text(json.dumps({"id": "a", "text": INTERVIEW}), "utf-8")

    async def evaluated(url: str) -> ap.DatasetRunResult:
        settings = settings_with(tmp_path / "state", **model_at(url), LOG_LEVEL="DEBUG")
        async with ap.open(settings) as app:
            return await app.evaluate(talks, tmp_path / "run", ablate=True)

    with ModelServerThread(when_asked_again(canary_as_quote)) as models:
        result = asyncio.run(evaluated(models.url))
        assert asked_again(models) >= 6
    assert_silent(repr(result), result.model_dump_json(), *capfd.readouterr())
    talks.unlink()
    assert_files_silent(tmp_path, sinks=LEDGER)
