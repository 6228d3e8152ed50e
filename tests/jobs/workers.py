"""Worker processes that tests start, kill and end."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.integration.started import Started, start
from tests.jobs.places import Place

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerProcess:
    """A worker process, and where it writes."""

    process: Started
    log: Path

    @property
    def id(self) -> int:
        """The id of the process."""
        return self.process.pid

    @property
    def name(self) -> str:
        """Its name among those of the store; waits until it takes jobs."""
        said = self.process.stdout.readline().decode().strip()
        assert said.startswith("worker "), self.log.read_text("utf-8")
        return said.removeprefix("worker ")

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def pause(self) -> None:
        """Let it stand still."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on after a pause."""
        self.process.send_signal(signal.SIGCONT)

    def ask_to_end(self) -> int:
        """End it kindly; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


class Workers:
    """The workers of one store."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._started: list[WorkerProcess] = []

    def start(self, **options: float) -> WorkerProcess:
        """Start a worker; options are those of `tests.jobs.worker_process`."""
        command = ["tests.jobs.worker_process", str(self._place.folder)]
        command += ["--url", self._place.url] if self._place.url else []
        for name, value in options.items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        log = self._place.folder / f"worker-{len(self._started)}.log"
        with log.open("wb") as errors:
            process = start(command, ROOT, os.environ, streams={2: errors})
        worker = WorkerProcess(process=process, log=log)
        self._started.append(worker)
        return worker

    def close(self) -> None:
        """Kill those that are left."""
        for worker in self._started:
            worker.process.end()


@contextmanager
def workers_of(place: Place) -> Iterator[Workers]:
    """Yield what starts workers; all are gone at the end."""
    workers = Workers(place)
    try:
        yield workers
    finally:
        workers.close()
