"""A few kills in each test run; `make crash` kills at every write boundary."""

import os
import subprocess
import sys
from pathlib import Path

from tests.integration.command import environment_of
from tests.patience import PATIENCE_SECONDS
from tests.sweeps import KILLED_AT_BOUNDARIES, KILLED_AT_RANDOM


def test_killed_run_goes_on_and_ends_as_an_uninterrupted_one_does(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.crash"),
            *("--random", str(KILLED_AT_RANDOM.slice)),
            *("--boundaries", str(KILLED_AT_BOUNDARIES.slice)),
        ],
        env=environment_of(tmp_path, {"PYTHONPATH": os.fspath(Path.cwd())}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Killed once at {KILLED_AT_BOUNDARIES.slice} of" in done.stdout
