"""Jobs of several slow calls, each kept in the store before it counts, and an account of all."""

import asyncio
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ai_psychiatrist.domain.failures import CallPath
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.store.jobs import JobRef, TakenJob
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.job_work import CallWriters, Claimed, JobCalls
from tests.unit.store.stored import RESULT, figures

_WATCH_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledWork:
    """Does jobs whose calls take time; what a dead process finished is not done again."""

    stores: Stores
    folder: Path
    """Of the account."""
    calls: int
    seconds: float
    claimed: Claimed
    writers: CallWriters = field(default_factory=CallWriters)

    async def __call__(self, job: JobRef) -> None:
        """Do a job to its end."""
        records, runner = self.stores.records(job.tenant), self.stores.runner
        taken = await records.ask(lambda store: store.jobs.take(job.id, runner))
        if not isinstance(taken, TakenJob):
            return
        try:
            kept = JobCalls(
                job_id=job.id,
                known=taken.calls,
                seal=taken.seal,
                writer=self.writers.of(records),
                patience_seconds=self.stores.place.patience_seconds,
            )
            looks_at = time.monotonic() + _WATCH_SECONDS
            for number in range(self.calls):
                if await kept.recall(str(number), 0) is None:
                    if time.monotonic() > looks_at:
                        if not await self.claimed.has(job):
                            return
                        looks_at = time.monotonic() + _WATCH_SECONDS
                    await self._call(kept, job, str(number))
            ended = await records.ask(
                lambda store: store.jobs.finish(job.id, runner, RESULT, figures())
            )
            if ended is not None:
                self._note("ended", job, "-")
        except asyncio.CancelledError:
            await records.ask(lambda store: store.jobs.put_back(job.id, runner))
            raise

    async def _call(self, kept: JobCalls, job: JobRef, number: str) -> None:
        self._note("begun", job, number)
        await asyncio.sleep(self.seconds)
        call = ModelCall(agent="a", model="m", path=CallPath.AGENT, digest=number, reply="{}")
        await kept.keep(call)
        self._note("finished", job, number)

    def _note(self, what: str, job: JobRef, number: str) -> None:
        line = f"{what} {os.getpid()} {job.tenant}/{job.id} {number}\n".encode()
        account = os.open(self.folder / "account", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(account, line)
        finally:
            os.close(account)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Which process began and finished which call of which job, in this order."""

    begun: tuple[tuple[int, str, str], ...]
    finished: tuple[tuple[int, str, str], ...]
    ended: tuple[str, ...]
    """Jobs whose end a process stored, the first to end first, as `tenant/id`."""

    @classmethod
    def of(cls, folder: Path) -> "Account":
        """Read the account of the work in a folder."""
        notes: dict[str, list[tuple[int, str, str]]] = {"begun": [], "finished": [], "ended": []}
        path = folder / "account"
        for line in path.read_text("ascii").splitlines() if path.exists() else ():
            what, process, job, number = line.split()
            notes[what].append((int(process), job, number))
        return cls(
            begun=tuple(notes["begun"]),
            finished=tuple(notes["finished"]),
            ended=tuple(job for _, job, _ in notes["ended"]),
        )

    @property
    def repeats(self) -> int:
        """How many calls were made beyond the first of each."""
        return len(self.begun) - len({call[1:] for call in self.begun})

    @property
    def paid_twice(self) -> list[tuple[str, str]]:
        """Calls that were finished more than once."""
        counts = Counter((job, number) for _, job, number in self.finished)
        return [call for call, count in counts.items() if count > 1]

    @property
    def lost_in_flight(self) -> int:
        """How many calls were begun, and not finished by the process that began them."""
        return len(Counter(self.begun) - Counter(self.finished))

    @property
    def processes(self) -> set[int]:
        """Who finished calls."""
        return {process for process, _, _ in self.finished}


def left(stores: Stores) -> int:
    """Return how many jobs have no end yet."""
    state = asyncio.run(stores.ask_all(lambda queue: queue.state(), None))
    return 0 if state is None else state.waiting + state.running
