"""The memory of a process and all its children, and the processor's time that it has used."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BAR_MEGABYTES: Final = 600.0
_EVERY_SECONDS: Final = 0.05
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Peak:
    """The most at a time, in megabytes of 10⁶ bytes; what is shared is counted once."""

    megabytes: float = 0.0
    of_processes: tuple[float, ...] = ()
    """Of each at the peak, the first one being the server."""

    def __str__(self) -> str:
        """Return how much each process had."""
        return " + ".join(f"{megabytes:.0f}" for megabytes in self.of_processes)


@contextmanager
def watching_memory(pid: int) -> Iterator[Peak]:
    """Look every 50 ms while the block runs."""
    peak, enough = Peak(), threading.Event()

    def look() -> None:
        is_over = False
        while not is_over:
            found = tuple(map(_megabytes, family(pid)))
            if sum(found) > peak.megabytes:
                peak.megabytes, peak.of_processes = sum(found), found
            is_over = enough.wait(_EVERY_SECONDS)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        enough.set()
        thread.join()


def family(pid: int) -> list[int]:
    """Return a process and all its children's children."""
    found = [pid]
    for one in found:
        for thread in _listed(Path(f"/proc/{one}/task")):
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def cpu_seconds(pid: int) -> float:
    """Return the processor's time of a process, its ended children and those that run."""
    return sum(map(_cpu_seconds, family(pid)))


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def _megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
