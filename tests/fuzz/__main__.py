"""Run the fuzz campaign and print its counts; ends with status 1 at the first failure."""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.fuzz.campaign import run_in_process
from tests.fuzz.damaged_replies import report_damaged_replies
from tests.fuzz.hostile import recorded_replies
from tests.fuzz.interview import run_interviews
from tests.fuzz.interview_items import run_item_interviews
from tests.fuzz.invariants import InvariantBroken
from tests.fuzz.over_http import run_over_http
from tests.fuzz.tally import Tally
from tests.sweeps import (
    DAMAGED_REPLIES,
    FUZZED_ASSESSMENTS,
    FUZZED_INTERVIEWS,
    FUZZED_ITEM_INTERVIEWS,
    FUZZED_OVER_HTTP,
)

_IN_PROCESS_CHUNK = 250
_OVER_HTTP_CHUNK = 50
_INTERVIEWS_CHUNK = 25
_PROGRESS_EVERY = 10

Run = Callable[[range, Path], Tally]


def main() -> int:
    """Spread the seeds over processes; returns the exit status."""
    options = _options()
    _tell(
        f"Fuzzing {options.assessments} assessments in process, {options.http} over HTTP, "
        f"{options.interviews} interviews held with models and {options.item_interviews} about "
        f"items from seed {options.seed}, with {len(recorded_replies())} recorded replies.",
    )
    started = time.monotonic()
    if not report_damaged_replies(range(options.seed, options.seed + options.replies)):
        return 1
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(options.processes, multiprocessing.get_context("spawn")) as pool,
    ):
        chunks = list(_chunks(options))
        runs = {pool.submit(run, seeds, Path(folder)): run for run, seeds in chunks}
        total = Tally()
        try:
            for done, future in enumerate(as_completed(runs), start=1):
                total.add(future.result())
                _progress(done, len(chunks), total, started)
        except InvariantBroken as broken:
            _give_up(runs)
            _tell(_explained(broken))
            return 1
    _tell("\n".join(total.lines()))
    _tell(f"\nNothing broke in {time.monotonic() - started:.0f} s.")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument(
        "--assessments", type=int, help="in process", default=FUZZED_ASSESSMENTS.whole
    )
    parser.add_argument("--http", type=int, help="over HTTP", default=FUZZED_OVER_HTTP.whole)
    parser.add_argument(
        "--interviews", type=int, help="held with models", default=FUZZED_INTERVIEWS.whole
    )
    parser.add_argument(
        "--item-interviews",
        type=int,
        help="held about items",
        default=FUZZED_ITEM_INTERVIEWS.whole,
    )
    parser.add_argument("--replies", type=int, help="damaged ones", default=DAMAGED_REPLIES.whole)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args()


def _chunks(options: argparse.Namespace) -> Iterator[tuple[Run, range]]:
    yield from _cut(run_over_http, options.seed, options.http, _OVER_HTTP_CHUNK)
    yield from _cut(run_interviews, options.seed, options.interviews, _INTERVIEWS_CHUNK)
    yield from _cut(run_item_interviews, options.seed, options.item_interviews, _INTERVIEWS_CHUNK)
    yield from _cut(run_in_process, options.seed, options.assessments, _IN_PROCESS_CHUNK)


def _cut(run: Run, first: int, count: int, size: int) -> Iterator[tuple[Run, range]]:
    end = first + count
    for start in range(first, end, size):
        yield run, range(start, min(start + size, end))


def _progress(done: int, chunks: int, total: Tally, started: float) -> None:
    if done % _PROGRESS_EVERY == 0 or done == chunks:
        seconds = time.monotonic() - started
        done_so_far = f"{total.assessments} assessments, {total.interviews} interviews"
        _tell(f"{done_so_far} after {seconds:.0f} s")


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _give_up(runs: dict[Future[Tally], Run]) -> None:
    for future in runs:
        future.cancel()


def _explained(broken: InvariantBroken) -> str:
    return (
        f"Broken: {broken.invariant} (seed {broken.seed})\n{broken.detail}\n"
        f"Again: python -m tests.fuzz --seed {broken.seed} --assessments 1 --http 1 "
        "--interviews 1 --item-interviews 1"
    )


if __name__ == "__main__":
    sys.exit(main())
