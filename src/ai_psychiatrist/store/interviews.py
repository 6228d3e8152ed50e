"""The interviews of a tenant: every step of an interview is one transaction.

Rows are known by hashes of ids, and all words are sealed, each interview under a key of its own:
only a caller that knows an id can read one. What is older than it may be counts as missing.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, delete, func, or_, select, update

from ai_psychiatrist.domain.acknowledgement import Acknowledgement, WasRead
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    InputError,
    NotFound,
    RequestConflict,
)
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.store.access_rows import links_to
from ai_psychiatrist.store.acknowledgement_rows import acknowledged, add_acknowledgement
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, own, written
from ai_psychiatrist.store.deliveries import DeliveryRows, InterviewNotice
from ai_psychiatrist.store.keys import Seal, TenantKeys
from ai_psychiatrist.store.moving import (
    add_rows,
    in_clear,
    moment_in,
    opened_rows,
    refusing_foreign,
)
from ai_psychiatrist.store.records import IS_KEPT, level_of
from ai_psychiatrist.store.schema import (
    answers,
    interview_acknowledgements,
    interviews,
    origins,
    records,
    turns,
)

_ID: Final = "id"
"""For what the id of an interview is sealed; its words are for their columns."""
_WITH_ORIGIN: Final = and_(
    origins.c.tenant == interviews.c.tenant, origins.c.id_hash == interviews.c.id_hash
)
_WITH_RECORD: Final = and_(
    records.c.tenant == interviews.c.tenant, records.c.id == interviews.c.record_id, IS_KEPT
)
_ALL: Final = (
    select(interviews, origins.c.body.label("origin"), records.c.subject_id.label("of_subject"))
    .select_from(interviews.join(origins, _WITH_ORIGIN).outerjoin(records, _WITH_RECORD))
    .where(own(interviews))
)
"""Also those that a sweep has hidden."""
_SHOWN: Final = _ALL.where(interviews.c.swept_at.is_(None))


_CHANGING: Final = ("to_read", "unread", "version")
"""Columns of which the sums differ after a step of an interview, or a confirmation."""
_KEY: Final = (
    case((interviews.c.state == "safety_hold", "1 "), else_="0 ")
    + interviews.c.created_at
    + " "
    + interviews.c.id_hash
)
"""In falling order: those that are held first, then the latest."""
_KEY_FORM: Final = re.compile(r"[01] [0-9T:.+-]{1,40} [0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInterview:
    """An interview as it is stored: bytes, of which the caller knows the shape."""

    origin: bytes = field(repr=False)
    state: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed:
    """What belongs to an answer: the answer itself, or what the interview was after its turn."""

    key: str = field(repr=False)
    number: int
    """Of the turn, or of the version after it."""
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedInterview:
    """A line of the list."""

    id: str = field(repr=False)
    """Empty where it cannot be read."""
    row: Found
    subject: str | None = field(repr=False)
    """The study id of the assessment that it is about."""
    stored: StoredInterview | None
    """`None` where it cannot be read."""

    @property
    def is_readable(self) -> bool:
        """Whether it can be read."""
        return self.stored is not None

    @property
    def danger(self) -> RiskLevel | None:
        """The gravest level that held it."""
        return level_of(self.row.danger)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewListRequest:
    """The filters and the page of a list of interviews."""

    limit: int = 50
    cursor: str | None = None
    state: str | None = None
    """Only those in this state."""
    has_danger: bool = False
    """Only those in which danger was found, held or gone on with; unread ones first, by level."""
    is_apart: bool = False
    """Only those about no stored assessment."""
    unread: bool = False
    """Only those with danger that nobody has confirmed reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerExtent:
    """How much danger there is in interviews; nothing is opened for it."""

    statements: int
    """How many a person is to read, read or not."""
    mark: str
    """Another one after every change of an interview with danger, or of who has read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPage:
    """A part of the list."""

    interviews: tuple[ListedInterview, ...]
    next: str | None
    """Cursor of the part after it, `None` at the end."""
    total: int
    """How many the whole list has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedInterview:
    """An interview with all that belongs to it; texts are JSON as it was sealed."""

    id: str = field(repr=False)
    row: Mapping[str, Value]
    """What stands in clear, by column."""
    origin: str = field(repr=False)
    state: str = field(repr=False)
    answers: tuple[Mapping[str, Value], ...] = field(repr=False)
    turns: tuple[Mapping[str, Value], ...] = field(repr=False)
    acknowledgements: tuple[Mapping[str, Value], ...] = field(default=(), repr=False)
    """None in what an earlier version wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewRows:
    """Those of a tenant.

    Every method may raise `StoreUnusable`, those that read `ArtifactMismatch`.
    """

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)
    deliveries: DeliveryRows

    def add(self, interview_id: str, stored: StoredInterview, columns: Mapping[str, Value]) -> bool:
        """Put down a new interview, nothing of it read; `False` where there is no room for it.

        Raises `StoreUnusable` where the tenant may store no further bytes at all.
        """
        with self.database.writing():
            if self._is_full(len(stored.origin) + len(stored.state)):
                return False
            moments = dict.fromkeys(("created_at", "updated_at", "kept_from"), self.database.now())
            row = {**moments, "unread": columns["to_read"], **columns}
            self._insert(interview_id, stored.origin, stored.state, row)
            self.database.require_room()
        return True

    def load(self, interview_id: str) -> StoredInterview:
        """Return an interview; raises `NotFound`."""
        row = self._row(interview_id)
        if row is None or (row.record_id is None and row.kept_from <= self._oldest()):
            raise NotFound("interview_not_found")
        return _stored(self.keys.seal(row.subject_id), row)

    def stored_record(self, record_id: str | None) -> str | None:
        """Return the id of an assessment that an interview can be about: one that is stored."""
        is_one = own(records, id=record_id) & IS_KEPT
        found = None if record_id is None else self.database.one(select(records).where(is_one))
        return None if found is None else record_id

    def replace(
        self,
        interview_id: str,
        state: bytes,
        columns: Mapping[str, Value],
        *,
        version: int,
        answer: Keyed | None = None,
        turn: Keyed | None = None,
        notices: Sequence[InterviewNotice] = (),
    ) -> None:
        """Replace the state of an interview, with what else belongs to the step.

        `version`: the one that is replaced. `notices`: whom to tell what. Raises `RequestConflict`
        when another one is stored, and `NotFound`; then nothing is written.
        """
        now = self.database.now()
        with self.database.writing():
            row = self._row(interview_id)
            if row is None:
                raise NotFound("interview_not_found")
            if row.version != version:
                raise RequestConflict("version_conflict")
            seal, owner = self.keys.seal(row.subject_id), {"id_hash": row.id_hash}
            figures = dict.fromkeys(("updated_at", "kept_from"), now)
            # What was read stays read, and what is new is unread.
            unread = row.unread + int(str(columns["to_read"])) - row.to_read
            changed = seal.sealed(
                interviews, {**owner, **figures, **columns, "unread": unread}, state
            )
            self.database.run(update(interviews).where(own(interviews, **owner)), **changed)
            for table, keyed, number in ((answers, answer, "turn"), (turns, turn, "version")):
                if keyed is not None:
                    key = key_hash(interview_id, keyed.key)
                    part: dict[str, Value] = {**owner, "key_hash": key, "recorded_at": now}
                    part[number] = keyed.number
                    self.database.add(table, seal.sealed(table, part, keyed.content))
            for notice in notices:
                self.deliveries.tell_interview(row.id_hash, notice, seal)

    def known(self, interview_id: str, key: str) -> tuple[bytes, bytes | None] | None:
        """Return the answer that is stored under a key, and the interview after its turn.

        Without the latter the turn is not done yet.
        """
        names = {"id_hash": id_hash(interview_id), "key_hash": key_hash(interview_id, key)}
        with self.database.reading():
            row = self._row(interview_id)
            answer, turn = (
                self.database.one(select(table).where(own(table, **names)))
                for table in (answers, turns)
            )
            if row is None or answer is None:
                return None
            seal = self.keys.seal(row.subject_id)
            after = None if turn is None else seal.opened(turns, turn)
            return seal.opened(answers, answer), after

    def acknowledge(
        self, interview_id: str, reader: str, said: WasRead, *, newly_read: int
    ) -> None:
        """Store what a person has read of its danger; raises `NotFound`.

        `newly_read`: how many of the statements nobody had read before.
        """
        with self.database.writing():
            row = self._row(interview_id)
            if row is None:
                raise NotFound("interview_not_found")
            owner, unread = {"id_hash": str(row.id_hash)}, row.unread - newly_read
            add_acknowledgement(
                self.database,
                interview_acknowledgements,
                self.keys.seal(row.subject_id),
                reader,
                said,
                **owner,
            )
            changed = update(interviews).where(own(interviews, **owner))
            self.database.run(changed, unread=unread)
            if not unread:
                self.deliveries.forget_reminder(**owner)
            self.database.require_room()

    def acknowledged(self, interview_id: str) -> tuple[Acknowledgement, ...]:
        """Return who has read its danger, in order; raises `NotFound`."""
        return acknowledged(
            self.database,
            interview_acknowledgements,
            self.seal(interview_id),
            id_hash=id_hash(interview_id),
        )

    def write_total(self, hashed: str, total_min: int, total_max: int) -> None:
        """Write the bounds of the total that an interview comes to."""
        changed = update(interviews).where(own(interviews, id_hash=hashed))
        self.database.run(changed, total_min=total_min, total_max=total_max)

    def delete(self, hashed: str) -> str | None:
        """Remove the interview with this hash of its id, hidden or not, with its key.

        Nothing of it is left in the files after `TenantKeys.wipe`. Returns the id of the assessment
        that it was about. Raises `NotFound`.
        """
        stored = own(interviews, id_hash=hashed)
        with self.database.writing():
            row = self.database.one(select(*interviews.c["subject_id", "record_id"]).where(stored))
            if row is None:
                raise NotFound("interview_not_found")
            self.database.run(delete(interviews).where(stored))
            self.database.run(links_to([hashed]))
            self.keys.forget(row.subject_id)
        return None if row.record_id is None else str(row.record_id)

    def seal(self, interview_id: str) -> Seal:
        """Return what seals for an interview as long as it is kept; raises `NotFound`."""
        row = self._row(interview_id)
        if row is None:
            raise NotFound("interview_not_found")
        return self.keys.seal(row.subject_id)

    def id_of(self, hashed: str) -> str:
        """Return the id of the interview that is stored under this hash; raises `NotFound`."""
        row = self.database.one(_SHOWN.where(interviews.c.id_hash == hashed))
        if row is None:
            raise NotFound("interview_not_found")
        return _id(self.keys.seal(row.subject_id), row)

    def list(self) -> Iterator[ListedInterview]:
        """Yield all interviews, those that are held first, then the latest."""
        shown = _SHOWN.where(self._is_kept())
        yield from self._listed(self.database.all(shown.order_by(_KEY.desc())))

    def about(self, record_id: str) -> tuple[ListedInterview, ...]:
        """Return the interviews about an assessment, the newest first."""
        shown = _SHOWN.where(interviews.c.record_id == record_id)
        newest = (interviews.c.created_at.desc(), interviews.c.id_hash)
        return tuple(self._listed(self.database.all(shown.order_by(*newest))))

    def meant_by(self, given: str) -> tuple[ListedInterview, ...]:
        """Return the interviews of an id, an assessment's id or a study id, the newest first."""
        is_meant = [interviews.c.id_hash == id_hash(given), interviews.c.record_id == given]
        if (subject_id := self.keys.find(given)) is not None:
            is_meant.append(records.c.subject_id == subject_id)
        shown = _SHOWN.where(self._is_kept(), or_(*is_meant))
        rows = self.database.all(shown.order_by(interviews.c.created_at.desc()))
        return tuple(self._listed(rows))

    def unread(self) -> int:
        """Return how many about no assessment have danger that nobody has confirmed reading."""
        is_unread = (interviews.c.unread > 0, interviews.c.record_id.is_(None))
        return self.database.count(_SHOWN.where(self._is_kept(), *is_unread))

    def danger_extent(self) -> DangerExtent:
        """Return how much danger there is in those that are kept."""
        sums = (func.coalesce(func.sum(interviews.c[name]), 0).label(name) for name in _CHANGING)
        in_danger = own(interviews, swept_at=None) & interviews.c.danger.is_not(None)
        of_kept = select(func.count(), *sums).where(in_danger, self._is_kept())
        (row,) = self.database.all(of_kept)
        return DangerExtent(statements=int(row.to_read), mark=" ".join(map(str, row)))

    def page(self, wanted: InterviewListRequest) -> ListedPage:
        """Return a part of that list; raises `InputError` for a cursor that no page gave."""
        shown, order = _SHOWN.where(self._is_kept()), _KEY.desc()
        first: tuple[ColumnElement[Any], ...] = ()
        if wanted.has_danger:
            shown = shown.where(interviews.c.danger.is_not(None))
            first = (case((interviews.c.unread > 0, -interviews.c.danger), else_=1),)
        if wanted.is_apart:
            shown = shown.where(interviews.c.record_id.is_(None))
        if wanted.unread:
            shown = shown.where(interviews.c.unread > 0)
        if wanted.state is not None:
            shown = shown.where(interviews.c.state == wanted.state)
        query = shown.add_columns(_KEY.label("key")).order_by(*first, order).limit(wanted.limit + 1)
        if wanted.cursor is not None:
            query = query.where(_read_cursor(wanted.cursor) > _KEY)
        with self.database.reading():
            rows = self.database.all(query)
            total = self.database.count(shown)
        page, cursor = rows[: wanted.limit], None
        if len(rows) > wanted.limit:
            cursor = base64.urlsafe_b64encode(page[-1].key.encode()).decode().rstrip("=")
        return ListedPage(interviews=tuple(self._listed(page)), next=cursor, total=total)

    def opened(self, *, most: int | None = None) -> Iterator[OpenedInterview | None]:
        """Yield interviews with their words, the oldest first; `None` for one that cannot be read.

        `most`: how many, for a sample; else all, for another store.
        """
        shown = _SHOWN.where(self._is_kept())
        for row in self.database.all(shown.order_by(interviews.c.created_at).limit(most)):
            try:
                yield self._opened(row)
            except ArtifactMismatch:
                yield None

    def take_in(self, given: OpenedInterview) -> bool:
        """Store an interview that another store gave; `False` for one that is there already.

        Raises `InputError` for what no store gave, and then nothing of it is stored.
        """
        owner = {"id_hash": id_hash(given.id)}
        with self.database.writing(), refusing_foreign("an interview"):
            if self.database.one(select(interviews).where(own(interviews, **owner))) is not None:
                return False
            columns = {**given.row, "kept_from": moment_in(given.row["kept_from"])}
            seal = self._insert(given.id, given.origin, given.state, columns)
            parts = {
                answers: given.answers,
                turns: given.turns,
                interview_acknowledgements: given.acknowledgements,
            }
            for table, rows in parts.items():
                add_rows(self.database, table, seal, rows, **owner)
        return True

    def _insert(
        self,
        interview_id: str,
        origin: str | bytes,
        state: str | bytes,
        columns: Mapping[str, Value],
    ) -> Seal:
        subject_id = self.keys.subject(None)
        seal, owner = self.keys.seal(subject_id), {"id_hash": id_hash(interview_id)}
        sealed_id = seal.put(interview_id.encode(), owner["id_hash"], _ID)
        row = {**columns, **owner, "subject_id": subject_id, "sealed_id": sealed_id}
        self.database.add(interviews, seal.sealed(interviews, row, state))
        self.database.add(origins, seal.sealed(origins, owner, origin))
        return seal

    def _is_full(self, further: int) -> bool:
        limits = self.database.limits
        stored = self.database.count(select(interviews.c.id_hash).where(own(interviews)))
        if stored >= limits.max_interviews:
            return True
        return self.database.counter("interview_bytes") + further > limits.max_interview_bytes

    def _row(self, interview_id: str) -> Found | None:
        """Return an interview that no sweep has hidden."""
        return self.database.one(_SHOWN.where(interviews.c.id_hash == id_hash(interview_id)))

    def _listed(self, rows: Sequence[Found]) -> Iterator[ListedInterview]:
        subjects = self.keys.names({row.of_subject for row in rows if row.of_subject})
        for row in rows:
            interview_id, stored = "", None
            with suppress(ArtifactMismatch, UnicodeDecodeError):
                seal = self.keys.seal(row.subject_id)
                interview_id = _id(seal, row)
                stored = _stored(seal, row)
            subject = subjects.get(row.of_subject)
            yield ListedInterview(id=interview_id, row=row, subject=subject, stored=stored)

    def _opened(self, row: Found) -> OpenedInterview:
        seal = self.keys.seal(row.subject_id)
        stored = _stored(seal, row)
        clear = in_clear(row)
        return OpenedInterview(
            id=_id(seal, row),
            row={
                name: clear[name]
                for name in clear
                if name not in {"subject_id", "origin", "of_subject"}
            },
            origin=stored.origin.decode(),
            state=stored.state.decode(),
            answers=opened_rows(self.database, answers, seal, id_hash=row.id_hash),
            turns=opened_rows(self.database, turns, seal, id_hash=row.id_hash),
            acknowledgements=opened_rows(
                self.database, interview_acknowledgements, seal, id_hash=row.id_hash
            ),
        )

    def _is_kept(self) -> ColumnElement[bool]:
        """Return the condition of those that are kept: with their assessment, or long enough."""
        is_recent = interviews.c.kept_from > self._oldest()
        return or_(is_recent, interviews.c.record_id.is_not(None))

    def _oldest(self) -> str:
        """Return before when an interview's last change is too long ago."""
        return written(self.database.clock() - self.database.limits.keep_interviews)


def _read_cursor(given: str) -> str:
    """Return the key of the line where a page ended; raises `InputError` for anything else."""
    with suppress(ValueError):
        key = base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)).decode("ascii")
        if _KEY_FORM.fullmatch(key):
            return key
    msg = "cursor has to be the `next` of a page of this list; leave it out for the first page"
    raise InputError(msg, field="cursor")


def _id(seal: Seal, row: Found) -> str:
    return seal.take(row.sealed_id, row.id_hash, _ID).decode()


def _stored(seal: Seal, row: Found) -> StoredInterview:
    return StoredInterview(
        origin=seal.opened(origins, row, "origin"), state=seal.opened(interviews, row)
    )


def id_hash(interview_id: str) -> str:
    """Return the SHA-256 by which an interview is stored, in hexadecimal digits.

    No key is needed: 192 random bits cannot be found by trying.
    """
    return hashlib.sha256(interview_id.encode()).hexdigest()


def key_hash(interview_id: str, idempotency_key: str) -> str:
    """Return the SHA-256 by which an answer is stored; its key, too, may hold words."""
    return hashlib.sha256(f"{interview_id}/{idempotency_key}".encode()).hexdigest()
