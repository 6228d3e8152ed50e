"""A few kills in each test run; `make crash` kills at every write boundary."""

import os
import subprocess
import sys
from pathlib import Path

from tests.integration.command import environment_of
from tests.patience import PATIENCE_SECONDS


def test_killed_run_goes_on_and_ends_as_an_uninterrupted_one_does(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash", "--random", "2", "--boundaries", "4"],
        env=environment_of(tmp_path, {"PYTHONPATH": os.fspath(Path.cwd())}),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Killed once at 4 of" in done.stdout
