"""Rows of a tenant's audit log, the head that is kept apart from them, and their statements."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, select, text, union, update

from ai_psychiatrist.store.schema import KEYS, OF_TENANT, audit, audit_heads, tenants

_OWN: Final = select(*audit.c[1:]).where(audit.c.tenant == OF_TENANT)

ROWS: Final = _OWN.order_by(audit.c.n)
ROWS_FROM: Final = ROWS.where(audit.c.n >= bindparam("of_n"))
LATEST: Final = _OWN.order_by(audit.c.n.desc()).limit(bindparam("of_count"))
LATEST_OF: Final = LATEST.where(audit.c.object == bindparam("of_object"))
HEAD: Final = select(*audit_heads.c[1:]).where(audit_heads.c.tenant == OF_TENANT)
HEAD_LOCKED: Final = HEAD.with_for_update()
"""No other process adds a row until the transaction ends, which writes."""
MOVE_HEAD: Final = update(audit_heads).where(audit_heads.c.tenant == OF_TENANT)
BEGIN_HEAD: Final = text(
    f"INSERT INTO {KEYS}.audit_heads (tenant, n, digest, seal) "  # noqa: S608  our own name
    "VALUES (:of_tenant, :n, :digest, :seal) ON CONFLICT DO NOTHING"
)
"""Keeps the first head, unless another process just did."""
TENANTS: Final = union(*(select(table.c.tenant) for table in (audit_heads, tenants, audit)))
"""Whose rows or heads there may be.

In PostgreSQL rows without a head are seen of those tenants alone that stored something.
"""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """What was done, in its place in the chain."""

    n: int
    """From 1."""
    previous: str
    """Digest of the row before; of the first row, a digest of the tenant."""
    at: str
    """UTC, ISO 8601."""
    actor: str
    """Id of the principal."""
    action: str
    object: str
    """Keyed digest of a record's id; empty where the action has no one record."""
    outcome: str
    """`begun`, the status of the answer, or how many logins were refused."""
    digest: str
    seal: str
    """Digest of the digest that only this installation can make."""


@dataclass(frozen=True, slots=True)
class AuditHead:
    """Number and digest of the last row of a log."""

    n: int
    """0 before the first row."""
    digest: str
    seal: str = ""
    """Signature of the two that only this installation can make; none of a head kept elsewhere."""

    def __str__(self) -> str:
        return f"{self.n}:{self.digest}"
