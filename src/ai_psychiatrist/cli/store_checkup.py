"""What a store needs to be whole: files, walls, keys, clock, audit logs, words that open."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from ai_psychiatrist.cli.checkup import CheckLevel, CheckResult, check_state_folder
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    NotFound,
    StoreUnusable,
)
from ai_psychiatrist.infrastructure.private_files import require_private
from ai_psychiatrist.store.audit import AuditLog
from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.opening import FILE_NAME, KEYS_NAME, sees_all_tenants
from ai_psychiatrist.store.removal import ClockFault
from ai_psychiatrist.store.schema_rules import not_apart
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import KEY_NAME, Stores
from ai_psychiatrist.wiring.records import audit_logs_of

_SAMPLE: Final = 20
"""Assessments, and interviews, that are opened unless all are to be."""
_MEGABYTE: Final = 1_000_000


def check_store(settings: Settings, stores: Stores, *, opens_all: bool) -> Iterator[CheckResult]:
    """Check all that is stored, as far as it can be opened, and where it is."""
    folder = settings.data.state_folder
    yield check_state_folder(folder)
    yield from _rights(folder)
    try:
        tenants = stores.tenants()
        if not tenants:
            yield CheckResult(check="store", level=CheckLevel.SKIP, words="nothing is stored yet")
            return
        yield check_files(stores)
    except (ConfigurationError, StoreUnusable) as error:
        yield CheckResult(check="store", level=CheckLevel.FAIL, words=str(error))
        return
    if not stores.database().is_sqlite:
        yield _walls(stores.database())
    yield from check_words(stores, opens_all=opens_all)
    yield from _clocks(stores)
    yield from _audit_logs(stores)


def check_files(stores: Stores) -> CheckResult:
    """Check the files by themselves; raises `ConfigurationError` and `StoreUnusable`."""
    faults = stores.database().faults()
    return CheckResult(
        check="store",
        level=CheckLevel.FAIL if faults else CheckLevel.OK,
        words=f"{faults} faults in its files" if faults else "of this version, and undamaged",
        cure="Stop the servers and `records restore` the last backup." if faults else None,
        facts={"faults": faults},
    )


def check_words(stores: Stores, *, opens_all: bool) -> Iterator[CheckResult]:
    """Check of each tenant whether its keys open its words."""
    for tenant in stores.tenants():
        try:
            yield _opened(tenant, stores.open(tenant), opens_all=opens_all)
        except (ArtifactMismatch, ConfigurationError, StoreUnusable) as error:
            check = f"keys of {tenant}"
            yield CheckResult(check=check, level=CheckLevel.FAIL, words=str(error))


def _opened(tenant: str, store: Store, *, opens_all: bool) -> CheckResult:
    ids = store.opened.ids()
    looked_at = ids if opens_all else ids[-_SAMPLE:]
    closed = [one for one in looked_at if not _opens(store, one)]
    interviews = list(store.interviews.opened(most=None if opens_all else _SAMPLE))
    closed_interviews = interviews.count(None)
    hidden, size = store.removal.hidden(), store.database.bytes_stored()
    words = (
        f"{len(ids)} assessments, {hidden} hidden by a sweep, {size / _MEGABYTE:.1f} MB; opened "
        f"{len(looked_at)} assessments and {len(interviews)} interviews"
    )
    if closed or closed_interviews:
        words += f", of which {len(closed)} and {closed_interviews} cannot be"
    is_whole = not closed and not closed_interviews
    cure = (
        "Their keys are gone or they are damaged: restore a newer keys.sqlite, or erase them; "
        "--json names the assessments."
    )
    return CheckResult(
        check=f"words of {tenant}",
        level=CheckLevel.OK if is_whole else CheckLevel.FAIL,
        words=words,
        cure=None if is_whole else cure,
        facts={
            "tenant": tenant,
            "assessments": len(ids),
            "hidden": hidden,
            "bytes": size,
            "opened": len(looked_at) + len(interviews),
            "unreadable": closed,
            "unreadable_interviews": closed_interviews,
        },
    )


def _opens(store: Store, record_id: str) -> bool:
    try:
        store.opened.of(record_id)
    except ArtifactMismatch:
        return False
    except NotFound:
        # Erased since the list was made.
        return True
    return True


def _clocks(stores: Stores) -> Iterator[CheckResult]:
    for tenant in stores.tenants():
        # Without keys nothing is swept, which is another finding.
        with suppress(ArtifactMismatch, ConfigurationError, StoreUnusable):
            yield _clock(tenant, stores.open(tenant).removal.clock_fault())


def _clock(tenant: str, fault: ClockFault | None) -> CheckResult:
    check, facts = f"clock of {tenant}", {"tenant": tenant, "is_trusted": fault is None}
    if fault is None:
        words = "fits what is stored"
        return CheckResult(check=check, level=CheckLevel.OK, words=words, facts=facts)
    return CheckResult(
        check=check,
        level=CheckLevel.FAIL,
        words=f"{fault}; nothing is swept",
        cure="Set it right. Where it is right: `ai-psychiatrist records sweep --after-jump`.",
        facts=facts,
    )


def _walls(database: Database) -> CheckResult:
    """Check that PostgreSQL shows each tenant its own rows alone."""
    tables, sees_all = not_apart(database), sees_all_tenants(database)
    words, cure = "each tenant is shown its own rows alone", None
    if tables:
        words = f"{len(tables)} tables show rows of other tenants: {', '.join(tables)}"
        cure = "`records export` each tenant, and `records import` into an empty database."
    if sees_all:
        words = "the role of DATABASE_URL is shown the rows of all tenants"
        cure = "Name a role that owns the database, is no superuser and has no BYPASSRLS."
    level = CheckLevel.OK if cure is None else CheckLevel.FAIL
    facts = {"tables": tables, "role_sees_all_tenants": sees_all}
    return CheckResult(check="walls", level=level, words=words, cure=cure, facts=facts)


def _audit_logs(stores: Stores) -> Iterator[CheckResult]:
    try:
        for log in audit_logs_of(stores).all():
            yield _audit_log(log)
    except (ConfigurationError, StoreUnusable) as error:
        yield CheckResult(check="audit logs", level=CheckLevel.FAIL, words=str(error))


def _audit_log(log: AuditLog) -> CheckResult:
    check, facts = f"audit log of {log.tenant}", {"tenant": log.tenant}
    try:
        log.require_whole()
    except StoreUnusable as error:
        return CheckResult(check=check, level=CheckLevel.FAIL, words=str(error), facts=facts)
    words = "ends as its head says"
    return CheckResult(check=check, level=CheckLevel.OK, words=words, facts=facts)


def _rights(folder: Path) -> Iterator[CheckResult]:
    names = [f"{name}{end}" for name in (FILE_NAME, KEYS_NAME) for end in ("", "-wal", "-shm")]
    paths = [folder / name for name in (*names, KEY_NAME)]
    for path in paths:
        try:
            require_private(path.lstat(), path)
        except FileNotFoundError:
            continue
        except ConfigurationError as error:
            yield CheckResult(check="rights", level=CheckLevel.FAIL, words=str(error))
