"""Rows of the audit trail for what commands change."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.access.audit.entry import BEGUN, Action
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.trails import Trails
from ai_psychiatrist.cli.exits import fail
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
    trails = Trails(state_dir=settings.data.state_folder)
    changed = Changed(record_id)
    try:
        _write(trails, tenant, action, BEGUN, record_id)
        try:
            yield changed
        except BaseException:
            _write(trails, tenant, action, _FAILED, changed.record_id)
            raise
        _write(trails, tenant, action, _DONE, changed.record_id)
    finally:
        trails.close()


def _write(trails: Trails, tenant: str, action: Action, outcome: str, record_id: str) -> None:
    try:
        trails.record(tenant, actor=_ACTOR, action=action, outcome=outcome, record_id=record_id)
    except AuditUnusable as error:
        fail(f"the audit trail takes no row: {error}")
