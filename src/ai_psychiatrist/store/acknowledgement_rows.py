"""Who has read the statements of danger of records and interviews: rows that are added."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Table, select, update

from ai_psychiatrist.domain.acknowledgement import Acknowledgement, WasRead
from ai_psychiatrist.store.contents import was_read_bytes, was_read_in
from ai_psychiatrist.store.database import TenantDatabase, Value, own
from ai_psychiatrist.store.deliveries import DeliveryRows
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.records import RecordRows, is_record
from ai_psychiatrist.store.schema import acknowledgements, records


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgementRows:
    """Those of a tenant's records; every change is one transaction."""

    database: TenantDatabase
    rows: RecordRows
    deliveries: DeliveryRows

    def add(self, record_id: str, reader: str, said: WasRead, *, unread: int) -> None:
        """Store what a person has read. `unread`: how many statements remain unread."""
        seal = self.rows.seal_of(record_id)
        with self.database.writing():
            add_acknowledgement(
                self.database, acknowledgements, seal, reader, said, record_id=record_id
            )
            self.database.run(update(records).where(is_record(record_id)), unread=unread)
            if not unread:
                self.deliveries.forget_reminder(record_id=record_id)
            self.database.require_room()

    def of(self, record_id: str) -> tuple[Acknowledgement, ...]:
        """Return all that was confirmed of a record, in its order."""
        with self.rows.opening(record_id) as seal:
            return acknowledged(self.database, acknowledgements, seal, record_id=record_id)


def add_acknowledgement(
    database: TenantDatabase,
    table: Table,
    seal: Seal,
    reader: str,
    said: WasRead,
    **owner: str,
) -> None:
    """Store what a person has read, inside a transaction.

    `owner`: the record or the interview, by its column.
    """
    row: dict[str, Value] = {
        **owner,
        "number": database.count(select(table).where(own(table, **owner))) + 1,
        "reader": reader,
        "at": database.now(),
    }
    database.add(table, seal.sealed(table, row, was_read_bytes(said)))


def acknowledged(
    database: TenantDatabase, table: Table, seal: Seal, **owner: str
) -> tuple[Acknowledgement, ...]:
    """Return all that was confirmed of a record or an interview, in its order."""
    query = select(table).where(own(table, **owner)).order_by(table.c.number)
    return tuple(
        Acknowledgement(
            number=row.number,
            reader=row.reader,
            at=datetime.fromisoformat(row.at),
            said=was_read_in(seal.opened(table, row)),
        )
        for row in database.all(query)
    )
