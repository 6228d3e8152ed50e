"""What comes of many requests, and the sweep that shares them out to processes."""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Self

_PROCESSES: Final = 2


@dataclass(slots=True, kw_only=True)
class Findings:
    """What came of the requests."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    """What was found, with the operation → how often."""
    examples: dict[str, str] = field(default_factory=dict)
    """The first request of each kind."""

    def count(self, status: int) -> None:
        """Count a request by the status of its answer."""
        self.requests += 1
        self.statuses[status] += 1

    def note(self, kind: str, shown: str) -> None:
        """Keep something that is wrong, and the request that showed it."""
        self.kinds[kind] += 1
        self.examples.setdefault(kind, shown)

    def include(self, other: Self) -> None:
        """Add what came of other requests."""
        self.requests += other.requests
        self.statuses += other.statuses
        self.kinds += other.kinds
        self.examples = other.examples | self.examples

    def __str__(self) -> str:
        """Return a table."""
        statuses = ", ".join(f"{status}: {n}" for status, n in sorted(self.statuses.items()))
        found = [
            f"  {n} x {kind}\n    {self.examples[kind]}" for kind, n in self.kinds.most_common()
        ]
        total = f"{self.requests} requests, {sum(self.kinds.values())} findings"
        return "\n".join([total, f"  answers by status: {statuses}", *found])


def sweep(share: Callable[[int, int], Findings], *, whole: int, what: str | None) -> int:
    """Send requests from several processes as the arguments of the command say.

    `share`: sends so many with a seed. Prints what was found; returns 1 when that is anything.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--count", type=int, default=whole)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.monotonic()
    seeds = range(options.seed, options.seed + _PROCESSES)
    findings = Findings()
    with ProcessPoolExecutor(_PROCESSES, multiprocessing.get_context("spawn")) as pool:
        for one in pool.map(share, [options.count // _PROCESSES] * _PROCESSES, seeds):
            findings.include(one)
    seconds = time.monotonic() - started
    sys.stdout.write(f"{findings}\n  {seconds:.0f} s, seeds {[*seeds]}\n")
    return 1 if findings.kinds else 0
