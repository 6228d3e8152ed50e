"""The file of one tenant's trail. Rows are added; none is ever changed or removed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.access.audit.entry import Entry, Row
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.head import Head, HeadFile, first_head
from ai_psychiatrist.access.audit.seals import Seals
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.private_files import STATE_DIR_CURE, make_private_file
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.private_database import Database

_TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS trail (
        n INTEGER PRIMARY KEY,
        previous TEXT NOT NULL,
        at TEXT NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        object TEXT NOT NULL,
        outcome TEXT NOT NULL,
        digest TEXT NOT NULL,
        seal TEXT NOT NULL
    )
    """,
    *(
        f"""
        CREATE TRIGGER IF NOT EXISTS trail_refuses_{change.lower()} BEFORE {change} ON trail
        BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END
        """
        for change in ("UPDATE", "DELETE")
    ),
)
_COLUMNS: Final = "n, previous, at, actor, action, object, outcome, digest, seal"
_BUSY_SECONDS: Final = 5.0
_HEADLESS: Final = (
    "the audit trail has rows, and the file of its head is gone: `ai-psychiatrist audit verify`"
)
_BROKEN: Final = (
    "the audit trail does not fit its head: `ai-psychiatrist audit verify` says what is wrong"
)


class AuditTrail:
    """One trail, for any number of processes that write at the same time.

    A row counts once the head names it: `append` returns no sooner. A process that is killed
    between the two leaves a row behind the head, whose request was never answered. Before its first
    row a trail gets a head that names none, so that rows without a head are of one that was taken
    away. Every method raises `AuditUnusable`.
    """

    def __init__(self, path: Path, head_file: HeadFile, *, is_read_only: bool = False) -> None:
        self._head_file = head_file
        self._seals = head_file.seals
        with _translated():
            if not is_read_only:
                make_private_file(path)
            self._database = Database(path, is_read_only=is_read_only, busy_seconds=_BUSY_SECONDS)
            if not is_read_only:
                self._make_tables()

    @property
    def seals(self) -> Seals:
        """What names records in this trail."""
        return self._seals

    def close(self) -> None:
        """Close the file."""
        with _translated():
            self._database.close()

    def append(self, entry: Entry) -> Head:
        """Add a row and return its head, when both are on the disk.

        A trail whose end does not fit its head takes no row: it would cover up what happened.
        """
        with _translated():
            with self._database.transaction():
                end = self._checked_end()
                if end is None and self._head_file.read() is None:
                    self._head_file.write(first_head(self._seals.tenant))
                row = self._row_of(entry, after=end or first_head(self._seals.tenant))
                self._insert(row)
            # A second transaction: it keeps the others from writing an older head after this one.
            with self._database.transaction():
                written = self._head_file.read()
                end = self._end()
                if written is None:
                    raise AuditUnusable(_HEADLESS)
                if end is not None and written.n < end.n:
                    self._head_file.write(end)
        return Head(n=row.n, digest=row.digest)

    def require_whole(self) -> None:
        """Raise `AuditUnusable` where `append` would, as far as reading tells."""
        with _translated():
            self._checked_end()

    def rows(self, *, last: int | None = None) -> Iterator[Row]:
        """Yield the rows in their order: all, or the last ones."""
        first = 0 if last is None else self._count() - last
        query = f"SELECT {_COLUMNS} FROM trail ORDER BY n LIMIT -1 OFFSET ?"  # noqa: S608  our names
        with _translated():
            for row in self._database.stream(query, (max(0, first),)):
                yield Row(**{name: row[name] for name in row.keys()})  # noqa: SIM118  no mapping

    def head(self) -> Head | None:
        """Return the head that is kept apart, `None` before the first row."""
        return self._head_file.read()

    def _make_tables(self) -> None:
        with self._database.transaction():
            for statement in _TABLES:
                self._database.execute(statement)

    def _count(self) -> int:
        with _translated():
            ((count,),) = self._database.fetch("SELECT COUNT(*) FROM trail")
        return int(count)

    def _end(self) -> Head | None:
        found = self._database.fetch("SELECT n, digest FROM trail ORDER BY n DESC LIMIT 1")
        return Head(n=found[0]["n"], digest=found[0]["digest"]) if found else None

    def _checked_end(self) -> Head | None:
        """Return the last row, which this installation wrote and which the head allows."""
        # In this order: another process may add a row meanwhile.
        end, head = self._end(), self._head_file.read()
        if head is None and end is not None:
            raise AuditUnusable(_HEADLESS)
        if head is not None and head.n:
            named = self._database.fetch("SELECT digest FROM trail WHERE n = ?", (head.n,))
            if not named or named[0]["digest"] != head.digest:
                raise AuditUnusable(_BROKEN)
        if end is not None and not self._is_sealed(end):
            raise AuditUnusable(_BROKEN)
        return end

    def _is_sealed(self, end: Head) -> bool:
        ((seal,),) = self._database.fetch("SELECT seal FROM trail WHERE n = ?", (end.n,))
        return self._seals.is_own(str(seal), "row", end.digest)

    def _row_of(self, entry: Entry, *, after: Head) -> Row:
        row = Row(
            n=after.n + 1,
            previous=after.digest,
            at=entry.at,
            actor=entry.actor,
            action=entry.action,
            object=entry.object,
            outcome=entry.outcome,
            digest="",
            seal="",
        )
        digest = row.own_digest()
        return replace(row, digest=digest, seal=self._seals.seal("row", digest))

    def _insert(self, row: Row) -> None:
        places = ", ".join(f":{name}" for name in _COLUMNS.split(", "))
        self._database.execute(
            f"INSERT INTO trail ({_COLUMNS}) VALUES ({places})",  # noqa: S608  our names
            asdict(row),
        )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (LedgerUnusable, ConfigurationError) as error:
        msg = f"the audit trail cannot be used: {error}"
        raise AuditUnusable(msg) from None
    except OSError as error:
        msg = f"the audit trail cannot be used: {error.strerror}; {STATE_DIR_CURE}"
        raise AuditUnusable(msg) from None
