"""Who has read the statements of danger of records: rows that are added."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

from ai_psychiatrist.domain.acknowledgement import Acknowledgement, WasRead
from ai_psychiatrist.store.contents import was_read_bytes, was_read_in
from ai_psychiatrist.store.database import TenantDatabase, Value, own
from ai_psychiatrist.store.deliveries import DeliveryRows
from ai_psychiatrist.store.records import RecordRows, is_record
from ai_psychiatrist.store.schema import acknowledgements, records


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgementRows:
    """Those of a tenant; every change is one transaction."""

    database: TenantDatabase
    rows: RecordRows
    deliveries: DeliveryRows

    def add(self, record_id: str, reader: str, said: WasRead, *, unread: int) -> None:
        """Store what a person has read. `unread`: how many statements remain unread."""
        seal = self.rows.seal_of(record_id)
        of_record = select(acknowledgements).where(own(acknowledgements, record_id=record_id))
        with self.database.writing():
            row: dict[str, Value] = {
                "record_id": record_id,
                "number": self.database.count(of_record) + 1,
                "reader": reader,
                "at": self.database.now(),
            }
            content = was_read_bytes(said)
            self.database.add(acknowledgements, seal.sealed(acknowledgements, row, content))
            self.database.run(update(records).where(is_record(record_id)), unread=unread)
            if not unread:
                self.deliveries.forget_reminder(record_id)
            self.database.require_room()

    def of(self, record_id: str) -> tuple[Acknowledgement, ...]:
        """Return all that was confirmed of a record, in its order."""
        query = select(acknowledgements).where(own(acknowledgements, record_id=record_id))
        with self.rows.opening(record_id) as seal:
            return tuple(
                Acknowledgement(
                    number=row.number,
                    reader=row.reader,
                    at=datetime.fromisoformat(row.at),
                    said=was_read_in(seal.opened(acknowledgements, row)),
                )
                for row in self.database.all(query.order_by(acknowledgements.c.number))
            )
