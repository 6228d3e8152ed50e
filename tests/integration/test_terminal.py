"""What is shown on a terminal is ours: no library adds to it."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.integration.command import COMMAND, environment_of
from tests.integration.running_app import client_at

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 30.0
SERVED = re.compile(r"http://127\.0\.0\.1:\d+")
FOREIGN = ("pydantic", "logfire", "observability", "`---")


class TerminalProcess:
    """A process on a terminal of its own, in which no sign says that a machine looks on."""

    def __init__(self, command: Sequence[str], folder: Path, settings: dict[str, str]) -> None:
        environment = environment_of(folder, {"TERM": "xterm"} | settings)
        for sign in ("CI", "PYTEST_VERSION", "PYTEST_CURRENT_TEST", "PYDANTIC_AI_NO_BANNER"):
            environment.pop(sign, None)
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it at once if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        os.close(self._ours)

    def read_until(self, is_enough: Callable[[str], object]) -> str:
        """Return what is shown once it is enough, or all of it when the process ends before."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_enough(self.shown):
            assert time.monotonic() < end, self.shown
            if not select.select([self._ours], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(self._ours, 65_536)
            except OSError:
                break
            self.shown += piece.decode("utf-8", "replace")
        return self.shown

    def stop(self) -> str:
        """Ask it to end, and return everything that it showed."""
        self.process.send_signal(signal.SIGTERM)
        return self.rest()

    def rest(self) -> str:
        """Wait for its end and return everything that it showed."""
        shown = self.read_until(lambda _: False)
        self.process.wait(PATIENCE_SECONDS)
        return shown


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
