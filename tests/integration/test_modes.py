"""What scoring is shown in each mode, through every door, as a model server sees it."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from ai_psychiatrist.agents.prompts.item_descriptions import DESCRIPTIONS
from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode
from ai_psychiatrist.domain.phq8 import Item
from tests.fakes.model_server import ModelServerThread, Request, good_replies
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with

TALK = (
    "Interviewer: How have you been?\n"
    "Participant: I have been tired nearly every day, and I hardly sleep at all.\n"
)
DESCRIBED = AssessmentMode.DESCRIPTIONS_ONLY.value


def scoring_prompts(requests: Sequence[Request]) -> list[str]:
    return [one.messages[-1].content for one in requests if one.task == "scoring"]


def is_described(prompt: str) -> bool:
    told = [DESCRIPTIONS[item] in prompt for item in Item]
    assert all(told) or not any(told)
    return all(told)


def served(url: str) -> dict[str, str]:
    return {"MODEL_DEFAULT": "ollama:fake", "OLLAMA_HOST": url, "PYDANTIC_AI_RETRIES": "1"}


@pytest.mark.parametrize("mode", [None, "zero_shot", 0, DESCRIBED])
def test_http_asks_for_scores_as_the_mode_says(tmp_path: Path, mode: str | int | None) -> None:
    with ModelServerThread(good_replies()) as server:
        settings = settings_with(tmp_path, **model_at(server.url))
        with client_of(settings) as client:
            answer = client.post("/full_pipeline", json={"transcript_text": TALK, "mode": mode})
            scores = client.post(
                "/assess/quantitative", json={"transcript_text": TALK, "mode": mode}
            )
        described = {is_described(prompt) for prompt in scoring_prompts(server.requests)}
        others = [one.messages[-1].content for one in server.requests if one.task != "scoring"]
    assert answer.json()["mode"] == scores.json()["mode"] == (mode or "zero_shot")
    assert described == {mode == DESCRIBED}
    assert not any(map(is_described, others))


@pytest.mark.parametrize("route", ["/full_pipeline", "/assess/quantitative"])
def test_a_file_is_assessed_in_the_mode_of_the_query(tmp_path: Path, route: str) -> None:
    """Never in another one without a word, and said once alone."""
    plain = {"Content-Type": "text/plain"}
    with ModelServerThread(good_replies()) as server:
        settings = settings_with(tmp_path, **model_at(server.url))
        with client_of(settings) as client:
            answer = client.post(
                f"{route}?mode={DESCRIBED}&ablate=true", content=TALK, headers=plain
            )
            shows = client.post(f"{route}?mode=few_shot", content=TALK, headers=plain)
            unknown = client.post(f"{route}?mode=many_shot", content=TALK, headers=plain)
            twice = [
                client.post(f"{route}?{query}", json={"transcript_text": TALK, **body})
                for query, body in (
                    (f"mode={DESCRIBED}", {"mode": DESCRIBED}),
                    ("ablate=true", {"ablate": True}),
                )
            ]
    assert answer.json()["mode"] == DESCRIBED
    assert {"ablation"} & {one["agent"] for one in answer.json()["attempts"]}
    assert (shows.status_code, shows.json()["code"]) == (409, "not_available")
    assert unknown.status_code == 422
    refused = [(one.status_code, one.json()["field"]) for one in twice]
    assert refused == [(422, "mode"), (422, "ablate")]


def test_command_and_python_ask_for_scores_as_the_mode_says(tmp_path: Path) -> None:
    """One prompt, whichever door: their digests are the same, and others than without a mode."""
    (tmp_path / "talk.txt").write_text(TALK, "utf-8")
    with ModelServerThread(good_replies()) as server:
        settings = settings_with(tmp_path / "state", **model_at(server.url))
        by_command = [
            Assessment.model_validate_json(
                run_here(["assess", "talk.txt", "--json", *mode], tmp_path, served(server.url)).out
            )
            for mode in ([], ["--mode", DESCRIBED])
        ]
        in_python = [
            ap.assess_sync(TALK, settings=settings, mode=mode) for mode in (None, DESCRIBED)
        ]
        prompts = scoring_prompts(server.requests)
    assert [is_described(prompt) for prompt in prompts] == [False, True] * 2
    assert [one.mode for one in (*by_command, *in_python)] == ["zero_shot", DESCRIBED] * 2
    assert [one.prompts for one in by_command] == [one.prompts for one in in_python]
    plain, described = (one.prompts for one in in_python)
    assert {name for name in plain if plain[name] != described[name]} == {"quantitative"}


def test_prompts_of_every_mode_begin_with_the_same_transcript_block(tmp_path: Path) -> None:
    with ModelServerThread(good_replies()) as server:
        settings = settings_with(tmp_path, **model_at(server.url))
        for mode in (None, DESCRIBED):
            ap.assess_sync(TALK, settings=settings, mode=mode)
        starts = {one.messages[-1].content.partition("\n\nTask: ")[0] for one in server.requests}
    assert len(starts) == 1
    assert TALK.strip() in starts.pop()


def test_the_baseline_scores_alike_in_every_mode(tmp_path: Path, example_interview: str) -> None:
    """Its rules read the evidence and nothing else of the prompt."""
    settings = settings_with(tmp_path)
    plain, described = (
        ap.assess_sync(example_interview, settings=settings, mode=mode)
        for mode in (None, DESCRIBED)
    )
    assert plain.quantitative == described.quantitative
    assert (plain.mode, described.mode) == ("zero_shot", DESCRIBED)


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    rows = [
        {
            "id": name,
            "text": f"{TALK}Participant: I am {name}.\n",
            "items": [0, 0, 2, 3, 0, 0, 0, 0],
        }
        for name in ("a", "b")
    ]
    path = tmp_path / "talks.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def evaluate(folder: Path, url: str | None, *arguments: str) -> Finished:
    return run_here(["evaluate", *arguments], folder, {} if url is None else served(url))


def predicted_modes(folder: Path) -> set[str]:
    lines = (folder / "predictions.jsonl").read_text("utf-8").splitlines()
    return {json.loads(line)["mode"] for line in lines}


def test_a_run_is_of_one_mode_and_is_compared_with_one_of_another(
    tmp_path: Path, talks: Path
) -> None:
    mode = ("--mode", DESCRIBED)
    with ModelServerThread(good_replies()) as server:
        plain = evaluate(tmp_path, server.url, "run", talks.name, "--out", "plain")
        first = list(server.requests)
        server.server.reset()
        done = evaluate(tmp_path, server.url, "run", talks.name, "--out", "described", *mode)
        prompts = scoring_prompts(server.requests)
        refused = evaluate(
            tmp_path, server.url, "run", talks.name, "--out", "described", "--resume"
        )
        gone_on = evaluate(
            tmp_path, server.url, "run", talks.name, "--out", "described", "--resume", *mode
        )
    assert not any(map(is_described, scoring_prompts(first)))
    assert (plain.code, done.code, gone_on.code) == (0, 0, 0), done.err
    assert len(prompts) == 2
    assert all(map(is_described, prompts))
    assert (refused.code, "begun with other mode" in refused.err) == (2, True)
    records = [
        json.loads((tmp_path / name / "run.json").read_text()) for name in ("plain", "described")
    ]
    assert [one["mode"] for one in records] == ["zero_shot", DESCRIBED]
    assert {
        name
        for name in records[0]["prompts"]
        if records[0]["prompts"][name] != records[1]["prompts"][name]
    } == {"quantitative"}
    assert [predicted_modes(tmp_path / name) for name in ("plain", "described")] == [
        {"zero_shot"},
        {DESCRIBED},
    ]
    compared = evaluate(tmp_path, None, "compare", "plain", "described")
    assert compared.code == 0
    text = " ".join(compared.out.split())
    assert "First: plain (ollama:fake, zero_shot, prompts" in text
    assert f"Second: described (ollama:fake, {DESCRIBED}, prompts" in text


def test_a_run_that_was_recorded_with_a_hyphen_goes_on(tmp_path: Path, talks: Path) -> None:
    """As runs of earlier versions were, and as the option could be written."""
    assert (
        evaluate(tmp_path, None, "run", talks.name, "--out", "out", "--mode", "zero-shot").code == 0
    )
    record = tmp_path / "out/run.json"
    record.write_text(record.read_text().replace('"zero_shot"', '"zero-shot"'))
    assert evaluate(tmp_path, None, "run", talks.name, "--out", "out", "--resume").code == 0
    assert "zero_shot" in evaluate(tmp_path, None, "runs", ".").out


def test_python_runs_a_dataset_in_a_mode(tmp_path: Path, talks: Path) -> None:
    async def evaluated() -> None:
        async with ap.open(settings_with(tmp_path / "state")) as app:
            await app.evaluate(talks, tmp_path / "out", mode=DESCRIBED)

    asyncio.run(evaluated())
    assert predicted_modes(tmp_path / "out") == {DESCRIBED}


def test_other_wordings_have_to_be_asked_in_the_mode(tmp_path: Path, talks: Path) -> None:
    (tmp_path / "strict.toml").write_text(
        "quantitative = '''\nTask: scoring\nSternly. {evidence}'''\n", "utf-8"
    )
    wording = ("run", talks.name, "--out", "out", "--prompts", "strict=strict.toml")
    with ModelServerThread(good_replies()) as server:
        refused = evaluate(tmp_path, server.url, *wording, "--mode", DESCRIBED)
        done = evaluate(tmp_path, server.url, *wording)
    assert (refused.code, "never asks" in refused.err) == (2, True)
    assert "quantitative_descriptions" in refused.err
    assert done.code == 0


NEEDS_REFERENCES = [AssessmentMode.FEW_SHOT.value, AssessmentMode.RANDOM_REFERENCES.value]


@pytest.mark.parametrize("mode", NEEDS_REFERENCES)
def test_references_that_nobody_configured_are_asked_for_and_never_left_out(
    tmp_path: Path, talks: Path, mode: str
) -> None:
    (tmp_path / "talk.txt").write_text(TALK, "utf-8")
    with ModelServerThread(good_replies()) as server:
        commands = [
            run_here(["assess", "talk.txt", "--mode", mode], tmp_path, served(server.url)),
            evaluate(tmp_path, server.url, "run", talks.name, "--out", "out", "--mode", mode),
        ]
        settings = settings_with(tmp_path / "state", **model_at(server.url))
        with pytest.raises(ap.InputError, match="REFERENCES_DIR") as refused:
            ap.assess_sync(TALK, settings=settings, mode=mode)
        assert refused.value.field == "mode"
        assert server.requests == []
    for done in commands:
        assert (done.code, done.out) == (2, "")
        assert "REFERENCES_DIR" in done.err
        assert "references build" in done.err
    assert not (tmp_path / "out").exists()


def test_a_mode_that_there_is_not_is_refused_with_those_there_are(tmp_path: Path) -> None:
    done = run_here(["assess", "-", "--mode", "one_shot"], tmp_path, stdin=TALK.encode())
    assert done.code == 2
    assert all(mode in done.err for mode in AssessmentMode)
    for name in ("one_shot", 1):
        with pytest.raises(ap.InputError, match="mode has to be"):
            ap.assess_sync(TALK, settings=settings_with(tmp_path), mode=name)  # type: ignore[arg-type]
