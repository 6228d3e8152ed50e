"""The store and the audit logs by the settings: where they lie, and under which keys."""

from datetime import timedelta
from functools import partial
from typing import Final

from ai_psychiatrist.access.audit import AuditLogs
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.store.address import address_of
from ai_psychiatrist.store.interviews import InterviewBounds
from ai_psychiatrist.store.key_files import StoreKeys
from ai_psychiatrist.store.store import StoreLimits
from ai_psychiatrist.store.stores import KEY_NAME, StorePlace, Stores

_NO_KEY: Final = (
    "DATABASE_URL needs DATA_KEY_FILE, the same key on every machine: make one with "
    "`openssl rand -hex 32`"
)


def stores_of(settings: Settings) -> Stores:
    """Return the stores of all tenants; nothing is opened before it is needed."""
    folder = settings.data.state_folder
    url = address_of(settings.database)
    place = StorePlace(
        folder=folder,
        url=url,
        dead_seconds=settings.jobs.reap_seconds,
        patience_seconds=0.0 if url is None else settings.database.patience_seconds,
    )
    if url is not None and settings.data.key_file is None:
        raise ConfigurationError(_NO_KEY)
    return Stores(
        place=place,
        keys=StoreKeys(
            own=folder / KEY_NAME,
            named=settings.data.key_file,
            kept="the stored assessments",
        ),
        limits=StoreLimits(
            keep=timedelta(days=settings.store.keep_days),
            max_records=settings.store.max_records,
        ),
        interviews=InterviewBounds(
            keep=timedelta(days=settings.interview.keep_days),
            max_stored=settings.interview.max_stored,
            max_bytes=settings.interview.max_stored_bytes,
        ),
    )


def audit_logs_of(stores: Stores) -> AuditLogs:
    """Return the audit logs of all tenants; nothing is opened before it is needed."""
    return AuditLogs(database=stores.database, key=partial(stores.secret, "audit"))
