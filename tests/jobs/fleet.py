"""A server and two workers that are started again whenever they end, as a supervisor does."""

import os
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.integration.started import Started, start
from tests.jobs.filed_work import ended
from tests.jobs.places import Place
from tests.patience import PATIENCE_SECONDS

ROOT: Final = Path(__file__).parents[2]
_LOOK_SECONDS: Final = 0.05
_RESTART_SECONDS: Final = 2.0
"""Least time between two starts of the same process."""


@dataclass(slots=True)
class Fleet:
    """Processes of one queue."""

    place: Place
    jobs: int
    calls: int = 3
    seconds: float = 0.15
    concurrency: int = 4
    reap: float = 0.5
    starts: int = 0
    kills: int = 0
    _running: dict[str, Started] = field(default_factory=dict)
    _not_before: dict[str, float] = field(default_factory=dict)

    def run(self, *, kills: int, seed: int) -> None:
        """Keep all processes alive, but for kills, until all jobs have their end.

        A kill comes once a number of jobs has ended that is drawn anew for each.
        """
        chance = random.Random(seed)  # noqa: S311  drawn again from the same seed
        due = sorted(chance.sample(range(self.jobs), kills))
        end = time.monotonic() + PATIENCE_SECONDS * 4
        while (done := len(ended(self.place.folder))) < self.jobs:
            self.keep_alive()
            if self.kills < kills and done >= due[self.kills]:
                self._kill(chance)
            if time.monotonic() > end:
                msg = f"{done} of {self.jobs} jobs ended"
                raise TimeoutError(msg)
            time.sleep(_LOOK_SECONDS)

    def keep_alive(self) -> None:
        """Start what does not run."""
        for name in ("server", "worker-0", "worker-1"):
            process = self._running.get(name)
            if process is not None and process.poll() is None:
                continue
            if time.monotonic() >= self._not_before.get(name, 0.0):
                if process is not None:
                    process.end()
                self._running[name] = self._started(name)
                self._not_before[name] = time.monotonic() + _RESTART_SECONDS

    def close(self) -> None:
        """Kill all processes."""
        for process in self._running.values():
            process.end()

    def _kill(self, chance: random.Random) -> None:
        living = [name for name, one in sorted(self._running.items()) if one.poll() is None]
        process = self._running[chance.choice(living)]
        process.end()
        self.kills += 1

    def _started(self, name: str) -> Started:
        self.starts += 1
        kind = "submitter_process" if name == "server" else "worker_process"
        command = [f"tests.jobs.{kind}", str(self.place.folder)]
        command += ["--url", self.place.url] if self.place.url else []
        if name == "server":
            command += ["--jobs", str(self.jobs)]
        else:
            command += ["--calls", str(self.calls), "--seconds", str(self.seconds)]
            command += ["--concurrency", str(self.concurrency), "--reap", str(self.reap)]
        log = self.place.folder / f"{name}-{self.starts}.log"
        with log.open("wb") as output:
            return start(command, ROOT, os.environ, streams={1: output, 2: output})
