"""A disk that is full at any moment ends a command with one line, and the work goes on later."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fakes.pipeline_folder import written
from tests.integration.command import COMMAND, environment_of

TALK = "Interviewer: How are you?\nParticipant: I sleep badly nearly every day.\n"
RUN = ["evaluate", "run", "data", "--out", "run"]
ANSWERS = "".join(
    f'{{"unit_id": "u{number}", "score": 2, "tone": "warm"}}\n' for number in range(2_000)
)

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash sets the limit")


def limited(
    arguments: Sequence[str], folder: Path, *, kibibytes: int | str
) -> subprocess.CompletedProcess[str]:
    """Run a command none of whose files can grow beyond a size, as on a disk that is full."""
    prefix = ["bash", "-c", 'ulimit -f "$0" && exec "$@"', str(kibibytes)]
    environment = environment_of(folder, {"MODEL_DEFAULT": "baseline"})
    return subprocess.run(
        [*prefix, COMMAND, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def refused(done: "subprocess.CompletedProcess[str]") -> None:
    """Assert that a command ended with one sentence."""
    assert done.returncode == 2, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("error: ")], done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_that_met_a_full_disk_goes_on_later(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text(TALK)
    refused(limited(RUN, tmp_path, kibibytes=120))
    is_begun = (tmp_path / "run" / "run.json").exists()
    done = limited([*RUN, *(["--resume"] if is_begun else [])], tmp_path, kibibytes="unlimited")
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "run" / "predictions.jsonl").read_text().splitlines()) == 1


def test_a_validation_that_met_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    command = ["validate", "--config", "pipeline.yaml", "--step", "rate", "answers.jsonl"]
    command += ["--valid", "valid.jsonl", "--failures", "failed.jsonl", "--run", "run"]
    before = {path.name for path in tmp_path.iterdir()}
    refused(limited(command, tmp_path, kibibytes=40))
    assert {path.name for path in tmp_path.iterdir()} - before <= {"run", "state"}
    done = limited(command, tmp_path, kibibytes="unlimited")
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "valid.jsonl").read_text().splitlines()) == 2_000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize(
    "arguments", [["settings"], ["lint-config", "--format", "json", "pipeline.yaml"]]
)
def test_standard_output_on_a_full_disk_is_one_line(tmp_path: Path, arguments: list[str]) -> None:
    written(tmp_path)
    command = ["bash", "-c", 'exec "$@" > /dev/full', "bash", COMMAND, *arguments]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment_of(tmp_path, {}),
        capture_output=True,
        text=True,
        check=False,
    )
    refused(done)
