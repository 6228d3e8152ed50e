"""Jobs through the engine: how much of the ideal is left, what a job costs, how soon it is begun.

`python -m benchmarks.jobs [--url postgresql://...]`; without an address a file alone is measured.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import psycopg
from tests.jobs.filed_work import left
from tests.jobs.places import Place, own_database
from tests.jobs.workers import workers_of

from benchmarks.begun_jobs import BATCH, begun, begun_batch, begun_site

T = TypeVar("T")

CALLS = 9
CHARACTERS = (0, 10_000)
_LOOK_SECONDS = 0.1
"""Whoever measures takes none of the time of two cores that it measures."""
_TEND_SECONDS = 2.0
"""As the program does."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--url",
        default=os.environ.get("TEST_DATABASE_URL", ""),
        help="a PostgreSQL in which databases may be made, instead of TEST_DATABASE_URL",
    )
    given = parser.parse_args(arguments)
    print("| queue | workers | jobs | calls | ideal s | took s | ratio |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: |")
    _row("", workers=1, jobs=64, slots=64, seconds=1.0)
    if given.url:
        _row(given.url, workers=1, jobs=64, slots=64, seconds=1.0)
        for workers, jobs in ((1, 32), (2, 64), (4, 128)):
            _row(given.url, workers=workers, jobs=jobs, slots=16, seconds=0.5)
    print("\n| queue | submit, median ms | 95 % ms | bytes a job |")
    print("| --- | ---: | ---: | ---: |")
    _submitting("")
    if given.url:
        _submitting(given.url)
    print(f"\n| queue | transcript | POST, median ms | 95 % ms | batch of {BATCH:,}, s |")
    print("| --- | --- | ---: | ---: | ---: |")
    _beginning("")
    if given.url:
        _beginning(given.url)


def _row(server: str, *, workers: int, jobs: int, slots: int, seconds: float) -> None:
    """Time from the first job that is handed in to the last end; the workers wait for them."""
    ideal = CALLS * seconds * -(-jobs // (workers * slots))
    took = _on_a_new_queue(
        server, lambda place: _worked(place, workers=workers, jobs=jobs, slots=slots, each=seconds)
    )
    kind = "PostgreSQL" if server else "file"
    calls, figures = f"{CALLS} × {seconds:g} s", f"{ideal:.1f} | {took:.1f} | {ideal / took:.2f}"
    print(f"| {kind} | {workers} | {jobs} | {calls} | {figures} |", flush=True)


def _worked(place: Place, *, workers: int, jobs: int, slots: int, each: float) -> float:
    stores = place.stores()
    with workers_of(place) as started:
        processes = [
            started.start(calls=CALLS, seconds=each, concurrency=slots, tend=_TEND_SECONDS)
            for _ in range(workers)
        ]
        assert len({process.name for process in processes}) == workers
        begun = time.perf_counter()
        place.store_jobs("bench", jobs)
        while left(stores):
            time.sleep(_LOOK_SECONDS)
        took = time.perf_counter() - begun
    stores.close()
    return took


def _submitting(server: str) -> None:
    """Time from one job's words to its row in the queue, one job after the other."""

    def measured(place: Place) -> tuple[list[float], float]:
        place.store_jobs("bench", 1)
        empty, times, count = _size(place), [], 200
        for number in range(count):
            begun = time.perf_counter()
            place.store_jobs("bench", 1, first=1 + number)
            times.append((time.perf_counter() - begun) * 1_000)
        return times, (_size(place) - empty) / count

    times, size = _on_a_new_queue(server, measured)
    high = statistics.quantiles(times, n=20)[-1]
    kind = "PostgreSQL" if server else "file"
    print(f"| {kind} | {statistics.median(times):.1f} | {high:.1f} | {size:.0f} |", flush=True)


def _beginning(server: str) -> None:
    def measured(place: Place) -> tuple[dict[int, list[float]], float]:
        with begun_site(place) as client:
            return {chars: begun(client, chars=chars) for chars in CHARACTERS}, begun_batch(client)

    times, batch_seconds = _on_a_new_queue(server, measured)
    for chars, each in times.items():
        text = f"{chars:,} characters" if chars else "one sentence"
        # Those of a batch are sentences.
        batch = "" if chars else f"{batch_seconds:.2f}"
        figures = f"{statistics.median(each):.1f} | {statistics.quantiles(each, n=20)[-1]:.1f}"
        kind = "PostgreSQL" if server else "file"
        print(f"| {kind} | {text} | {figures} | {batch} |", flush=True)


def _on_a_new_queue(server: str, measure: Callable[[Place], T]) -> T:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(url="", folder=Path(folder))
        if not server:
            return measure(place)
        with own_database(server) as url:
            return measure(Place(url=url, folder=Path(folder)))


def _size(place: Place) -> int:
    """Bytes of the store."""
    if not place.url:
        return sum(path.stat().st_size for path in place.folder.glob("*.sqlite*"))
    with psycopg.connect(place.url) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


if __name__ == "__main__":
    main()
