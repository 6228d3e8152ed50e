"""`--model` chooses the model of one command, whatever the settings name."""

import json
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServerThread
from tests.integration.command import COMMAND, run
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at
from tests.integration.terminal import SERVED, TerminalProcess

INTERVIEW = "Interviewer: How are you?\nParticipant: I feel tired nearly every day.\n"
OTHERS = {
    "MODEL_DEFAULT": "ollama:another",
    "MODEL_JUDGE_MODEL": "ollama:another",
    "INTERVIEW_MODEL": "ollama:another",
    "DANGER_MODEL": "ollama:another",
}
"""What the settings name: of that no server is there."""
COMMANDS = {
    "assess": ["assess", "interview.txt"],
    "evaluate run": ["evaluate", "run", "interview.txt", "--out", "run"],
    "interview": ["interview", "--protocol", "phq8", "--transcript", "interview.txt"],
    "serve": ["serve"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "interview.txt").write_text(INTERVIEW, "utf-8")
    return tmp_path


def test_assess_asks_the_model_that_is_named(folder: Path) -> None:
    done = run_here(["assess", "interview.txt", "--json", "--model", "baseline"], folder, OTHERS)
    assert done.code == 0, done.err
    chains = {name: models["chain"] for name, models in json.loads(done.out)["models"].items()}
    assert chains == {agent: ["baseline"] for agent in chains}


def test_fallbacks_stay(folder: Path) -> None:
    with ModelServerThread() as models:
        settings = OTHERS | {"OPENAI_BASE_URL": f"{models.url}/v1", "MODEL_FALLBACKS": "baseline"}
        command = ["assess", "interview.txt", "--json", "--model", "openai-chat:fake-model"]
        done = run_here(command, folder, settings)
    chains = json.loads(done.out)["models"]
    assert chains.pop("danger")["chain"] == ["openai-chat:fake-model"]
    for models_of_agent in chains.values():
        assert models_of_agent["chain"] == ["openai-chat:fake-model", "baseline"]
        assert models_of_agent["answered_by"] == ["openai-chat:fake-model"]


def test_evaluate_run_records_the_model_that_is_named(folder: Path) -> None:
    (folder / "texts").mkdir()
    (folder / "interview.txt").rename(folder / "texts" / "300.txt")
    command = ["evaluate", "run", "texts", "--out", "run", "--model", "baseline"]
    done = run_here(command, folder, OTHERS)
    assert done.code == 0, done.err
    assert "another" not in (folder / "run" / "run.json").read_text("utf-8")


def test_an_interview_is_held_with_the_model_that_is_named(folder: Path) -> None:
    (folder / "answers.txt").write_text("not at all\n" * 8, "utf-8")
    command = [*COMMANDS["interview"], "--answers", "answers.txt", "--model"]
    with ModelServerThread() as models:
        settings = OTHERS | {"OPENAI_BASE_URL": f"{models.url}/v1"}
        done = run_here([*command, "openai-chat:fake-model"], folder, settings)
        asked = models.server.request_count
    assert done.code == 0, done.err
    assert asked > 0


def test_serve_asks_the_model_that_is_named(folder: Path) -> None:
    command = [COMMAND, "serve", "--model", "baseline"]
    with TerminalProcess(command, folder, OTHERS | {"API_PORT": "0"}) as terminal:
        found = SERVED.search(terminal.read_until(SERVED.search))
        assert found is not None, terminal.shown
        with client_at(found[0]) as client:
            body = client.post("/full_pipeline", json={"transcript_text": INTERVIEW}).json()
    assert body["status"] == "complete"
    assert body["models"]["judge"]["answered_by"] == ["baseline"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "cure"),
    [
        pytest.param("nonesuch", "ollama:nonesuch", id="no provider"),
        pytest.param("ollama:", "names no model of ollama", id="no model"),
        pytest.param("openai-chat:x", "OPENAI_BASE_URL", id="no server"),
        pytest.param(" ", "--model", id="empty"),
    ],
)
def test_a_name_that_cannot_be_used_ends_with_status_2(
    folder: Path, command: str, name: str, cure: str
) -> None:
    begun = run if command == "serve" else run_here
    done = begun([*COMMANDS[command], "--model", name], folder, {"API_PORT": "0"})
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert cure in done.err
