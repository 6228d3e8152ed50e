"""A few kills in each test run; `make crash` kills at every write boundary."""

import os
from pathlib import Path

import pytest

from tests.integration.command import environment_of, finish
from tests.integration.started import start
from tests.sweeps import KILLED_AT_BOUNDARIES, KILLED_AT_RANDOM, PIPELINE_UNITS

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 600


@pytest.mark.timeout(LIMIT_SECONDS)
def test_killed_run_goes_on_and_ends_as_an_uninterrupted_one_does(tmp_path: Path) -> None:
    command = ["tests.crash"]
    command += ["--random", str(KILLED_AT_RANDOM.slice)]
    command += ["--boundaries", str(KILLED_AT_BOUNDARIES.slice)]
    with start(command, ROOT, environment_of(tmp_path, {})) as process:
        done = finish(process, seconds=LIMIT_SECONDS)
    assert done.code == 0, done.out + done.err
    assert f"Killed once at {KILLED_AT_BOUNDARIES.slice} of" in done.out


@pytest.mark.timeout(LIMIT_SECONDS)
@pytest.mark.parametrize(
    "what",
    [
        "example",
        pytest.param(
            "real",
            marks=pytest.mark.skipif(
                "TEST_DATA_DIR" not in os.environ, reason="needs TEST_DATA_DIR/octobatch"
            ),
        ),
    ],
)
def test_killed_pipeline_goes_on_and_ends_as_an_uninterrupted_one_does(
    tmp_path: Path, what: str
) -> None:
    command = ["tests.crash", f"{what}-pipelines"]
    command += ["--random", "1", "--boundaries", "0", "--units", str(PIPELINE_UNITS.slice)]
    with start(command, ROOT, environment_of(tmp_path, {})) as process:
        done = finish(process, seconds=LIMIT_SECONDS)
    assert done.code == 0, done.out + done.err
    assert done.out.count("nothing lost") == {"example": 2, "real": 6}[what]
