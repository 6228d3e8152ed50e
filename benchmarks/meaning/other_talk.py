"""How much of what is told of talk about other things is right, in each half of the conversations.

Rules may be tuned to one half; the other is set aside, and only its figures are an estimate.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.meaning import danger, items
from benchmarks.meaning.agreement import share_of
from benchmarks.meaning.sets import TUNING, Record, records_of

FOLDER: Final = TUNING / "other_talk"
PUBLIC: Final = "public.jsonl"
_PATIENT: Final = "patient"
_CONFIDENCES: Final = (1, 2, 3, 4, 5)
_SERIOUS: Final = frozenset({"moderate", "high"})


def is_set_aside(record: Record) -> bool:
    """Return which half a conversation belongs to, by its id alone."""
    return hashlib.sha256(str(record["id"]).encode()).digest()[0] % 2 == 1


def other_talk(*, set_aside: bool) -> tuple[Record, ...]:
    """Load one half: what was written for it, and public talk where `TEST_DATA_DIR` is set."""
    written = (
        record
        for file in sorted(FOLDER.glob("*.jsonl"))
        if file.name != PUBLIC
        for record in records_of(file)
    )
    return tuple(one for one in (*written, *_public()) if is_set_aside(one) is set_aside)


def _public() -> Iterator[Record]:
    """Yield the public conversations in which a patient speaks, with their labels."""
    folder = os.environ.get("TEST_DATA_DIR")
    if folder is None:
        return
    path = Path(folder) / "transcripts" / "conversations.jsonl"
    turns = {one["id"]: one["turns"] for one in records_of(path)}
    for labels in records_of(FOLDER / PUBLIC):
        said = turns[labels["id"]]
        if any(turn["speaker"].casefold() == _PATIENT for turn in said):
            yield {**labels, "kind": "consultation", "turns": said}


def tables() -> Iterator[str]:
    """Yield the lines of the tables of both halves."""
    for name, aside in (("tuned on", False), ("set aside", True)):
        records = other_talk(set_aside=aside)
        found = items.findings(records)
        yield f"\n### Talk about other things, the half {name}: {len(records)} conversations\n"
        yield from _kinds_table(records, found)
        yield ""
        yield from _curve(found)
        yield ""
        yield from _alarms(records)


def _kinds_table(records: Sequence[Record], found: Sequence[items.Finding]) -> Iterator[str]:
    yield f"| talk | {items.COLUMNS}"
    width = len(found) // len(records)
    for kind in sorted({record["kind"] for record in records}):
        of_kind = [
            one
            for at, record in enumerate(records)
            if record["kind"] == kind
            for one in found[at * width : (at + 1) * width]
        ]
        yield items.row(kind, of_kind)
    yield items.row("all", found)


def _curve(found: Sequence[items.Finding]) -> Iterator[str]:
    """Yield how precise the proposals are, and how many, from each confidence on."""
    yield "| confidence, at least | 1–3 right | zeros right | present, scored | denied, zero |"
    yield "| ---: | ---: | ---: | ---: | ---: |"
    for least in _CONFIDENCES:
        yield items.row(str(least), items.only(found, [one.confidence >= least for one in found]))


def _alarms(records: Iterable[Record]) -> Iterator[str]:
    """Yield how many conversations raise an alarm, with danger now and without any."""
    yield "| talk | no danger, alarm | danger now, alarm |\n| --- | ---: | ---: |"
    read = [(record, danger.readings([record])[0]) for record in records]
    for kind in (*sorted({record["kind"] for record, _ in read}), "all"):
        of = [pair for pair in read if kind in {pair[0]["kind"], "all"}]
        own = [one for record, one in of if one.is_own]
        safe = [one for record, one in of if not is_serious(record)]
        cells = (share_of(some, lambda one: one.is_alarm) for some in (safe, own))
        yield f"| {kind} | {' | '.join(map(str, cells))} |"
    yield ""
    yield from danger.precision_table([(one, is_serious(record)) for record, one in read])


def is_serious(record: Record) -> bool:
    """Whether somebody has to look, for the speaker's sake or another's."""
    return any(
        label["status"] not in {"denied", "past"} and label["level"] in _SERIOUS
        for label in record.get("danger") or ()
    )


if __name__ == "__main__":
    print("\n".join(tables()))
