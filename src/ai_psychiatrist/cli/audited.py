"""Rows of the audit log for what commands change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import typer

from ai_psychiatrist.cli.exits import ExitCode, fail
from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.store.audit import BEGUN, Action
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.records import audit_logs_of

_ACTOR: Final = "command"
_DONE: Final = "done"
_FAILED: Final = "failed"


@dataclass(slots=True)
class Changed:
    """Which record a command changes; one that it makes is named once it is known."""

    record_id: str = ""


@contextmanager
def audited(stores: Stores, tenant: str, action: Action) -> Iterator[Changed]:
    """Write a row before the block and one after it; without the first the command ends."""

    def refuse(error: Exception) -> None:
        fail(f"the audit log takes no row: {error}")

    changed = Changed()
    with _rows(stores, tenant, action, changed, refuse=refuse):
        yield changed


@contextmanager
def audited_if_possible(
    stores: Stores, tenant: str, action: Action, record_id: str
) -> Iterator[None]:
    """Write the same rows, and do the block without them where the log takes none.

    For what must never be kept from happening, such as the end of a key that leaked. The command
    then says so, and ends with `PARTIAL`: what it prints belongs into the block.
    """
    faults: list[Exception] = []
    changed = Changed(record_id)
    with _rows(stores, tenant, action, changed, refuse=faults.append):
        yield
    if faults:
        typer.echo(f"warning: done, but the audit log took no row: {faults[0]}", err=True)
        raise typer.Exit(ExitCode.PARTIAL)


def note_restored(stores: Stores) -> None:
    """Let the audit logs of a backup go on from their last row, and say so in each."""
    try:
        for log in audit_logs_of(stores).all():
            log.accept()
            log.append(actor=_ACTOR, action="records_restored", outcome=_DONE)
    except (ConfigurationError, StoreUnusable) as error:
        typer.echo(f"warning: the audit logs could not go on, restore again: {error}", err=True)


@contextmanager
def _rows(
    stores: Stores,
    tenant: str,
    action: Action,
    changed: Changed,
    *,
    refuse: Callable[[Exception], None],
) -> Iterator[None]:
    def record(outcome: str) -> None:
        try:
            log = audit_logs_of(stores).of(tenant)
            log.append(actor=_ACTOR, action=action, outcome=outcome, record_id=changed.record_id)
        except (ConfigurationError, StoreUnusable) as error:
            refuse(error)

    record(BEGUN)
    try:
        yield
    except BaseException:
        record(_FAILED)
        raise
    record(_DONE)
