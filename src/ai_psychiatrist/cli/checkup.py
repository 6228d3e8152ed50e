"""What a store needs to be whole, what was found of it, and how findings are shown."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Final

from rich.table import Column, Table
from rich.text import Text

from ai_psychiatrist.cli.console import console_of, plain
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    NotFound,
    StoreUnusable,
)
from ai_psychiatrist.infrastructure.private_files import make_folder, require_private
from ai_psychiatrist.store.audit import AuditLog
from ai_psychiatrist.store.database import Database
from ai_psychiatrist.store.opening import FILE_NAME, KEYS_NAME, sees_all_tenants
from ai_psychiatrist.store.schema_rules import not_apart
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import KEY_NAME, Stores
from ai_psychiatrist.wiring.records import audit_logs_of

_WIDTH: Final = 100
_GIGABYTE: Final = 1_000_000_000
_LITTLE_SPACE_BYTES: Final = _GIGABYTE
_NO_SPACE_BYTES: Final = 50_000_000
_SAMPLE: Final = 20
"""Assessments, and interviews, that are opened unless all are to be."""
_MEGABYTE: Final = 1_000_000
_CLOSED_CURE: Final = (
    "Their keys are gone or they are damaged: restore a newer keys.sqlite, or erase them; "
    "--json names the assessments."
)
_CLOCK_CURE: Final = (
    "Set it right. Where it is right: `ai-psychiatrist records sweep --after-jump`."
)


class CheckLevel(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"
    """Not checked, because something before it failed or there is nothing to check."""


_STYLES: Final = {
    CheckLevel.OK: "green",
    CheckLevel.WARN: "yellow",
    CheckLevel.FAIL: "bold red",
    CheckLevel.SKIP: "dim",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check found, and what to do about it."""

    check: str
    model: str | None = None
    """Which model it is about, where it is about one."""
    level: CheckLevel = CheckLevel.OK
    words: str
    cure: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    """Figures and names for machines."""


def has_failed(findings: Iterable[CheckResult]) -> bool:
    """Return whether something is wrong."""
    return any(finding.level is CheckLevel.FAIL for finding in findings)


def print_findings(findings: Iterable[CheckResult]) -> None:
    """Print one line for each finding, its cure below it, and what it all comes to."""
    out = console_of(_WIDTH, widest=_WIDTH)
    told = list(findings)
    for model, of_model in groupby(told, key=lambda finding: finding.model):
        out.print(Text(plain(model or "This installation"), style="bold"))
        short = (Column(no_wrap=True), Column(no_wrap=True))
        table = Table.grid(*short, Column(overflow="fold"), padding=(0, 2, 0, 0))
        for finding in of_model:
            level = Text(f"  {finding.level.value}", style=_STYLES[finding.level])
            words = Text(plain(finding.words))
            if finding.cure is not None:
                words.append(f"\n{plain(finding.cure)}", style="bold")
            table.add_row(level, finding.check, words)
        out.print(table)
        out.print()
    warned, failed = (
        sum(one.level is level for one in told) for level in (CheckLevel.WARN, CheckLevel.FAIL)
    )
    more = f", {warned} warned" if warned else ""
    fine = f"Nothing is wrong: {len(told)} checks{more}."
    out.print(f"{failed} of {len(told)} checks failed{more}." if failed else fine)


def check_store(settings: Settings, stores: Stores, *, opens_all: bool) -> Iterator[CheckResult]:
    """Check all that is stored, as far as it can be opened, and where it is."""
    folder = settings.data.state_folder
    yield check_state_folder(folder)
    names = [f"{name}{end}" for name in (FILE_NAME, KEYS_NAME) for end in ("", "-wal", "-shm")]
    for path in (folder / name for name in (*names, KEY_NAME)):
        try:
            with suppress(FileNotFoundError):
                require_private(path.lstat(), path)
        except ConfigurationError as error:
            yield CheckResult(check="rights", level=CheckLevel.FAIL, words=str(error))
    yield from _guarded("store", _stored(stores, opens_all=opens_all))


def _guarded(check: str, found: Iterator[CheckResult], **facts: object) -> Iterator[CheckResult]:
    """Yield what is found, up to what cannot be used: that is found then."""
    try:
        yield from found
    except (ArtifactMismatch, ConfigurationError, StoreUnusable) as error:
        yield CheckResult(check=check, level=CheckLevel.FAIL, words=str(error), facts=facts)


def _stored(stores: Stores, *, opens_all: bool) -> Iterator[CheckResult]:
    tenants = stores.tenants()
    if not tenants:
        yield CheckResult(check="store", level=CheckLevel.SKIP, words="nothing is stored yet")
        return
    yield check_files(stores)
    if not stores.database().is_sqlite:
        yield _walls(stores.database())
    yield from check_words(stores, opens_all=opens_all)
    for tenant in tenants:
        # Without keys nothing is swept, which is another finding.
        with suppress(ArtifactMismatch, ConfigurationError, StoreUnusable):
            fault = stores.open(tenant).removal.clock_fault()
            yield CheckResult(
                check=f"clock of {tenant}",
                level=CheckLevel.OK if fault is None else CheckLevel.FAIL,
                words="fits what is stored" if fault is None else f"{fault}; nothing is swept",
                cure=None if fault is None else _CLOCK_CURE,
                facts={"tenant": tenant, "is_trusted": fault is None},
            )
    yield from _guarded("audit logs", _audit_logs(stores))


def check_state_folder(folder: Path) -> CheckResult:
    """Say whether the state folder can be written, and how much room is on its disk."""
    try:
        make_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return CheckResult(
            check="state folder",
            level=CheckLevel.FAIL,
            words=f"{folder} cannot be written: {error.strerror}; interviews cannot be kept",
            cure="Set DATA_STATE_DIR to a folder that can be written.",
            facts={"folder": str(folder), "is_writable": False, "free_bytes": None},
        )
    level = CheckLevel.WARN if free < _LITTLE_SPACE_BYTES else CheckLevel.OK
    return CheckResult(
        check="state folder",
        level=CheckLevel.FAIL if free < _NO_SPACE_BYTES else level,
        words=f"{folder} can be written, {free / _GIGABYTE:.1f} GB free",
        cure=None if level is CheckLevel.OK else "Make room on the disk, or set DATA_STATE_DIR.",
        facts={"folder": str(folder), "is_writable": True, "free_bytes": free},
    )


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
        yield from _guarded(f"keys of {tenant}", _words(tenant, stores, opens_all=opens_all))


def _words(tenant: str, stores: Stores, *, opens_all: bool) -> Iterator[CheckResult]:
    store = stores.open(tenant)
    ids = store.opened.ids()
    looked_at = ids if opens_all else ids[-_SAMPLE:]
    closed = [one for one in looked_at if not _opens(store, one)]
    interviews = list(store.interviews.opened(most=None if opens_all else _SAMPLE))
    closed_interviews = interviews.count(None)
    hidden, size = store.removal.hidden(), store.database.bytes_stored()
    is_whole = not (closed or closed_interviews)
    how_many = f", of which {len(closed)} and {closed_interviews} cannot be"
    yield CheckResult(
        check=f"words of {tenant}",
        level=CheckLevel.OK if is_whole else CheckLevel.FAIL,
        words=f"{len(ids)} assessments, {hidden} hidden by a sweep, {size / _MEGABYTE:.1f} MB; "
        f"opened {len(looked_at)} assessments and {len(interviews)} interviews"
        f"{'' if is_whole else how_many}",
        cure=None if is_whole else _CLOSED_CURE,
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
    # What is not found was erased since the list was made.
    with suppress(NotFound):
        try:
            store.opened.of(record_id)
        except ArtifactMismatch:
            return False
    return True


def _walls(database: Database) -> CheckResult:
    """Check that PostgreSQL shows each tenant its own rows alone."""
    tables, sees_all = not_apart(database), sees_all_tenants(database)
    words, cure = "each tenant sees only its own rows", None
    if tables:
        words = f"{len(tables)} tables show rows of other tenants: {', '.join(tables)}"
        cure = "`records export` each tenant, and `records import` into an empty database."
    if sees_all:
        words = "the role of DATABASE_URL is shown the rows of all tenants"
        cure = "Name a role that owns the database, is no superuser and has no BYPASSRLS."
    return CheckResult(
        check="walls",
        level=CheckLevel.OK if cure is None else CheckLevel.FAIL,
        words=words,
        cure=cure,
        facts={"tables": tables, "role_sees_all_tenants": sees_all},
    )


def _audit_logs(stores: Stores) -> Iterator[CheckResult]:
    for log in audit_logs_of(stores).all():
        yield from _guarded(f"audit log of {log.tenant}", _audit_log(log), tenant=log.tenant)


def _audit_log(log: AuditLog) -> Iterator[CheckResult]:
    log.require_whole()
    facts, words = {"tenant": log.tenant}, "ends as its head says"
    yield CheckResult(check=f"audit log of {log.tenant}", words=words, facts=facts)
