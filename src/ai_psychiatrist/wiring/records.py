"""Stored assessments by the settings: where they are kept, how long, and under which key."""

from datetime import timedelta

from ai_psychiatrist.config import Settings
from ai_psychiatrist.store.interviews import InterviewBounds
from ai_psychiatrist.store.key_files import StoreKeys
from ai_psychiatrist.store.store import StoreLimits
from ai_psychiatrist.store.stores import KEY_NAME, Stores


def stores_of(settings: Settings) -> Stores:
    """Return the stores of all tenants; nothing is opened before it is needed."""
    state_dir = settings.data.state_folder
    return Stores(
        folder=state_dir,
        keys=StoreKeys(
            own=state_dir / KEY_NAME,
            named=settings.ledger.key_file,
            kept="the stored assessments",
        ),
        limits=StoreLimits(
            keep=timedelta(days=settings.store.keep_days),
            max_records=settings.store.max_records,
            keep_deliveries=timedelta(days=settings.jobs_webhook.keep_days),
        ),
        interviews=InterviewBounds(
            keep=timedelta(days=settings.interview.keep_days),
            max_stored=settings.interview.max_stored,
            max_bytes=settings.interview.max_stored_bytes,
        ),
    )
