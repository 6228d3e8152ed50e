"""The store, its runs and audit logs by the settings: where they lie, and under which keys."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.jobs.settings import danger_callback
from ai_psychiatrist.store.address import address_of
from ai_psychiatrist.store.audit import BEGUN, AuditLogs
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.database import StoreLimits
from ai_psychiatrist.store.removal import Swept
from ai_psychiatrist.store.run_places import DatabaseRuns
from ai_psychiatrist.store.stores import KEY_NAME, StorePlace, Stores

_NO_KEY: Final = (
    "DATABASE_URL needs DATA_KEY_FILE, the same key on every machine: make one with "
    "`openssl rand -hex 32`"
)

_NO_DATABASE: Final = (
    "a run in the database needs a PostgreSQL: set DATABASE_URL, and DATA_KEY_FILE, as for the "
    "workers"
)

_ACTOR: Final = "sweep"


def sweeping(stores: Stores, logs: AuditLogs) -> AbstractAsyncContextManager[None]:
    """Sweep what has expired at once, and every hour while the block runs.

    Each sweep that changes something has a row in its tenant's audit log before it does, and one
    that says what it did.
    """

    def record(tenant: str, swept: Swept | None) -> None:
        outcome = BEGUN
        if swept is not None:
            outcome = ", ".join(f"{event} {count}" for event, count in swept.counts.items())
        logs.of(tenant).append(actor=_ACTOR, action="records_swept", outcome=outcome)

    return stores.tended(record)


def stores_of(settings: Settings, folder: Path | None = None) -> Stores:
    """Return the stores of all tenants; nothing is opened before it is needed.

    `folder`: of files that are not in the state folder, whose key is.
    """
    state_dir = settings.data.state_folder
    url = None if folder is not None else address_of(settings.database)
    place = StorePlace(
        folder=folder or state_dir,
        url=url,
        dead_seconds=settings.jobs.reap_seconds,
        patience_seconds=0.0 if url is None else settings.database.patience_seconds,
    )
    if url is not None and settings.data.key_file is None:
        raise ConfigurationError(_NO_KEY)
    return Stores(
        place=place,
        keys=StoreKeys(
            own=state_dir / KEY_NAME,
            named=settings.data.key_file,
        ),
        limits=StoreLimits(
            keep=timedelta(days=settings.store.keep_days),
            grace=timedelta(days=settings.store.grace_days),
            sweep_after_jump=settings.store.sweep_after_jump,
            unique_subjects=settings.store.unique_subjects,
            max_records=settings.store.max_records,
            max_bytes=settings.store.max_bytes,
            keep_deliveries=timedelta(days=settings.jobs_webhook.keep_days),
            remind_unread=timedelta(minutes=settings.danger.remind_minutes),
            danger_callback=danger_callback(settings.danger.callback_url, settings.jobs_webhook),
            keep_interviews=timedelta(days=settings.interview.keep_days),
            max_interviews=settings.interview.max_stored,
            max_interview_bytes=settings.interview.max_stored_bytes,
        ),
    )


def audit_logs_of(stores: Stores) -> AuditLogs:
    """Return the audit logs of all tenants; nothing is opened before it is needed."""
    return AuditLogs(database=stores.database, key=partial(stores.secret, "audit"))


def database_runs(stores: Stores) -> DatabaseRuns:
    """Return the runs in the database.

    Raises `ConfigurationError` where there is no PostgreSQL, and `StoreUnusable`.
    """
    if stores.place.url is None:
        raise ConfigurationError(_NO_DATABASE)
    return DatabaseRuns(runs=stores.open(LOCAL.tenant).runs)
