"""A process that wraps a store's keys anew, or stores assessments, until it is killed."""

import sys
from pathlib import Path

from tests.unit.store.stored import new_record, open_store

from ai_psychiatrist.store.database import utc_now


def main() -> None:
    """Take `rotate`, `add` or, by the clock of the machine, `add_now`; the folder; how often."""
    _, what, folder, times = sys.argv
    store = open_store(Path(folder), clock=utc_now if what == "add_now" else None)
    if what == "rotate":
        _tell("begun")
    for _ in range(int(times)):
        if what == "rotate":
            store.keys.rotate()
        else:
            _tell(store.add(new_record("Anna")).id)


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
