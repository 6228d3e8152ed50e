"""How interviews with simulated participants go: what they find out, and what they ask for it."""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.fakes.participant import Style
from tests.fakes.participant_incident import Step, lead_incidents
from tests.fakes.participant_interviews import Conducted, conduct
from tests.sweeps import SIMULATED_INCIDENTS, SIMULATED_INTERVIEWS

from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.infrastructure.logging import setup_logging
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.protocol import load_protocol
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.opening import open_sqlite
from ai_psychiatrist.store.store import Store

ASKS_OF_REFUSED: Final = 2
"""A protocol ends when each open item was asked for as often as it allows, which is twice."""
ALLOWED: Final = {
    Step.BEGIN: 2,
    Step.OFFERED: 1,
    Step.FREE_TEXT: 2,
    Step.REPORT: 1,
    Step.REPORT_AGAIN: 0,
}
"""Calls that a caller may wait for one after the other."""
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of the system, used where it is there


@contextmanager
def opened_store() -> Iterator[InterviewStore]:
    """Open a store; what it holds is gone afterwards."""
    folder = str(_IN_MEMORY) if _IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=folder) as name:
        database = open_sqlite(Path(name))
        try:
            keys = StoreKeys(own=Path(name) / "own.key")
            yield InterviewStore(Store(database, keys, LOCAL.tenant).interviews)
        finally:
            database.close()


def simulate(count: int, *, is_in_danger: bool = False) -> tuple[Conducted, ...]:
    """Lead interviews, the styles by turns."""

    async def lead(store: InterviewStore) -> tuple[Conducted, ...]:
        service = InterviewService({"phq8": load_protocol("phq8")}, store)
        styles = [list(Style)[seed % len(Style)] for seed in range(count)]
        return tuple(
            [
                await conduct(service, style, seed, is_in_danger=is_in_danger)
                for seed, style in enumerate(styles)
            ]
        )

    with opened_store() as store:
        return asyncio.run(lead(store))


def rows(conducted: Sequence[Conducted]) -> Iterator[str]:
    """Write the table by style, and all together last."""
    yield (
        "| style | interviews | questions | excess | excess, refused items asked for once | right "
        "| wrong | left unknown | refused, unknown | leading | repeated | held | calls a turn |"
    )
    yield "| --- |" + " ---: |" * 12
    for style in Style:
        yield _row(style.value, [one for one in conducted if one.style is style])
    yield _row("all", conducted)


def _row(name: str, of: Sequence[Conducted]) -> str:
    def total(count: Callable[[Conducted], int]) -> int:
        return sum(map(count, of))

    questions = total(lambda one: len(one.exchanges))
    cells = (
        len(of),
        f"{questions / len(of):.2f}",
        f"{mean_excess(of):+.3f}",
        f"{mean_excess(of, asks_of_refused=1):+.3f}",
        total(lambda one: len(one.right)),
        total(lambda one: len(one.wrong)),
        total(lambda one: len(one.left_open)),
        total(lambda one: len(one.refused_unknown)),
        total(lambda one: one.leading_questions),
        total(lambda one: one.repeated_questions),
        total(lambda one: one.final.state is InterviewState.SAFETY_HOLD),
        f"{total(lambda one: one.final.spent.calls) / questions:.2f}",
    )
    return f"| {name} | {' | '.join(map(str, cells))} |"


def mean_excess(of: Sequence[Conducted], *, asks_of_refused: int = ASKS_OF_REFUSED) -> float:
    """Return how many questions more than the minimum an interview takes."""
    return sum(one.excess(asks_of_refused=asks_of_refused) for one in of) / len(of)


def misread(conducted: Sequence[Conducted]) -> Iterator[str]:
    """Yield the plain answers that did not lead to their score, with what they led to."""
    counts: Counter[tuple[str, int, int | None, str]] = Counter()
    for one in conducted:
        for exchange in one.exchanges:
            truth = one.participant.truths[exchange.item]
            is_right = exchange.score == truth.score or not exchange.said.is_plain
            is_guessed = exchange.score is not None and not exchange.said.is_plain
            if is_guessed or not is_right:
                key = (exchange.item.label, truth.score, exchange.score, exchange.said.text)
                counts[key] += 1
    for (item, truth_score, score, text), times in counts.most_common():
        yield f"{times:>4} × {item}, true {truth_score}, read {score}: {text}"


def incident_rows(count: int) -> Iterator[str]:
    """Lead interviews about an incident and write what each step costs in calls."""
    yield "| incident | steps | calls a step | sequential, mean | sequential, most | allowed |"
    yield "| --- |" + " ---: |" * 5
    for is_combined, digest in ((False, "three calls at once"), (True, "one call")):
        with opened_store() as store:
            costs = asyncio.run(lead_incidents(store, count, is_combined=is_combined))
        for step in Step:
            of = [cost for cost in costs if cost.step is step]
            calls = sum(cost.calls for cost in of) / len(of)
            sequential = [cost.sequential for cost in of]
            yield (
                f"| {step.value}, digest in {digest} | {len(of)} | {calls:.2f} "
                f"| {sum(sequential) / len(of):.2f} | {max(sequential)} | {ALLOWED[step]} |"
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="interview", description=__doc__)
    parser.add_argument("--interviews", type=int, default=SIMULATED_INTERVIEWS.whole)
    parser.add_argument("--dangers", type=int, default=SIMULATED_INTERVIEWS.whole)
    parser.add_argument("--incidents", type=int, default=SIMULATED_INCIDENTS.whole)
    parser.add_argument("--misread", action="store_true", help="list the answers read wrongly")
    options = parser.parse_args(arguments)
    setup_logging("CRITICAL")
    started = time.perf_counter()
    conducted = simulate(options.interviews)
    print("\n".join(rows(conducted)))
    if options.misread:
        print("\n".join(["", *misread(conducted)]))
    in_danger = simulate(options.dangers, is_in_danger=True)
    held = sum(one.was_held for one in in_danger)
    print(f"\nDanger stated at a random turn: held in the same turn {held} of {len(in_danger)}.")
    if options.misread:
        missed = Counter(one.missed_danger for one in in_danger if one.missed_danger)
        print("\n".join(f"{times:>4} × not held: {text}" for text, times in missed.most_common()))
    print("\n" + "\n".join(incident_rows(options.incidents)))
    print(f"\n{time.perf_counter() - started:.0f} s.")


if __name__ == "__main__":
    main()
