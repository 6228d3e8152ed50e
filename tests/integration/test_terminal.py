"""What is shown on a terminal is ours: no library adds to it."""

import sys
from pathlib import Path

import pytest

from tests.integration.command import COMMAND
from tests.integration.running_app import client_at
from tests.integration.terminal import SERVED, TerminalProcess

ROOT = Path(__file__).parents[2]
FOREIGN = ("pydantic", "logfire", "observability", "`---")


def assert_ours(shown: str) -> None:
    assert not [word for word in FOREIGN if word in shown.casefold()], shown


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([COMMAND], id="command"),
        pytest.param([sys.executable, "-m", "ai_psychiatrist"], id="module"),
    ],
)
def test_assess_shows_its_result_alone(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "interview.txt").write_text("Patient: I feel tired every day.\n", "utf-8")
    with TerminalProcess([*command, "assess", "interview.txt"], tmp_path, {}) as terminal:
        shown = terminal.rest()
    assert terminal.process.returncode == 0, shown
    assert "Signs of danger" in shown
    assert_ours(shown)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([COMMAND, "serve"], id="command"),
        pytest.param([sys.executable, str(ROOT / "server.py")], id="python"),
        pytest.param(
            [sys.executable, "-m", "uvicorn", "server:app", "--app-dir", str(ROOT), "--port", "0"],
            id="uvicorn",
        ),
    ],
)
def test_a_server_shows_its_lines_alone(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / ".env").write_text("SOMEBODY_ELSES=1\n", "utf-8")
    with TerminalProcess(command, tmp_path, {"API_PORT": "0"}) as terminal:
        found = SERVED.search(terminal.read_until(SERVED.search))
        assert found is not None, terminal.shown
        with client_at(found[0]) as client:
            answer = client.post("/full_pipeline", json={"transcript_text": "Patient: tired"})
        shown = terminal.stop()
    assert answer.json()["status"] == "complete"
    assert_ours(shown)
    assert shown.count("SOMEBODY_ELSES") == 1


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    settings = {"API_PORT": "0", "MODEL_DEFAULT": "openai-chat:x"}
    command = [sys.executable, str(ROOT / "server.py")]
    with TerminalProcess(command, tmp_path, settings) as terminal:
        shown = terminal.rest()
    assert terminal.process.returncode == 2
    assert shown.startswith("error: ")
    assert "OPENAI_BASE_URL" in shown
