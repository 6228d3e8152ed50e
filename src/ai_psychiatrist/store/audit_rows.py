"""Rows of a tenant's audit log, and the head that is kept apart from them."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import starmap
from typing import Final

from sqlalchemy import bindparam, select, text, union, update

from ai_psychiatrist.store.database import Database, Found, TenantDatabase
from ai_psychiatrist.store.key_schema import audit_heads
from ai_psychiatrist.store.schema import KEYS, OF_ANY_TENANT, OF_TENANT, audit, tenants

_PAGE: Final = 1_000
_LOWEST: Final = -(2**31)
"""Below every number of a row; a row that an attacker put in may have one below 1."""
_OWN: Final = select(*audit.c[1:]).where(audit.c.tenant == OF_TENANT)
_AFTER: Final = _OWN.where(audit.c.n > bindparam("of_n")).order_by(audit.c.n).limit(_PAGE)
_LATEST: Final = _OWN.order_by(audit.c.n.desc()).limit(bindparam("of_count"))
_HEAD: Final = select(*audit_heads.c[1:]).where(audit_heads.c.tenant == OF_TENANT)
_HEAD_LOCKED: Final = _HEAD.with_for_update()
_HEAD_MOVED: Final = update(audit_heads).where(audit_heads.c.tenant == OF_TENANT)
_HEAD_BEGUN: Final = text(
    f"INSERT INTO {KEYS}.audit_heads (tenant, n, digest, seal) "  # noqa: S608  our own name
    "VALUES (:of_tenant, :n, :digest, :seal) ON CONFLICT DO NOTHING"
)
_TENANTS: Final = union(*(select(table.c.tenant) for table in (audit_heads, tenants, audit)))


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


@dataclass(frozen=True, slots=True)
class AuditRows:
    """The rows of one tenant; every method raises `StoreUnusable`."""

    database: TenantDatabase

    def all(self, *, after: int = _LOWEST) -> Iterator[AuditRow]:
        """Yield the rows with higher numbers, in their order."""
        while page := self.database.all(_AFTER, of_n=after):
            yield from starmap(AuditRow, page)
            if len(page) < _PAGE:
                return
            after = page[-1].n

    def latest(self, count: int) -> list[AuditRow]:
        """Return the last rows in their order."""
        return [*starmap(AuditRow, reversed(self.database.all(_LATEST, of_count=count)))]

    def head(self) -> AuditHead | None:
        """Return the head, `None` before the first row."""
        return _head(self.database.one(_HEAD))

    def locked_head(self) -> AuditHead | None:
        """Return the head; no other process adds a row until the transaction ends, which writes."""
        return _head(self.database.one(_HEAD_LOCKED))

    def begin(self, head: AuditHead) -> None:
        """Keep the first head, unless another process just did."""
        self.database.run(_HEAD_BEGUN, **asdict(head))

    def add(self, row: AuditRow, head: AuditHead) -> None:
        """Add a row and move the head to it, within a transaction."""
        self.database.add(audit, asdict(row))
        self.move(head)

    def move(self, head: AuditHead) -> None:
        """Keep another head."""
        self.database.run(_HEAD_MOVED, **asdict(head))


def audited_tenants(database: Database) -> tuple[str, ...]:
    """Return whose rows or heads there may be; raises `StoreUnusable`."""
    with database.transaction(OF_ANY_TENANT, writes=False) as connection:
        return tuple(sorted(map(str, connection.scalars(_TENANTS))))


def _head(row: Found | None) -> AuditHead | None:
    return None if row is None else AuditHead(row.n, row.digest, row.seal)
