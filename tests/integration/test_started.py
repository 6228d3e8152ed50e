"""A forked command, or one in this process, is what it would be if it were started afresh."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.pipeline_folder import PIPELINE, written
from tests.integration.command import COMMAND, environment_of, run
from tests.integration.command_here import run_here
from tests.integration.started import Started, start
from tests.patience import wait_until

TALK = b"Participant: I feel tired nearly every day.\n"
VALIDATE = ["validate", "--config", "pipeline.yaml", "--step", "rate", "--valid", "valid.jsonl"]
COMMANDS: dict[str, tuple[list[str], bytes]] = {
    "help": (["assess", "--help"], b""),
    "a report": (["assess", "-"], TALK),
    "nothing to read": (["assess", "-"], b""),
    "a misspelt command": (["asses"], b""),
    "a missing file": (["assess", "none.txt"], b""),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_it_writes_and_ends_as_one_started_afresh(tmp_path: Path, case: str) -> None:
    arguments, stdin = COMMANDS[case]
    forked, afresh = (
        run(arguments, tmp_path, stdin=stdin, is_afresh=is_afresh) for is_afresh in (False, True)
    )
    assert forked == afresh
    assert run_here(arguments, tmp_path, stdin=stdin) == afresh


def test_it_reads_the_settings_and_the_folder_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MODEL_DEFAULT=nonesuch\n", "utf-8")
    (tmp_path / "talk.txt").write_bytes(TALK)
    assert run(["assess", "talk.txt"], tmp_path).code == 2
    assert run(["assess", "talk.txt"], tmp_path, {"MODEL_DEFAULT": "baseline"}).code == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a pipeline."""
    written(tmp_path, PIPELINE)
    return tmp_path


@pytest.mark.parametrize("is_afresh", [False, True], ids=["forked", "afresh"])
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_signals_end_it_as_they_end_any_program(
    folder: Path, number: int, code: int, is_afresh: bool
) -> None:
    with _validating(folder, is_afresh=is_afresh) as process:
        process.send_signal(number)
        assert process.wait() == code


@pytest.mark.parametrize("is_afresh", [False, True], ids=["forked", "afresh"])
def test_it_is_ended_with_its_block(folder: Path, is_afresh: bool) -> None:
    with _validating(folder, is_afresh=is_afresh) as process:
        assert process.poll() is None
    assert process.wait() == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


@contextmanager
def _validating(folder: Path, *, is_afresh: bool) -> Iterator[Started]:
    """Run a command in the block once it waits for its input."""
    environment = environment_of(folder, {})
    with start([COMMAND, *VALIDATE], folder, environment, is_afresh=is_afresh) as process:
        wait_until(lambda: any(folder.glob(".valid.jsonl.*")) or process.poll() is not None)
        assert process.poll() is None, process.stderr.read()
        yield process
