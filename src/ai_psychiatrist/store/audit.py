"""The audit log: who saw, changed, exported and erased what, as an append-only chain without words.

A row holds the digest of the row before it, and a seal that only this installation can make. The
number and digest of the last row, the head, lie signed beside the keys, apart from the rows.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import starmap
from typing import Final, Literal, TypeAlias

from sqlalchemy import bindparam, select, text, union, update

from ai_psychiatrist.domain.access import TENANT_CURE, is_tenant
from ai_psychiatrist.domain.errors import InputError, StoreUnusable
from ai_psychiatrist.store.database import Database, TenantDatabase, written
from ai_psychiatrist.store.key_schema import audit_heads
from ai_psychiatrist.store.schema import KEYS, OF_ANY_TENANT, OF_TENANT, audit, tenants

Action: TypeAlias = Literal[
    "assessment_made",
    "batch_begun",
    "job_cancelled",
    "assessments_listed",
    "assessment_seen",
    "transcript_seen",
    "transcript_read",
    "evidence_seen",
    "certificate_seen",
    "page_seen",
    "assessment_erased",
    "subject_seen",
    "subject_erased",
    "run_erased",
    "run_words_read",
    "review_begun",
    "review_seen",
    "ratings_committed",
    "review_row_added",
    "adjudicated",
    "danger_acknowledged",
    "acknowledgements_seen",
    "ratings_imported",
    "labels_exported",
    "queue_seen",
    "agreement_seen",
    "exported",
    "interview_begun",
    "interview_seen",
    "interview_answered",
    "interview_retried",
    "interview_reopened",
    "interviews_listed",
    "interview_erased",
    "interview_opened",
    "interview_link_made",
    "interview_link_revoked",
    "report_made",
    "report_seen",
    "session_begun",
    "session_ended",
    "logins_refused",
    "key_created",
    "key_revoked",
    "records_swept",
    "records_undeleted",
    "records_backed_up",
    "records_restored",
    "records_exported",
    "records_imported",
    "encryption_key_rotated",
]
"""What was done, or tried. `logins_refused`: of unknown callers, all of a minute in one row."""
Fault: TypeAlias = Literal[
    "edited",
    "foreign",
    "missing",
    "out of order",
    "head differs",
    "head forged",
    "head missing",
    "unreadable",
]
"""What is wrong: a row does not say what it said, was not written by this installation, is gone, or
does not follow the one before; it is another one than a head names; the head was not signed by this
installation, or is gone although there are rows; the rows cannot be read."""

NO_TENANT: Final = "_nobody"
"""Of what is done before a caller is known, such as a login that is refused."""
BEGUN: Final = "begun"
"""Outcome of a change that is about to be made; a second row says how it ended."""

_ACTOR: Final = re.compile(r"[A-Za-z0-9:_.-]{1,128}")
_WRITTEN_HEAD: Final = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})")
_NAME_LENGTH: Final = 32

_OWN: Final = select(*audit.c[1:]).where(audit.c.tenant == OF_TENANT)

_ROWS: Final = _OWN.order_by(audit.c.n)
_ROWS_FROM: Final = _ROWS.where(audit.c.n >= bindparam("of_n"))
_LATEST: Final = _OWN.order_by(audit.c.n.desc()).limit(bindparam("of_count"))
_LATEST_OF: Final = _LATEST.where(audit.c.object == bindparam("of_object"))
_HEAD: Final = select(*audit_heads.c[1:]).where(audit_heads.c.tenant == OF_TENANT)
_HEAD_LOCKED: Final = _HEAD.with_for_update()
"""No other process adds a row until the transaction ends, which writes."""
_MOVE_HEAD: Final = update(audit_heads).where(audit_heads.c.tenant == OF_TENANT)
_BEGIN_HEAD: Final = text(
    f"INSERT INTO {KEYS}.audit_heads (tenant, n, digest, seal) "  # noqa: S608  our own name
    "VALUES (:of_tenant, :n, :digest, :seal) ON CONFLICT DO NOTHING"
)
"""Keeps the first head, unless another process just did."""
_TENANTS: Final = union(*(select(table.c.tenant) for table in (audit_heads, tenants, audit)))
"""Whose rows or heads there may be."""


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
class Finding:
    """A fault and where it is: numbers of the first and the last row, 0 for the whole log."""

    fault: Fault
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        if not self.first:
            return self.fault
        rows = f"row {self.first}" if self.first == self.last else f"rows {self.first}-{self.last}"
        return f"{rows}: {self.fault}"


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in a log; without findings it holds."""

    end: AuditHead
    """The last row that could be read; number 0 where there is none."""
    findings: tuple[Finding, ...]


def noted_head(text: str) -> AuditHead:
    """Read what `audit head` printed; raises `InputError`."""
    found = _WRITTEN_HEAD.fullmatch(text.strip())
    if found is None:
        msg = "--head: write it as `ai-psychiatrist audit head` printed it, NUMBER:DIGEST"
        raise InputError(msg, field="--head")
    return AuditHead(int(found[1]), found[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLog:
    """One tenant's log, for any number of processes that write at the same time.

    Every method but `check` raises `StoreUnusable`.
    """

    database: TenantDatabase
    key: bytes = field(repr=False)

    @property
    def tenant(self) -> str:
        """Whose log it is."""
        return self.database.tenant

    def append(self, *, actor: str, action: Action, outcome: str, record_id: str = "") -> None:
        """Add a row; it is on the disk when this returns.

        A log whose end does not fit its head takes no row: it would cover up what happened.
        """
        if not self.is_begun():
            # Committed before the first row: rows without a head then always mean that the head
            # was taken away, also where a power cut leaves only one of SQLite's two files written.
            self.database.run(_BEGIN_HEAD, **asdict(self._signed(self._origin)))
        with self.database.writing():
            end = self._checked_end(self._head(is_locked=True))
            row = AuditRow(
                n=end.n + 1,
                previous=end.digest,
                at=written(datetime.now(UTC)),
                # Ids are ours; anything else that it may be does not get into the log.
                actor=actor if _ACTOR.fullmatch(actor) else self._name_of(actor),
                action=action,
                object=self._name_of(record_id) if record_id else "",
                outcome=outcome,
                digest="",
                seal="",
            )
            head = AuditHead(row.n, _digest(row))
            sealed = replace(row, digest=head.digest, seal=self._seal("row", head.digest))
            self.database.add(audit, asdict(sealed))
            self.database.run(_MOVE_HEAD, **asdict(self._signed(head)))

    def accept(self) -> None:
        """Take the last row that is there for the end, as after a restore from a backup.

        What was added since the backup is then missing, and only a head kept elsewhere tells.
        """
        with self.database.writing():
            end = self._origin
            for row in self.latest(1):
                if not self._is_own(row.seal, "row", row.digest):
                    raise _unusable("the audit log was written by another installation")
                end = _head_at(row)
            for statement in (_BEGIN_HEAD, _MOVE_HEAD):
                self.database.run(statement, **asdict(self._signed(end)))

    def is_begun(self) -> bool:
        """Return whether there is a head or a row."""
        return self._head() is not None or bool(self.latest(1))

    def require_whole(self) -> None:
        """Raise `StoreUnusable` where `append` would, as far as reading tells."""
        with self.database.reading():
            if self.is_begun():
                self._checked_end(self._head())

    def latest(self, count: int, *, record_id: str | None = None) -> list[AuditRow]:
        """Return the last rows in their order, of one record alone where it is named."""
        query, name = _LATEST if record_id is None else _LATEST_OF, self._name_of(record_id or "")
        rows = self.database.all(query, of_count=count, of_object=name)
        return [*starmap(AuditRow, reversed(rows))]

    def head(self) -> AuditHead | None:
        """Return the head, `None` before the first row."""
        head = self._head()
        if head is not None and not self._is_signed(head):
            raise _unusable("the head of the audit log was changed, or signed with another key")
        return head

    def check(self, *noted: AuditHead) -> Checked:
        """Check all rows, that each follows the one before, and that the heads name rows of it.

        `noted`: heads that were kept elsewhere. Rows behind the head hold: a process may have been
        killed between the writes of SQLite's two files.
        """
        found: list[Finding] = []
        end = self._origin
        try:
            head = self._head()
            if head is not None and self._is_signed(head):
                noted = (*noted, head)
            elif head is not None:
                found.append(Finding("head forged"))
            for row in starmap(AuditRow, self.database.stream(_ROWS)):
                found += self._faults(row, end, noted)
                end = _head_at(row)
        except StoreUnusable:
            return Checked(end, (*found, Finding("unreadable")))
        last = max((one.n for one in noted), default=0)
        if last > end.n:
            found.append(Finding("missing", end.n + 1, last))
        if head is None and end.n:
            found.append(Finding("head missing", end.n, end.n))
        return Checked(end, tuple(found))

    @property
    def _origin(self) -> AuditHead:
        """What the first row follows."""
        return AuditHead(0, hashlib.sha256(f"audit of {self.tenant}".encode()).hexdigest())

    def _head(self, *, is_locked: bool = False) -> AuditHead | None:
        row = self.database.one(_HEAD_LOCKED if is_locked else _HEAD)
        return None if row is None else AuditHead(row.n, row.digest, row.seal)

    def _checked_end(self, head: AuditHead | None) -> AuditHead:
        """Return the last row, which this installation wrote and which the head allows."""
        if head is None:
            raise _unusable("the audit log has rows, and its head is gone")
        rows = [*starmap(AuditRow, self.database.all(_ROWS_FROM, of_n=max(head.n, 1)))]
        named = self._origin if head.n == 0 else next(map(_head_at, rows), None)
        is_fitting = named is not None and str(named) == str(head)
        are_own = all(self._is_own(row.seal, "row", row.digest) for row in rows)
        if not (is_fitting and are_own and self._is_signed(head)):
            raise _unusable("the audit log does not fit its head")
        return _head_at(rows[-1]) if rows else head

    def _faults(
        self, row: AuditRow, before: AuditHead, noted: tuple[AuditHead, ...]
    ) -> Iterator[Finding]:
        """Yield what is wrong with the row that follows another."""
        if row.n > before.n + 1:
            yield Finding("missing", before.n + 1, row.n - 1)
        if _digest(row) != row.digest:
            yield Finding("edited", row.n, row.n)
        elif not self._is_own(row.seal, "row", row.digest):
            yield Finding("foreign", row.n, row.n)
        if row.n == before.n + 1 and row.previous != before.digest:
            yield Finding("out of order", row.n, row.n)
        if any(head.n == row.n and head.digest != row.digest for head in noted):
            yield Finding("head differs", row.n, row.n)

    def _name_of(self, record_id: str) -> str:
        """Return under which name a record stands in the log: nothing of its id is in it."""
        return self._seal("object", record_id)[:_NAME_LENGTH]

    def _signed(self, head: AuditHead) -> AuditHead:
        return replace(head, seal=self._seal("head", str(head)))

    def _is_signed(self, head: AuditHead) -> bool:
        return self._is_own(head.seal, "head", str(head))

    def _is_own(self, seal: str, *parts: str) -> bool:
        return hmac.compare_digest(seal.encode(), self._seal(*parts).encode())

    def _seal(self, *parts: str) -> str:
        """Return 64 hex digits that only this installation can make."""
        said = "\n".join(("audit", self.tenant, *parts)).encode()
        return hmac.new(self.key, said, hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogs:
    """The logs of all tenants. Blocking; methods raise `ConfigurationError` and `StoreUnusable`."""

    database: Callable[[], Database]
    key: Callable[[], bytes] = field(repr=False)
    """Of the installation; makes the seals."""

    def of(self, tenant: str) -> AuditLog:
        """Return the log of a tenant, or of `NO_TENANT`."""
        if tenant != NO_TENANT and not is_tenant(tenant):
            raise InputError(TENANT_CURE, field="tenant")
        return AuditLog(database=TenantDatabase(self.database(), tenant), key=self.key())

    def all(self) -> list[AuditLog]:
        """Return the logs that there are, also those of which a head alone is left."""
        with self.database().transaction(OF_ANY_TENANT, writes=False) as connection:
            names = sorted(map(str, connection.scalars(_TENANTS)))
        logs = [self.of(name) for name in names if name == NO_TENANT or is_tenant(name)]
        return [log for log in logs if log.is_begun()]


def _digest(row: AuditRow) -> str:
    """Return the SHA-256 that a row has to have, over all that it says."""
    said = [row.n, row.previous, row.at, row.actor, row.action, row.object, row.outcome]
    return hashlib.sha256(json.dumps(said, separators=(",", ":")).encode()).hexdigest()


def _head_at(row: AuditRow) -> AuditHead:
    return AuditHead(row.n, row.digest)


def _unusable(reason: str) -> StoreUnusable:
    return StoreUnusable(
        f"{reason}: `ai-psychiatrist audit verify` says what is wrong",
        problem_code="audit_unavailable",
    )
