"""The rows of one run: transactions, and the words in rows, each sealed for its own place."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, Executable, Table, and_, bindparam

from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.database import Database, Found, Value, written
from ai_psychiatrist.store.errors import refusing_damage
from ai_psychiatrist.store.run_schema import units

_COUNTED: Final = {"preserve_rowcount": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRows:
    """What the database holds of one run; every method may raise `LedgerUnusable`."""

    database: Database
    tenant: str = ""
    run: str = ""
    cipher: Cipher | None = field(default=None, repr=False)
    """`None`: words are written as they are."""
    is_shared: bool = False
    """Whether others use the database as well; no row is then locked for a whole transaction."""

    def transaction(self, *, writes: bool = True) -> AbstractContextManager[Connection]:
        """Make everything inside happen, or nothing, and see rows as they are at one moment."""
        return self.database.transaction(self.tenant, writes=writes, is_alone=not self.is_shared)

    def all(self, query: Executable, **values: Value) -> Sequence[Found]:
        """Return all rows of a query."""
        with self.transaction(writes=False) as connection:
            return connection.execute(query, self._owned(values)).all()

    def one(self, query: Executable, **values: Value) -> Found | None:
        """Return the first row of a query, `None` where it has none."""
        with self.transaction(writes=False) as connection:
            return connection.execute(query, self._owned(values)).first()

    def stream(self, query: Executable, **values: Value) -> Iterator[Found]:
        """Yield the rows of a query as they were at the start, whatever is written meanwhile."""
        return self.database.stream(self.tenant, query, self._owned(values))

    def run_each(self, statement: Executable, rows: Sequence[Mapping[str, Value]]) -> int:
        """Carry a statement out for each row, and return how many rows it wrote."""
        with self.transaction() as connection:
            owned = [self._owned({f"of_{name}": row[name] for name in row}) for row in rows]
            if not owned:
                return 0
            return connection.execute(statement, owned, execution_options=_COUNTED).rowcount

    def seal(self, content: bytes, *place: str | int) -> bytes:
        """Return bytes as they are written; `place`: the table and the key of the row."""
        if self.cipher is None:
            return content
        return self.cipher.seal(content, place=self._place(place))

    def open(self, stored: object, *place: str | int) -> bytes:
        """Return what was sealed for a place.

        Raises `ConfigurationError` for another key or place.
        """
        with refusing_damage():
            if not isinstance(stored, bytes):
                raise TypeError
            if self.cipher is None:
                return stored
            return self.cipher.unseal(stored, place=self._place(place))

    def _owned(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {"of_tenant": self.tenant, "of_run": self.run, **values}

    def _place(self, place: Sequence[str | int]) -> str:
        return "/".join(map(str, ("runs", self.tenant, self.run, *place)))


def own(table: Table, *columns: str) -> ColumnElement[bool]:
    """Return the condition of a run's rows with given values, bound as `of_` and the column."""
    found = table.c.tenant == bindparam("of_tenant")
    for name in ("run", *columns):
        found &= table.c[name] == bindparam(f"of_{name}")
    return found


def is_of(table: Table) -> ColumnElement[bool]:
    """Return the condition by which rows about a unit are joined with it."""
    return and_(*(table.c[name] == units.c[name] for name in ("tenant", "run", "unit")))


def now() -> str:
    """Return this moment as columns have it."""
    return written(datetime.now(UTC))
