"""What storing costs: assessments a second, the list of ten thousand, agreement, the audit trail.

The control writes the bytes of a result to a bare SQLite file, one transaction each.
"""

import argparse
import json
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import Committed, ItemRating, ReviewPhase, SpanRating
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.reviews.agreed import agreed
from ai_psychiatrist.reviews.queue import queued
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.store.audit import AuditLogs
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.listing import RecordListRequest, Sort
from ai_psychiatrist.store.opening import open_sqlite
from ai_psychiatrist.store.records import Figures, NewRecord
from ai_psychiatrist.store.store import Store

STORED: Final = 10_000
RESULT_BYTES: Final = 40_000
ROUNDS: Final = 5
_QUICK: Final = 200
_TEXT: Final = parse_transcript(
    "".join(
        f"Interviewer: And day {number}?\nParticipant: I hardly slept, and was tired.\n"
        for number in range(100)
    )
)


def new_record(number: int, draw: np.random.Generator, *, padding: int = RESULT_BYTES) -> NewRecord:
    """Make up an assessment; its result has the size of a real one by so many bytes."""
    items = {
        item.value: {
            "score": None if draw.random() < 0.1 else int(draw.integers(4)),
            "evidence": [
                {"segments": [{"start": (at := int(draw.integers(900))), "end": at + 40}]}
            ],
        }
        for item in Item
    }
    result = json.dumps({"quantitative": {"items": items}, "rest": "x" * padding}).encode()
    unknown = sum(one["score"] is None for one in items.values())
    low = int(draw.integers(0, 20))
    return NewRecord(
        id=f"record-{number}",
        transcript=_TEXT,
        result=result,
        figures=Figures(
            status="complete",
            total_min=low,
            total_max=low + 3,
            unknown_items=unknown,
            width=int(draw.integers(12)),
            danger=RiskLevel.NONE,
            models=("baseline",),
        ),
    )


def rating(draw: np.random.Generator) -> Committed:
    """Make up what a rater commits."""
    items = tuple(
        ItemRating(
            item=item,
            score=int(draw.integers(4)),
            evidence=(SpanRating(start=(at := int(draw.integers(900))), end=at + 40),),
        )
        for item in Item
    )
    return Committed(items=items, phase=ReviewPhase.BLIND)


def seconds_of(work: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    """Return the median time of a call."""
    walls = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        walls.append(time.perf_counter() - start)
    return statistics.median(walls)


def each(work: Callable[[int], object], count: int) -> float:
    """Return the mean time of so many calls."""
    start = time.perf_counter()
    for number in range(count):
        work(number)
    return (time.perf_counter() - start) / count


def bare(path: Path, content: bytes, count: int) -> float:
    """Return the time of a transaction that writes as many bytes and seals nothing."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB)")
    found = each(
        lambda _: database.execute("INSERT INTO bodies (body) VALUES (?)", (content,)), count
    )
    database.close()
    return found


def rows(folder: Path, stored: int) -> Iterator[str]:
    """Yield the lines of the table."""
    draw = np.random.default_rng(0)
    database = open_sqlite(folder)
    store = Store(database, StoreKeys(own=folder / "key"), LOCAL.tenant)
    yield "| what | ms each | a second | control, ms |"
    yield "| --- | ---: | ---: | ---: |"
    control = bare(folder / "bare.sqlite", new_record(0, draw).result or b"", min(stored, 1_000))
    yield _line("store", each(lambda number: store.add(new_record(number, draw)), stored), control)
    read = each(lambda number: store.get(f"record-{number}"), min(stored, 1_000))
    yield _line("read one", read)
    for sort in Sort:
        wanted = RecordListRequest(rater="ann", sort=sort)
        spent = seconds_of(partial(store.lists.page, wanted))
        yield _line(f"a page of {stored:,}, by {sort}", spent)
    yield _line(f"the queue of {stored:,}", seconds_of(lambda: queued(store, LOCAL, limit=10)))
    for number in range(stored):
        for rater in ("ann", "ben"):
            store.reviews.begin(f"record-{number}", rater)
            store.reviews.append(f"record-{number}", rater, rating(draw))
    pairs = f"agreement, {stored:,} cases of two raters"
    yield _line(f"{pairs}, first", seconds_of(lambda: agreed(store, LOCAL), rounds=1))
    yield _line(f"{pairs}, unchanged", seconds_of(lambda: agreed(store, LOCAL)))
    log = AuditLogs(database=lambda: database, key=lambda: bytes(32)).of(LOCAL.tenant)
    entry = each(
        lambda _: log.append(actor="local", action="assessment_seen", outcome="200"),
        min(stored, 500),
    )
    yield _line("a row of the audit log", entry, control)
    database.close()


def _line(what: str, seconds: float, control: float | None = None) -> str:
    beside = "" if control is None else f"{1000 * control:.2f} (× {seconds / control:.1f})"
    return f"| {what} | {1000 * seconds:.2f} | {1 / seconds:,.0f} | {beside} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="archive", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer assessments")
    stored = _QUICK if parser.parse_args(arguments).quick else STORED
    with TemporaryDirectory() as folder:
        for line in rows(Path(folder), stored):
            print(line, flush=True)


if __name__ == "__main__":
    main()
