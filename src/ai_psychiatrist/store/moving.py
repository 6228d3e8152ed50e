"""What one store gives to another: rows in the open, as an export writes them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from sqlalchemy import Table, select
from sqlalchemy.exc import CompileError, IntegrityError

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, own, written
from ai_psychiatrist.store.seals import Seal

_NOT_MOVED: Final = frozenset(
    {"tenant", "record_id", "id_hash", "seq", "swept_at", "sealed_id", "body"}
)


def in_clear(row: Found) -> dict[str, Value]:
    """Return what stands in the clear, by column, without what another store has of its own."""
    return {name: value for name, value in row._asdict().items() if name not in _NOT_MOVED}


def opened_rows(
    database: TenantDatabase, table: Table, seal: Seal, **owner: str
) -> tuple[dict[str, Value], ...]:
    """Return the rows of a table that belong to one thing, with their words; by column."""
    rows = database.all(select(table).where(own(table, **owner)))
    if "body" not in table.c:
        return tuple(map(in_clear, rows))
    return tuple(in_clear(row) | {"body": seal.opened(table, row).decode()} for row in rows)


def add_rows(
    database: TenantDatabase,
    table: Table,
    seal: Seal,
    rows: Iterable[Mapping[str, Value]],
    **owner: str,
) -> None:
    """Store rows that another store opened."""
    for row in rows:
        owned = {**row, **owner}
        has_words = "body" in table.c
        database.add(table, seal.sealed(table, owned, str(row["body"])) if has_words else owned)


def moment_in(given: Value) -> str:
    """Return a moment that another store gave, as all columns have it; raises `ValueError`."""
    return written(datetime.fromisoformat(str(given)))


@contextmanager
def refusing_foreign(what: str) -> Iterator[None]:
    """Raise `InputError` for what no store gave. `what`: a thing in a file of an export."""
    try:
        yield
    except (ArtifactMismatch, CompileError, IntegrityError, LookupError, ValueError):
        # Their texts hold what was given.
        msg = f"{what} in it is not as `records export` writes it"
        raise InputError(msg, field="FILE") from None
