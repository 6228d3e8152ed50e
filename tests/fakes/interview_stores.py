"""Stores of interviews over files that nobody else uses in the process."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.database import Database, StoreLimits
from ai_psychiatrist.store.opening import open_sqlite
from ai_psychiatrist.store.store import Store

KEY_NAME = "own.key"


@dataclass(frozen=True, slots=True)
class OwnInterviewStore(InterviewStore):
    """A store that whoever opened it closes."""

    database: Database
    store: Store

    def close(self) -> None:
        """Close the files."""
        self.database.close()


def open_interviews(
    folder: Path,
    *,
    keys: StoreKeys | None = None,
    limits: StoreLimits | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> OwnInterviewStore:
    """Open the store of a folder; without keys, one is kept beside the files."""
    database = open_sqlite(folder)
    try:
        own = keys or StoreKeys(own=folder / KEY_NAME)
        store = Store(database, own, "local", limits=limits, clock=clock)
    except BaseException:
        database.close()
        raise
    return OwnInterviewStore(store.interviews, database, store)
