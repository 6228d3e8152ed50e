"""Kill runs: once at each write boundary, and at random times.

`evaluation` kills an evaluation run, the others kill runs of pipelines.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.crash.pipelines import example_campaign, real_campaigns
from tests.crash.runs import (
    Backend,
    Campaign,
    RunLost,
    kill_at_boundary,
    kill_at_random,
    write_dataset,
)
from tests.integration.imported import import_all
from tests.sweeps import KILLED_AT_BOUNDARIES, KILLED_AT_RANDOM, PIPELINE_UNITS

SUBJECTS = ("evaluation", "example-pipelines", "real-pipelines")


def main() -> int:
    """Run the campaigns; returns the exit status."""
    options = _options()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name, _backend() as backend:
        folder = Path(name)
        os.environ["DATA_STATE_DIR"] = str(folder / "state")
        subjects = [_evaluation(folder, backend)]
        if options.what == "example-pipelines":
            subjects = [example_campaign(folder, backend, units=options.units)]
        elif options.what == "real-pipelines":
            subjects = list(real_campaigns(folder, backend, units=options.units))
        import_all()
        try:
            for subject in subjects:
                _kill(subject, folder, options)
        except RunLost as lost:
            _tell(f"FAILED: {lost}")
            return 1
    _tell(f"Nothing was lost in {time.monotonic() - started:.0f} s.")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.crash", description=__doc__)
    parser.add_argument("what", nargs="?", choices=SUBJECTS, default="evaluation")
    parser.add_argument(
        "--random",
        type=int,
        help="runs killed at random times",
        default=KILLED_AT_RANDOM.whole,
    )
    parser.add_argument(
        "--boundaries",
        type=int,
        help="write boundaries to kill at, as far as there are so many",
        default=KILLED_AT_BOUNDARIES.whole,
    )
    parser.add_argument("--units", type=int, help="of each pipeline", default=PIPELINE_UNITS.whole)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _evaluation(folder: Path, backend: Backend) -> Campaign:
    return Campaign(
        command=["evaluate", "run", str(write_dataset(folder)), "--certificates"],
        backend=backend,
        result_files=(
            *("run.json", "units.jsonl", "labels.jsonl"),
            *("predictions.jsonl", "failures.jsonl", "certificates/*"),
        ),
        is_begun=lambda run: (run / "run.json").exists(),
    )


def _kill(campaign: Campaign, folder: Path, options: argparse.Namespace) -> None:
    run = folder / "whole"
    campaign.backend.reset()
    started = time.monotonic()
    campaign.finish(run)
    campaign = replace(campaign, longest_seconds=max(time.monotonic() - started, 1.0) / 2)
    reference, boundaries = campaign.results(run), campaign.boundaries(run)
    _tell(
        f"{' '.join(campaign.command[:3])}: an uninterrupted run made "
        f"{campaign.backend.requests()} calls and passed {boundaries} boundaries."
    )
    chance = random.Random(options.seed)  # noqa: S311  which places are tried is no secret
    places = list(range(1, boundaries + 1))
    if options.boundaries < boundaries:
        places = sorted(chance.sample(places, options.boundaries))
    for place in places:
        kill_at_boundary(campaign, folder / f"boundary{place}", reference, place)
        shutil.rmtree(folder / f"boundary{place}")
    _tell(f"Killed once at {len(places)} of {boundaries} write boundaries: nothing lost.")
    kills = 0
    for number in range(options.random):
        kills += kill_at_random(campaign, folder / f"random{number}", reference, chance)
        shutil.rmtree(folder / f"random{number}")
    _tell(f"Killed {kills} times at random in {options.random} runs: nothing lost.")
    shutil.rmtree(run)


@contextmanager
def _backend() -> Iterator[Backend]:
    """Serve models in a process of its own: forked children must not inherit its threads."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.model_server", "--delay-ms", "10"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield Backend(url=server.stdout.readline().split()[-1])
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def end_with_status() -> None:
    """Run the campaigns and end the process."""
    sys.exit(main())


if __name__ == "__main__":
    end_with_status()
