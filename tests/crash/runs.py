"""Runs in forked children of one process that has imported everything already."""

import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx

from ai_psychiatrist.cli.app import main
from tests.crash.boundaries import Boundaries, write_count
from tests.fakes.result_files import without_times
from tests.patience import PATIENCE_SECONDS

_KILLED = -signal.SIGKILL

INTERVIEWS = {
    f"unit{number}": (
        f"Interviewer: How are you, number {number}?\n"
        f"Participant: I have been feeling down nearly every day for {number + 2} weeks now.\n"
        "Interviewer: And your sleep?\n"
        "Participant: I hardly sleep at all, most nights I lie awake until four.\n"
        "Participant: I have no energy and I do not enjoy anything any more.\n"
    )
    for number in range(3)
}


def write_dataset(folder: Path) -> Path:
    """Write a folder of interviews, one of them unreadable."""
    dataset = folder / "interviews"
    dataset.mkdir(parents=True)
    for name, text in INTERVIEWS.items():
        (dataset / f"{name}.txt").write_text(text, encoding="utf-8")
    (dataset / "unit9.txt").write_text("Interviewer: Nobody answers me.\n", encoding="utf-8")
    return dataset


class RunLost(AssertionError):
    """A run did not end as an uninterrupted one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """The model server of a campaign, in a process of its own."""

    url: str

    def requests(self) -> int:
        """Return how many calls have come in since the reset, once none is being answered."""
        return int(httpx.get(f"{self.url}/stats").json()["requests"])

    def settled_requests(self) -> int:
        """Return how many calls have come in once those of a killed run have."""
        before = self.requests()
        while True:
            time.sleep(0.03)
            now = self.requests()
            if now == before:
                return now
            before = now

    def reset(self) -> None:
        """Count from 0."""
        httpx.post(f"{self.url}/reset")


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What all runs have in common."""

    command: Sequence[str]
    """Without the folder of the run."""
    backend: Backend
    result_files: Sequence[str]
    """Patterns inside the folder of a run."""
    is_begun: Callable[[Path], bool]
    """Whether a folder holds a run that can be gone on with."""
    concurrency: int = 2
    longest_seconds: float = 1.2
    """Until a run is killed at random."""
    patience_seconds: float = PATIENCE_SECONDS
    """For one session."""

    def sit(self, run: Path, *, kill_at: int | None = None) -> int:
        """Go on with a run in a child until its end or its kill; returns the exit status."""
        return _wait(self.start(run, kill_at=kill_at), self.patience_seconds)

    def start(self, run: Path, *, kill_at: int | None = None) -> int:
        """Start a child that begins a run or goes on with it; returns its process id."""
        arguments = [*self.command, "--out", str(run), "--concurrency", str(self.concurrency)]
        if self.is_begun(run):
            arguments.append("--resume")
        child = os.fork()
        if child == 0:
            self._be_the_run(arguments, run, kill_at)
        return child

    def _be_the_run(self, arguments: Sequence[str], run: Path, kill_at: int | None) -> None:
        log = os.open(run.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ.update({"MODEL_DEFAULT": "ollama:fake", "OLLAMA_HOST": self.backend.url})
        boundaries = Boundaries(kill_at)
        boundaries.watch()
        sys.argv = ["ai-psychiatrist", *arguments]
        code = 1
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        finally:
            sys.stderr.flush()
            write_count(run.with_suffix(".count"), boundaries)
            os._exit(code)

    def finish(self, run: Path) -> None:
        """Go on with a run until it ends by itself."""
        code = self.sit(run)
        if code not in {0, 1}:
            raise RunLost(f"{run.name} ended with status {code}: {_last_words(run)}")

    def boundaries(self, run: Path) -> int:
        """Return how many write boundaries the last child of a run passed."""
        return int(run.with_suffix(".count").read_text(encoding="ascii"))

    def results(self, run: Path) -> dict[str, bytes]:
        """Return the result files of a run, without their times."""
        found = [path for pattern in self.result_files for path in sorted(run.glob(pattern))]
        return {
            path.relative_to(run).as_posix(): without_times(path.read_bytes()) for path in found
        }


def _wait(child: int, seconds: float = PATIENCE_SECONDS) -> int:
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise RunLost(f"a run did not end within {seconds:.0f} s")


def kept_calls(run: Path) -> int:
    """Return how many model calls are in a run's ledger."""
    path = run / "ledger.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as ledger:
        try:
            return int(ledger.execute("SELECT COUNT(*) FROM run_calls").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # Killed before the tables were there.


def kill_at_boundary(campaign: Campaign, run: Path, reference: dict[str, bytes], at: int) -> None:
    """Kill a run at one boundary, go on with it, and hold it against the uninterrupted one."""
    campaign.backend.reset()
    code = campaign.sit(run, kill_at=at)
    lost = 0
    if code == _KILLED:
        lost = campaign.backend.settled_requests() - kept_calls(run)
    campaign.finish(run)
    _compare(campaign, run, reference, lost=lost)


def kill_at_random(
    campaign: Campaign, run: Path, reference: dict[str, bytes], chance: random.Random
) -> int:
    """Kill a run again and again at random times until it ends; returns the number of kills."""
    campaign.backend.reset()
    lost = kills = 0
    for _ in range(chance.randint(1, 4)):
        before = kept_calls(run)
        asked_before = campaign.backend.requests()
        child = campaign.start(run)
        time.sleep(chance.uniform(0.05, campaign.longest_seconds))
        os.kill(child, signal.SIGKILL)
        if _wait(child) == _KILLED:
            kills += 1
        asked = campaign.backend.settled_requests() - asked_before
        lost += asked - (kept_calls(run) - before)
    campaign.finish(run)
    _compare(campaign, run, reference, lost=lost)
    return kills


def _compare(campaign: Campaign, run: Path, reference: dict[str, bytes], *, lost: int) -> None:
    found = campaign.results(run)
    names = found.keys() | reference.keys()
    different = sorted(name for name in names if found.get(name) != reference.get(name))
    if different:
        raise RunLost(f"{run.name}: {', '.join(different)} differ from an uninterrupted run's")
    asked, kept = campaign.backend.requests(), kept_calls(run)
    if asked != kept + lost:
        raise RunLost(f"{run.name}: {asked} calls were paid for {kept} kept and {lost} cut short")


def _last_words(run: Path) -> str:
    return run.with_suffix(".log").read_text(encoding="utf-8")[-500:]
