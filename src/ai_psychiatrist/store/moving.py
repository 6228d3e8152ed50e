"""Everything that is stored of an assessment, opened: what one store gives to another."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import Table, select
from sqlalchemy.exc import CompileError, IntegrityError

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.risk import RiskGroup
from ai_psychiatrist.store.contents import call_in, said_in, transcript_in, was_read_in
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, own, written
from ai_psychiatrist.store.job_rows import JobRows
from ai_psychiatrist.store.keys import Seal
from ai_psychiatrist.store.records import IS_OWN, NOT_ERASED, RESULT, TRANSCRIPT, RecordRows
from ai_psychiatrist.store.schema import (
    acknowledgements,
    begun,
    bodies,
    calls,
    events,
    jobs,
    records,
    reviews,
    shown,
)

_TABLES: Final = (acknowledgements, begun, bodies, calls, events, jobs, reviews, shown)
_NOT_MOVED: Final = frozenset(
    {"tenant", "record_id", "id_hash", "seq", "swept_at", "sealed_id", "body"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRecord:
    """An assessment with all that belongs to it; texts are JSON as it was sealed."""

    row: Mapping[str, Value]
    """What stands in clear, by column."""
    subject: str | None = field(repr=False)
    """What the subject is called."""
    parts: Mapping[str, str] = field(repr=False)
    """Transcript, and where they are there result and request."""
    job: Mapping[str, Value] | None
    calls: tuple[Mapping[str, Value], ...] = field(repr=False)
    events: tuple[Mapping[str, Value], ...]
    shown: tuple[str, ...]
    """Who was given scores of it."""
    begun: tuple[Mapping[str, Value], ...]
    reviews: tuple[Mapping[str, Value], ...] = field(repr=False)
    acknowledgements: tuple[Mapping[str, Value], ...] = field(default=(), repr=False)
    """None in what an earlier version wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRecords:
    """Those of a tenant."""

    database: TenantDatabase
    rows: RecordRows
    queued: JobRows

    def ids(self) -> tuple[str, ...]:
        """Return the assessments that are stored, the oldest first."""
        query = select(records.c.id).where(IS_OWN, NOT_ERASED).order_by(records.c.seq)
        return tuple(str(row.id) for row in self.database.all(query))

    def of(self, record_id: str) -> OpenedRecord:
        """Return an assessment as it is at one moment; raises `NotFound`, `ArtifactMismatch`."""
        with self.database.writing():
            row = self.rows.row(record_id)
            seal = self.rows.keys.seal(row.subject_id)
            found = {
                table: opened_rows(self.database, table, seal, record_id=record_id)
                for table in _TABLES
            }
            return OpenedRecord(
                row=in_clear(row),
                subject=self.rows.keys.name(row.subject_id),
                parts={str(one["part"]): str(one["body"]) for one in found[bodies]},
                job=next(iter(found[jobs]), None),
                calls=found[calls],
                events=found[events],
                shown=tuple(str(one["rater"]) for one in found[shown]),
                begun=found[begun],
                reviews=found[reviews],
                acknowledgements=found[acknowledgements],
            )

    def take_in(self, record: OpenedRecord) -> bool:
        """Store an assessment that another store gave; `False` for one that is there already.

        One that was under way waits. Raises `InputError` for what no store gave, and then nothing
        of it is stored.
        """
        keys = self.rows.keys
        with self.database.writing(), refusing_foreign("an assessment"):
            record_id, subject_id = str(record.row["id"]), str(record.row["subject_id"])
            is_there = select(records.c.id).where(own(records, id=record_id))
            if self.database.one(is_there) is not None:
                return False
            _check(record)
            if not keys.has_all([subject_id]):
                subject_id = keys.subject(record.subject, new_id=subject_id)
            seal = keys.seal(subject_id)
            state = RecordState(str(record.row["state"]))
            (seq,) = self.database.numbers("last_record")
            # An earlier version wrote no `kept_from`.
            kept_from = moment_in(record.row.get("kept_from", record.row["created_at"]))
            settled: dict[str, Value] = {
                "subject_id": subject_id,
                "seq": seq,
                "kept_from": kept_from,
            }
            if state is RecordState.RUNNING:
                state = RecordState.WAITING
            row = {**_to_read(record), **record.row}
            self.database.add(records, {**row, **settled, "state": state.value})
            numbers = self.database.numbers("last_review", len(record.reviews))
            parts: dict[Table, Iterable[Mapping[str, Value]]] = {
                bodies: [{"part": part, "body": body} for part, body in record.parts.items()],
                jobs: [] if record.job is None else [record.job],
                calls: record.calls,
                events: record.events,
                shown: [{"rater": rater} for rater in record.shown],
                begun: [{**one, "is_committed": bool(one["is_committed"])} for one in record.begun],
                reviews: [
                    {**said, "number": number}
                    for said, number in zip(record.reviews, numbers, strict=True)
                ],
                acknowledgements: record.acknowledgements,
            }
            for table, rows in parts.items():
                add_rows(self.database, table, seal, rows, record_id=record_id)
            if record.job is not None and state is RecordState.WAITING:
                self.queued.enqueue(record_id, str(record.job["asked_by"]))
        return True


def _check(record: OpenedRecord) -> None:
    """Refuse words that could not be read again."""
    transcript_in(record.parts[TRANSCRIPT].encode())
    for call in record.calls:
        call_in(str(call["body"]).encode())
    for said in record.reviews:
        said_in(str(said["kind"]), str(said["body"]).encode())
    for was_read in record.acknowledgements:
        was_read_in(str(was_read["body"]).encode())


def _to_read(record: OpenedRecord) -> dict[str, Value]:
    """Return what an earlier version did not count: how many statements are to be read now."""
    result = record.parts.get(RESULT)
    if result is None or "to_read" in record.row:
        return {}
    signals = (json.loads(result).get("risk") or {}).get("signals") or ()
    count = sum(signal.get("group") == RiskGroup.READ_NOW for signal in signals)
    return {"to_read": count, "unread": count}


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
