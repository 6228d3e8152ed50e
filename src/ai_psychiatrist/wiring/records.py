"""The store and the audit logs by the settings: where they lie, and under which keys."""

from datetime import timedelta

from ai_psychiatrist.access.audit import AuditLogs
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure import digests
from ai_psychiatrist.infrastructure.given_files import reason_of
from ai_psychiatrist.infrastructure.private_files import STATE_DIR_CURE
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
        ),
        interviews=InterviewBounds(
            keep=timedelta(days=settings.interview.keep_days),
            max_stored=settings.interview.max_stored,
            max_bytes=settings.interview.max_stored_bytes,
        ),
    )


def audit_logs_of(settings: Settings, stores: Stores) -> AuditLogs:
    """Return the audit logs of all tenants, sealed with the key of the installation.

    Raises `ConfigurationError` where that key cannot be read or kept: later rows would not fit.
    """
    try:
        key = digests.load_installation_key(settings.data.state_folder / digests.KEY_NAME)
    except OSError as error:
        reason = f"{reason_of(error)}; {STATE_DIR_CURE}"
        msg = f"the key of the installation cannot be read or kept: {reason}"
        raise ConfigurationError(msg) from None
    return AuditLogs(database=stores.database, key=key)
