"""Jobs of several slow calls, each kept in a file before it counts, and an account of all calls."""

import asyncio
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.jobs.engine import JobRef


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledWork:
    """Does jobs whose calls take time; what a dead process finished is not done again."""

    folder: Path
    calls: int
    seconds: float

    async def __call__(self, job: JobRef) -> RecordState:
        """Do a job to its end."""
        place = self.folder / "kept" / job.tenant / job.id
        place.mkdir(parents=True, exist_ok=True)
        for number in range(self.calls):
            kept = place / str(number)
            if not kept.exists():
                self._note("begun", job, number)
                await asyncio.sleep(self.seconds)
                kept.touch()
                self._note("finished", job, number)
        (place / "end").touch()
        return RecordState.FINISHED

    def _note(self, what: str, job: JobRef, number: int) -> None:
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

    @classmethod
    def of(cls, folder: Path) -> "Account":
        """Read the account of the work in a folder."""
        notes: dict[str, list[tuple[int, str, str]]] = {"begun": [], "finished": []}
        path = folder / "account"
        for line in path.read_text("ascii").splitlines() if path.exists() else ():
            what, process, job, number = line.split()
            notes[what].append((int(process), job, number))
        return cls(begun=tuple(notes["begun"]), finished=tuple(notes["finished"]))

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


def ended_in_order(folder: Path) -> list[str]:
    """Return the jobs that have their end, the first to end first, as `tenant/id`."""
    kept = folder / "kept"
    ends = sorted(kept.glob("*/*/end"), key=lambda path: path.stat().st_mtime_ns)
    return [str(path.parent.relative_to(kept)) for path in ends]


def ended(folder: Path) -> set[str]:
    """Return the jobs that have their end, as `tenant/id`."""
    kept = folder / "kept"
    return {str(path.parent.relative_to(kept)) for path in kept.glob("*/*/end")}
