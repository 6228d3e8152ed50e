"""Workers that are started again whenever they end, as a supervisor does."""

import os
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import StoreUnusable
from tests.integration.started import Started, start
from tests.jobs.filed_work import left
from tests.jobs.places import Place
from tests.patience import PATIENCE_SECONDS

ROOT: Final = Path(__file__).parents[2]
_LOOK_SECONDS: Final = 0.2
_RESTART_SECONDS: Final = 2.0
"""Least time between two starts of the same process."""
_WORKERS: Final = 3


@dataclass(slots=True)
class Fleet:
    """Processes that do the jobs of one store."""

    place: Place
    jobs: int
    calls: int = 3
    seconds: float = 0.15
    concurrency: int = 4
    starts: int = 0
    kills: int = 0
    _running: dict[int, Started] = field(default_factory=dict)
    _not_before: dict[int, float] = field(default_factory=dict)

    def run(self, *, kills: int, seed: int) -> None:
        """Keep all processes alive, but for kills, until all jobs have their end.

        A kill comes once a number of jobs has ended that is drawn anew for each.
        """
        for number in range(3):
            self.place.store_jobs(f"t{number}", len(range(number, self.jobs, 3)))
        chance = random.Random(seed)  # noqa: S311  drawn again from the same seed
        due = sorted(chance.sample(range(self.jobs // 2), kills))
        end = time.monotonic() + PATIENCE_SECONDS * 4
        stores = self.place.stores()
        done = 0
        while done < self.jobs:
            self.keep_alive()
            if self.kills < kills and done >= due[self.kills]:
                self._kill(chance)
            if time.monotonic() > end:
                msg = f"{done} of {self.jobs} jobs ended"
                raise TimeoutError(msg)
            time.sleep(_LOOK_SECONDS)
            try:
                done = self.jobs - left(stores)
            except StoreUnusable:
                continue
        stores.close()

    def keep_alive(self) -> None:
        """Start what does not run."""
        for number in range(_WORKERS):
            process = self._running.get(number)
            if process is not None and process.poll() is None:
                continue
            if time.monotonic() >= self._not_before.get(number, 0.0):
                if process is not None:
                    process.end()
                self._running[number] = self._started(number)
                self._not_before[number] = time.monotonic() + _RESTART_SECONDS

    def close(self) -> None:
        """Kill all processes."""
        for process in self._running.values():
            process.end()

    def _kill(self, chance: random.Random) -> None:
        living = [number for number, one in sorted(self._running.items()) if one.poll() is None]
        process = self._running[chance.choice(living)]
        process.end()
        self.kills += 1

    def _started(self, number: int) -> Started:
        self.starts += 1
        command = ["tests.jobs.worker_process", str(self.place.folder)]
        if self.place.url:
            # Another machine: it shares nothing but the database and the key.
            command += ["--url", self.place.url]
            command += ["--state", str(self.place.folder / f"machine-{number}")]
        command += ["--calls", str(self.calls), "--seconds", str(self.seconds)]
        command += ["--concurrency", str(self.concurrency)]
        log = self.place.folder / f"worker-{number}-{self.starts}.log"
        with log.open("wb") as output:
            return start(command, ROOT, os.environ, streams={1: output, 2: output})
