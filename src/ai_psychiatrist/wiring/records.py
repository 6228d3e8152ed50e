"""Stored assessments by the settings: where they are kept, how long, and under which key."""

from datetime import timedelta

from ai_psychiatrist.config import Settings
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.reviews.archive.archive import ArchiveLimits
from ai_psychiatrist.reviews.archives import FOLDER_NAME, KEY_NAME, Archives


def archives_of(settings: Settings) -> Archives:
    """Return the archives of all tenants; nothing is opened before it is needed."""
    state_dir = settings.data.state_folder
    return Archives(
        folder=state_dir / FOLDER_NAME,
        keys=StoreKeys(
            own=state_dir / KEY_NAME,
            named=settings.ledger.key_file,
            kept="the stored assessments",
        ),
        limits=ArchiveLimits(
            keep=timedelta(days=settings.store.keep_days),
            max_records=settings.store.max_records,
        ),
    )
