"""Everything that is stored of an assessment, opened: what another store can take in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound
from ai_psychiatrist.ledger.store.database import Row, Value
from ai_psychiatrist.reviews.archive.kept_calls import call_place
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase
from ai_psychiatrist.reviews.archive.record_rows import NOT_ERASED, RecordRows
from ai_psychiatrist.reviews.archive.review_rows import said_place
from ai_psychiatrist.reviews.archive.seals import Seal
from ai_psychiatrist.reviews.archive.tenant_keys import TenantKeys

_IDS: Final = f"SELECT id FROM records WHERE {NOT_ERASED} ORDER BY seq"  # noqa: S608  our names
_NOT_MOVED: Final = frozenset({"seq", "runner"})


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

    database: PrivateDatabase
    keys: TenantKeys
    rows: RecordRows

    def ids(self) -> tuple[str, ...]:
        """Return the assessments that are stored, the oldest first."""
        return tuple(str(row[0]) for row in self.database.fetch(_IDS))

    def of(self, record_id: str) -> OpenedRecord:
        """Return an assessment as it is at one moment; raises `NotFound`, `ArtifactMismatch`."""
        with self.keys.still(), self.database.transaction():
            row = self.rows.row(record_id)
            seal = self.rows.seals.of(row["subject_id"])
            return OpenedRecord(
                row={name: row[name] for name in row.keys() if name not in _NOT_MOVED},  # noqa: SIM118  a row's values are what it iterates over
                subject=self._name(row["subject_id"]),
                parts={
                    one["part"]: _text(seal, one["body"], record_id, one["part"])
                    for one in self._all("bodies", record_id)
                },
                job=next((_plain(one) for one in self._all("jobs", record_id)), None),
                calls=tuple(
                    _opened(one, seal, *call_place(record_id, one["digest"], one["occurrence"]))
                    for one in self._all("calls", record_id)
                ),
                events=tuple(map(_plain, self._all("events", record_id))),
                shown=tuple(str(one["rater"]) for one in self._all("shown", record_id)),
                begun=tuple(map(_plain, self._all("begun", record_id))),
                reviews=tuple(
                    _opened(one, seal, *said_place(one)) for one in self._all("reviews", record_id)
                ),
            )

    def _name(self, subject_id: str) -> str | None:
        try:
            return self.keys.name(subject_id)
        except NotFound:
            raise ArtifactMismatch(problem_code="assessment_unreadable") from None

    def _all(self, table: str, record_id: str) -> Iterator[Row]:
        query = f"SELECT * FROM {table} WHERE record_id = ?"  # noqa: S608  our names
        yield from self.database.fetch(query, (record_id,))


def _plain(row: Row) -> dict[str, Value]:
    return {name: row[name] for name in row.keys() if name != "record_id"}  # noqa: SIM118  see above


def _opened(row: Row, seal: Seal, *place: str) -> dict[str, Value]:
    return _plain(row) | {"body": _text(seal, row["body"], *place)}


def _text(seal: Seal, body: Value, *place: str) -> str:
    return seal.take(body, *place).decode()
