"""Rows of the audit trail for what commands change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import typer

from ai_psychiatrist.access.audit.entry import BEGUN, Action
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.trails import Trails
from ai_psychiatrist.cli.exits import ExitCode, fail
from ai_psychiatrist.config import Settings

_ACTOR: Final = "command"
_DONE: Final = "done"
_FAILED: Final = "failed"


@dataclass(slots=True)
class Changed:
    """Which record a command changes; one that it makes is named once it is known."""

    record_id: str = ""


@contextmanager
def audited(
    settings: Settings, tenant: str, action: Action, record_id: str = ""
) -> Iterator[Changed]:
    """Write a row before the block and one after it; without the first the command ends."""

    def refuse(error: AuditUnusable) -> None:
        fail(f"the audit trail takes no row: {error}")

    changed = Changed(record_id)
    with _rows(settings, tenant, action, changed, refuse):
        yield changed


@contextmanager
def audited_if_possible(
    settings: Settings, tenant: str, action: Action, record_id: str
) -> Iterator[None]:
    """Write the same rows, and do the block without them where the trail takes none.

    For what must never be kept from happening, such as the end of a key that leaked. The command
    then says so, and ends with `PARTIAL`: what it prints belongs into the block.
    """
    faults: list[AuditUnusable] = []
    with _rows(settings, tenant, action, Changed(record_id), faults.append):
        yield
    if faults:
        typer.echo(f"warning: done, but the audit trail took no row: {faults[0]}", err=True)
        raise typer.Exit(ExitCode.PARTIAL)


@contextmanager
def _rows(
    settings: Settings,
    tenant: str,
    action: Action,
    changed: Changed,
    refuse: Callable[[AuditUnusable], None],
) -> Iterator[None]:
    trails = Trails(state_dir=settings.data.state_folder)

    def record(outcome: str) -> None:
        name = changed.record_id
        try:
            trails.record(tenant, actor=_ACTOR, action=action, outcome=outcome, record_id=name)
        except AuditUnusable as error:
            refuse(error)

    try:
        record(BEGUN)
        try:
            yield
        except BaseException:
            record(_FAILED)
            raise
        record(_DONE)
    finally:
        trails.close()
