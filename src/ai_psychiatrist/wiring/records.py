"""Stored assessments by the settings: where they are kept, how long, and under which key."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Final

from ai_psychiatrist.access.audit.entry import BEGUN, Action
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.trails import Trails
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import StoreUnusable
from ai_psychiatrist.store.expiry import Swept
from ai_psychiatrist.store.interviews import InterviewBounds
from ai_psychiatrist.store.key_files import StoreKeys
from ai_psychiatrist.store.store import StoreLimits
from ai_psychiatrist.store.stores import KEY_NAME, Stores

_ACTOR: Final = "sweep"


def sweeping(stores: Stores, trails: Trails) -> AbstractAsyncContextManager[None]:
    """Sweep what has expired at once, and every hour while the block runs.

    Each sweep that changes something has a row in its tenant's audit trail before it does, and one
    that says what it did.
    """

    def record(tenant: str, swept: Swept | None) -> None:
        outcome = BEGUN
        if swept is not None:
            outcome = ", ".join(f"{event} {count}" for event, count in swept.counts.items())
        action = Action.RECORDS_SWEPT
        try:
            trails.record(tenant, actor=_ACTOR, action=action, outcome=outcome)
        except AuditUnusable:
            raise StoreUnusable(problem_code="audit_unavailable") from None

    return stores.tended(record)


def stores_of(settings: Settings, folder: Path | None = None) -> Stores:
    """Return the stores of all tenants; nothing is opened before it is needed.

    `folder`: of files that are not in the state folder, whose key is.
    """
    state_dir = settings.data.state_folder
    return Stores(
        folder=folder or state_dir,
        keys=StoreKeys(
            own=state_dir / KEY_NAME,
            named=settings.ledger.key_file,
            kept="the stored assessments",
        ),
        limits=StoreLimits(
            keep=timedelta(days=settings.store.keep_days),
            grace=timedelta(days=settings.store.grace_days),
            sweep_after_jump=settings.store.sweep_after_jump,
            max_records=settings.store.max_records,
            max_bytes=settings.store.max_bytes,
        ),
        interviews=InterviewBounds(
            keep=timedelta(days=settings.interview.keep_days),
            max_stored=settings.interview.max_stored,
            max_bytes=settings.interview.max_stored_bytes,
        ),
    )
