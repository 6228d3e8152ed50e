"""What is stored, opened for a command, and rows of the audit log for what it changes there."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

import typer

from ai_psychiatrist.cli.console import ExitCode, fail, say
from ai_psychiatrist.cli.settings import quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.store.audit import BEGUN, Action
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.records import audit_logs_of, stores_of

_ACTOR: Final = "command"
_DONE: Final = "done"

TenantOption: TypeAlias = Annotated[
    str, typer.Option("--tenant", metavar="NAME", help="Whose records; local without keys.")
]


def opened_stores(settings: Settings | None = None) -> AbstractContextManager[Stores]:
    """Open the stores of all tenants for a block, by these settings or those that are read."""
    return closing(stores_of(settings or quiet(read_settings())))


def known_store(stores: Stores, tenant: str) -> Store:
    """Return the store of a tenant that has one; a misspelt name makes none."""
    if tenant not in stores.tenants():
        fail("nothing is stored for this tenant; --tenant names another one")
    return stores.open(tenant)


@dataclass(slots=True)
class Changed:
    """Which record a command changes; one that it makes is named once it is known."""

    record_id: str = ""


@contextmanager
def audited(
    stores: Stores, tenant: str, action: Action, record_id: str = "", *, is_required: bool = True
) -> Iterator[Changed]:
    """Write a row before the block and one after it; without the first the command ends.

    `is_required`: false for what must never be kept from happening, such as the end of a key that
    leaked. Where the log takes no row the block is done all the same; the command then says so, and
    ends with `PARTIAL`: what it prints belongs into the block.
    """
    changed, faults = Changed(record_id), []

    def record(outcome: str) -> None:
        try:
            log = audit_logs_of(stores).of(tenant)
            log.append(actor=_ACTOR, action=action, outcome=outcome, record_id=changed.record_id)
        except (ConfigurationError, StoreUnusable) as error:
            if is_required:
                fail(f"the audit log cannot be written: {error}")
            faults.append(error)

    record(BEGUN)
    try:
        yield changed
    except BaseException:
        record("failed")
        raise
    record(_DONE)
    if faults:
        say(f"warning: done, but the audit log took no row: {faults[0]}")
        raise typer.Exit(ExitCode.PARTIAL)


def note_restored(stores: Stores) -> None:
    """Let the audit logs of a backup go on from their last row, and say so in each."""
    try:
        for log in audit_logs_of(stores).all():
            log.accept()
            log.append(actor=_ACTOR, action="records_restored", outcome=_DONE)
    except (ConfigurationError, StoreUnusable) as error:
        say(f"warning: the audit logs could not go on, restore again: {error}")
