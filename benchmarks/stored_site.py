"""A real server over ten thousand stored assessments, one of them with many turns and marks."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
import numpy as np

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.store.records import NewRecord, figures_of
from ai_psychiatrist.wiring.records import stores_of
from benchmarks.archive import new_record
from benchmarks.marked_interview import marked_assessment
from benchmarks.processes import served

MARKED: Final = "marked-record"
"""Id of the one with many turns and marks."""
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
_BYTES: Final = 200
"""Of each other result: no list reads it."""
_PATIENCE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class StoredSite:
    """Where the server is."""

    url: str

    def server_ms(self, path: str, *, rounds: int) -> float:
        """Return the shortest time of an answer, its body included."""
        with httpx.Client(base_url=self.url, trust_env=False, timeout=_PATIENCE_SECONDS) as client:
            return min(_seconds(client, path) for _ in range(rounds)) * 1000


@contextmanager
def stored_site(stored: int) -> Iterator[StoredSite]:
    """Store so many, and serve them while the block runs."""
    # Nothing waits for a disk here: what storing costs is measured by itself.
    place = _IN_MEMORY if _IN_MEMORY.is_dir() else None
    with TemporaryDirectory(dir=place) as folder:
        _store(Path(folder), stored)
        with served(Path(folder)) as url:
            yield StoredSite(url)


def _store(state_dir: Path, stored: int) -> None:
    draw = np.random.default_rng(0)
    settings = load_settings({"DATA_STATE_DIR": str(state_dir)}, dotenv=None)
    stores = stores_of(settings)
    store = stores.open(LOCAL.tenant)
    for number in range(stored - 1):
        store.add(new_record(number, draw, padding=_BYTES))
    result, transcript = marked_assessment()
    content = result.model_dump_json().encode()
    figures = figures_of(result)
    store.add(NewRecord(id=MARKED, transcript=transcript, result=content, figures=figures))
    stores.close()


def _seconds(client: httpx.Client, path: str) -> float:
    start = time.perf_counter()
    client.get(path).raise_for_status()
    return time.perf_counter() - start
