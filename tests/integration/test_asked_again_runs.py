"""Runs whose scores were asked for again: for beliefs, and with the evidence changed."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.drive import DriveReason, DriveVerdict
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from tests.fakes.model_server import ModelServerThread, Reply, Request, good_replies
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

TALK = (
    "Interviewer: How have you been sleeping?\n"
    "Participant: I wake up at four nearly every night and cannot go back to sleep.\n"
)
ASKED = ("quantitative", "ablation", "rescoring")
"""Agents that reply with scores."""
SILENT = ("belief_tokens", "belief_decision")
"""Agents whose answers are probabilities, for which there are no rules."""
STRICTER = "run/config/stricter.yaml"


def asked_again(request: Request) -> bool:
    return request.task == "scoring" and (
        request.transcript.split() != TALK.split() or bool(request.body["temperature"])
    )


def prose_when_asked_again(request: Request) -> Reply:
    good = good_replies()
    return Reply(text="As I said before.") if asked_again(request) else good(request)


def made_run(folder: Path, server: ModelServerThread) -> Path:
    (folder / "talks").mkdir()
    (folder / "talks" / "a.txt").write_text(TALK, "utf-8")
    settings = model_at(server.url) | {
        "BELIEF_SOURCES": "rescoring,tokens,decision",
        "BELIEF_DECISION_MODEL": "rater",
        "BELIEF_DECISION_URL": server.url,
        "PYDANTIC_AI_RETRIES": "0",
        "FEEDBACK_ENABLED": "false",
    }
    done = run_here(["evaluate", "run", "talks", "--out", "run", "--ablate"], folder, settings)
    assert done.code == 0, done.err
    config = folder / "run/config"
    stricter = (config / "pipeline.yaml").read_text("utf-8").replace("len(items) == 8", "False")
    (folder / STRICTER).write_text(stricter, "utf-8")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with ModelServerThread() as server:
        yield made_run(tmp_path_factory.mktemp("asked-again"), server)


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def unit_of(folder: Path) -> UnitPrediction:
    (unit,) = read_predictions(folder / "run" / "predictions.jsonl")
    return unit


def revalidated(folder: Path, *arguments: str) -> Finished:
    done = run_here(["revalidate", "run", *arguments], folder)
    assert done.code == 0, done.err
    return done


def test_every_agent_is_in_the_run(made: Path) -> None:
    agents = [attempt.agent for attempt in unit_of(made).attempts]
    assert {*ASKED, *SILENT} <= set(agents)
    sleep = unit_of(made).items[Item.SLEEP]
    assert sleep.belief is not None
    assert set(sleep.belief.sources) == set(BeliefSource)
    assert sleep.drive is not None
    assert sleep.drive.verdict is DriveVerdict.NOT_EVIDENCE_DRIVEN


@pytest.mark.parametrize(
    "command",
    [
        ("metrics", "run"),
        ("metrics", "run", "--compare", "run", "--json"),
        ("report", "run", "--compare", "run"),
        ("ablate", "run"),
        ("ablate", "run", "--json"),
        ("compare", "run", "run"),
        ("runs", "."),
        ("table", "run", "--out", "run.csv"),
        ("unit", "run", "a", "--out", "unit.json"),
    ],
    ids=" ".join,
)
def test_commands_read_a_run_with_every_agent(made: Path, command: tuple[str, ...]) -> None:
    done = run_here(["evaluate", *command], made)
    assert done.code == 0, done.err


def test_the_same_rules_find_the_same(copied: Path) -> None:
    before = (copied / "run/predictions.jsonl").read_bytes()
    told = json.loads(revalidated(copied, "--json").out)
    steps = {step["step"]: step for step in told["steps"]}
    assert set(ASKED) < set(steps)
    assert set(SILENT).isdisjoint(steps)
    assert {step["changed"] for step in steps.values()} == {0}
    assert all(steps[agent]["outcomes"] for agent in ASKED)
    assert told["changed_predictions"] == 0
    assert (copied / "run/predictions.jsonl").read_bytes() == before


@pytest.mark.parametrize("agent", ASKED)
def test_replies_are_rejected_by_stricter_rules_and_accepted_again(
    copied: Path, agent: str
) -> None:
    before = unit_of(copied)
    stricter = ("--rules", STRICTER, "--step", agent)
    told = json.loads(revalidated(copied, *stricter, "--dry-run", "--json").out)
    (step,) = told["steps"]
    assert set(step["regressions"]) == {"a"}
    revalidated(copied, *stricter, "--demote")
    now = unit_of(copied)
    lost = [failure.stage for failure in now.failures if failure not in before.failures]
    assert lost[0] == agent
    revalidated(copied)
    assert unit_of(copied) == before


def test_verdicts_are_open_once_the_replies_to_changes_are_rejected(copied: Path) -> None:
    revalidated(copied, "--rules", STRICTER, "--step", "ablation", "--demote")
    now = unit_of(copied)
    drive = now.items[Item.SLEEP].drive
    assert drive is not None
    assert (drive.verdict, drive.reason) == (
        DriveVerdict.UNDETERMINED,
        DriveReason.CALL_FAILED,
    )
    assert now.status == "complete"
    assert now.items[Item.SLEEP].score == 1


def test_beliefs_are_taken_out_once_the_replies_that_voted_are_rejected(copied: Path) -> None:
    revalidated(copied, "--rules", STRICTER, "--step", "rescoring", "--demote")
    now = unit_of(copied)
    assert {found.belief for found in now.items.values()} == {None}
    assert now.status == "complete"
    assert now.items[Item.SLEEP].score == 1
    for command in (["metrics", "run"], ["table", "run", "--out", "run.csv"], ["report", "run"]):
        assert run_here(["evaluate", *command], copied).code == 0


def test_an_agent_without_rules_is_refused_in_words(copied: Path) -> None:
    for agent in SILENT:
        done = run_here(["revalidate", "run", "--step", agent], copied)
        assert done.code == 2
        assert f"step '{agent}' has no rules" in done.err


def test_rejected_replies_are_judged_again_and_stay_rejected(tmp_path: Path) -> None:
    with ModelServerThread(prose_when_asked_again) as server:
        made_run(tmp_path, server)
    before = unit_of(tmp_path)
    told = json.loads(revalidated(tmp_path, "--json").out)
    outcomes = {step["step"]: step["outcomes"] for step in told["steps"]}
    for agent in ("ablation", "rescoring"):
        assert all(outcome["old"] == outcome["new"] for outcome in outcomes[agent])
        rejected = [one["units"] for one in outcomes[agent] if one["old"] == "parse"]
        assert sum(rejected) >= 3
    assert told["changed_predictions"] == 0
    assert unit_of(tmp_path) == before
    sleep = before.items[Item.SLEEP]
    assert sleep.score == 1
    assert sleep.belief is not None
    assert BeliefSource.RESCORING not in sleep.belief.sources
    assert sleep.drive is not None
    assert sleep.drive.reason is DriveReason.CALL_FAILED
