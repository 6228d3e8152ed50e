"""Everything that is stored of an assessment, opened: what one store gives to another."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sqlalchemy import select

from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.store.contents import call_in, said_in, transcript_in
from ai_psychiatrist.store.database import Found, TenantDatabase, Value
from ai_psychiatrist.store.job_rows import JobRows, call_place
from ai_psychiatrist.store.keys import Seal, TenantKeys
from ai_psychiatrist.store.moving import columns_in, moment_in, refusing_foreign
from ai_psychiatrist.store.review_rows import said_place
from ai_psychiatrist.store.rows import (
    IS_OWN,
    IS_STORED,
    NOT_ERASED,
    OF_RECORD,
    TRANSCRIPT,
    RecordRows,
)
from ai_psychiatrist.store.schema import (
    OF_TENANT,
    begun,
    bodies,
    calls,
    events,
    jobs,
    records,
    reviews,
    shown,
)

_NOT_MOVED: Final = frozenset({"tenant", "record_id", "seq", "swept_at"})
_IDS: Final = select(records.c.id).where(IS_OWN, NOT_ERASED).order_by(records.c.seq)
_HAS: Final = select(records.c.id).where(IS_STORED)
_PARTS: Final = {
    table: select(table).where(table.c.tenant == OF_TENANT, table.c.record_id == OF_RECORD)
    for table in (begun, bodies, calls, events, jobs, reviews, shown)
}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedRecords:
    """Those of a tenant."""

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)
    rows: RecordRows
    queued: JobRows

    def ids(self) -> tuple[str, ...]:
        """Return the assessments that are stored, the oldest first."""
        return tuple(str(row.id) for row in self.database.all(_IDS))

    def of(self, record_id: str) -> OpenedRecord:
        """Return an assessment as it is at one moment; raises `NotFound`, `ArtifactMismatch`."""
        with self.database.writing():
            row = self.rows.row(record_id)
            seal = self.rows.keys.seal(row.subject_id)
            found = {
                table: self.database.all(query, of_record=record_id)
                for table, query in _PARTS.items()
            }
            return OpenedRecord(
                row=_clear(row),
                subject=self._name(row.subject_id),
                parts={one.part: _text(seal, one, record_id, one.part) for one in found[bodies]},
                job=next(map(_clear, found[jobs]), None),
                calls=tuple(
                    _opened(one, seal, *call_place(record_id, one.digest, one.occurrence))
                    for one in found[calls]
                ),
                events=tuple(map(_clear, found[events])),
                shown=tuple(str(one.rater) for one in found[shown]),
                begun=tuple(map(_clear, found[begun])),
                reviews=tuple(_opened(one, seal, *said_place(one)) for one in found[reviews]),
            )

    def take_in(self, record: OpenedRecord) -> bool:
        """Store an assessment that another store gave; `False` for one that is there already.

        One that was under way waits. Raises `InputError` for what no store gave, and then nothing
        of it is stored.
        """
        with self.database.writing(), refusing_foreign("an assessment"):
            record_id = str(record.row["id"])
            if self.database.one(_HAS, of_record=record_id) is not None:
                return False
            self._check(record)
            given, now = str(record.row["subject_id"]), str(record.row["created_at"])
            subject_id = self.keys.adopt(given, record.subject, now=now)
            seal, own = self.rows.keys.seal(subject_id), {"record_id": record_id}
            (seq,) = self.database.numbers("last_record")
            # An earlier version wrote no `kept_from`.
            row = {"kept_from": now, **record.row, "subject_id": subject_id, "seq": seq}
            row["kept_from"] = moment_in(row["kept_from"])
            if row["state"] == RecordState.RUNNING.value:
                row["state"] = RecordState.WAITING.value
            self.database.add(records, row)
            for part, content in record.parts.items():
                self.rows.put(record_id, part, content.encode(), seal)
            self._add_job(
                record_id, record.job, is_waiting=row["state"] == RecordState.WAITING.value
            )
            for call in record.calls:
                place = call_place(record_id, str(call["digest"]), int(str(call["occurrence"])))
                self.database.add(calls, {**own, **call, "body": _sealed(seal, call, *place)})
            for step in record.events:
                self.database.add(events, {**own, **step})
            for rater in record.shown:
                self.database.add(shown, {**own, "rater": rater})
            for review in record.begun:
                committed = {"is_committed": bool(review["is_committed"])}
                self.database.add(begun, {**own, **review, **committed})
            for said in record.reviews:
                (number,) = self.database.numbers("last_review")
                place = (record_id, *(str(said[name]) for name in ("rater", "kind", "place")))
                body = _sealed(seal, said, *place)
                self.database.add(reviews, {**own, **said, "body": body, "number": number})
        return True

    def _add_job(
        self, record_id: str, job: Mapping[str, Value] | None, *, is_waiting: bool
    ) -> None:
        if job is not None:
            self.database.add(jobs, {"record_id": record_id, **job})
            if is_waiting:
                self.queued.enqueue(record_id, str(job["asked_by"]))

    def _check(self, record: OpenedRecord) -> None:
        """Refuse words that could not be read again."""
        RecordState(str(record.row["state"]))
        transcript_in(record.parts[TRANSCRIPT].encode())
        for call in record.calls:
            call_in(str(call["body"]).encode())
        for said in record.reviews:
            said_in(str(said["kind"]), str(said["body"]).encode())

    def _name(self, subject_id: str) -> str | None:
        try:
            return self.keys.name(subject_id)
        except NotFound:
            raise ArtifactMismatch(problem_code="assessment_unreadable") from None


_clear: Final = partial(columns_in, but=_NOT_MOVED)


def _sealed(seal: Seal, row: Mapping[str, Value], *place: str) -> bytes:
    return seal.put(str(row["body"]).encode(), *place)


def _opened(row: Found, seal: Seal, *place: str) -> dict[str, Value]:
    return _clear(row) | {"body": _text(seal, row, *place)}


def _text(seal: Seal, row: Found, *place: str) -> str:
    return seal.take(row.body, *place).decode()
