"""Stores and assessments for tests of what is stored."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ai_psychiatrist.domain.phq8 import Item, Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import Committed, ItemRating, ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.database import StoreLimits
from ai_psychiatrist.store.jobs import JobListRequest, TakenJob
from ai_psychiatrist.store.opening import open_sqlite
from ai_psychiatrist.store.queue import Queue
from ai_psychiatrist.store.records import Figures, NewRecord
from ai_psychiatrist.store.store import Store

WORD = "quillaya"
TRANSCRIPT = parse_transcript(
    f"Interviewer: How are you?\nParticipant: I sleep badly every night, {WORD}.\n"
)
RESULT = f'{{"words": "{WORD}"}}'.encode()
RATINGS = Committed(
    items=tuple(ItemRating(item=item, score=1) for item in Item), phase=ReviewPhase.BLIND
)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return what it shows; a second later each time."""
        self.now += timedelta(seconds=1)
        return self.now


def keys_in(folder: Path, *, named: Path | None = None) -> StoreKeys:
    return StoreKeys(own=folder / "records.key", named=named)


class OpenedStore(Store):
    """A tenant's store over files that nobody else uses in the process."""

    def __init__(self, folder: Path, tenant: str, **options: Any) -> None:
        self.files = open_sqlite(folder)
        try:
            super().__init__(self.files, options.pop("keys"), tenant, **options)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the files."""
        self.files.close()


def open_store(
    folder: Path,
    *,
    tenant: str = "local",
    clock: Callable[[], datetime] | None = None,
    limits: StoreLimits | None = None,
    named: Path | None = None,
) -> OpenedStore:
    return OpenedStore(
        folder,
        tenant,
        keys=keys_in(folder, named=named),
        limits=limits,
        clock=clock or Clock(),
    )


def figures(total: int = 10, **changed: object) -> Figures:
    fields: dict[str, object] = {
        "status": "complete",
        "total_min": total,
        "total_max": total,
        "severity_lower": Severity(min(total // 5, 4)),
        "severity_upper": Severity(min(total // 5, 4)),
        "unknown_items": 0,
        "width": 3,
        "danger": RiskLevel.NONE,
        "models": ("baseline",),
    }
    return Figures(**(fields | changed))  # type: ignore[arg-type]  # a builder's fields


def taken(store: OpenedStore, name: str, runner: str) -> TakenJob:
    """Take a job whose turn it is."""
    claimed = Queue(database=store.files).claim(runner)
    assert claimed is not None
    assert claimed.id == name
    found = store.jobs.take(name, runner)
    assert isinstance(found, TakenJob)
    return found


def waiting(store: Store) -> list[str]:
    """Return the jobs that wait, the oldest first."""
    page = store.jobs.page(JobListRequest(state=RecordState.WAITING))
    return [job.job_id for job in reversed(page.jobs)]


def new_record(subject: str | None = None, of: Figures | None = None) -> NewRecord:
    return NewRecord(
        id=str(uuid.uuid4()),
        transcript=TRANSCRIPT,
        subject=subject,
        result=RESULT,
        figures=of or figures(),
    )
