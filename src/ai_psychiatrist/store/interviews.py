"""The interviews of a tenant: every step of an interview is one transaction.

Rows are known by hashes of ids, and all words are sealed, each interview under a key of its own:
only who knows an id gets at one. What is older than it may be counts as not there.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import BindParameter, Table, and_, bindparam, case, delete, func, select, update

from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound, RequestConflict
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, written
from ai_psychiatrist.store.keys import Seal, TenantKeys
from ai_psychiatrist.store.moving import columns_in, moment_in, refusing_foreign
from ai_psychiatrist.store.schema import OF_TENANT, answers, interviews, origins, turns

ID: Final = "id"
ORIGIN: Final = "origin"
STATE: Final = "state"
ANSWER: Final = "answer"
TURN: Final = "turn"

_OF_INTERVIEW: Final[BindParameter[str]] = bindparam("of_interview")
_OLDEST: Final[BindParameter[str]] = bindparam("oldest")
_IS_OWN: Final = interviews.c.tenant == OF_TENANT
_IS_ONE: Final = and_(_IS_OWN, interviews.c.id_hash == _OF_INTERVIEW)
_WITH_ORIGIN: Final = select(interviews, origins.c.body.label("origin")).join_from(
    interviews,
    origins,
    and_(origins.c.tenant == interviews.c.tenant, origins.c.id_hash == interviews.c.id_hash),
)
_STORED: Final = _WITH_ORIGIN.where(_IS_ONE)
"""Also one that a sweep has hidden."""
_ONE: Final = _STORED.where(interviews.c.swept_at.is_(None))
_SHOWN: Final = _WITH_ORIGIN.where(
    _IS_OWN, interviews.c.swept_at.is_(None), interviews.c.kept_from > _OLDEST
)
_LISTED: Final = _SHOWN.order_by(
    case((interviews.c.state == "safety_hold", 0), else_=1), interviews.c.created_at.desc()
)
_OPENED: Final = _SHOWN.order_by(interviews.c.created_at)
_REPLACED: Final = update(interviews).where(
    _IS_ONE, interviews.c.version == bindparam("of_version")
)
_DELETED: Final = delete(interviews).where(_IS_ONE)
_HOW_MANY: Final = select(func.count()).where(_IS_OWN)
_PARTS: Final = {
    table: select(table).where(table.c.tenant == OF_TENANT, table.c.id_hash == _OF_INTERVIEW)
    for table in (answers, turns)
}
_KEYED: Final = {
    table: query.where(table.c.key_hash == bindparam("of_key")) for table, query in _PARTS.items()
}
_NOT_MOVED: Final = frozenset(
    {"tenant", "id_hash", "sealed_id", "subject_id", "swept_at", "body", "origin"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewBounds:
    """Bounds of all interviews that a tenant keeps."""

    keep: timedelta = timedelta(days=30)
    """How long an interview is kept after its last change."""
    max_stored: int = 10_000
    """Interviews."""
    max_bytes: int = 1_073_741_824
    """Of what is sealed; a new interview has to fit in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInterview:
    """An interview as it is kept: bytes for whoever knows their shape."""

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
    is_readable: bool


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


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewRows:
    """Those of a tenant.

    Every method may raise `StoreUnusable`, those that read `ArtifactMismatch`.
    """

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)
    bounds: InterviewBounds
    clock: Callable[[], datetime]

    def add(self, interview_id: str, stored: StoredInterview, columns: Mapping[str, Value]) -> bool:
        """Put down a new interview; `False` where there is no room for it.

        Raises `StoreUnusable` where the tenant may store no further bytes at all.
        """
        now = self._now()
        with self.database.writing():
            if self._is_full(len(stored.origin) + len(stored.state)):
                return False
            moments = dict.fromkeys(("created_at", "updated_at", "kept_from"), now)
            self._insert(interview_id, stored, {**moments, **columns})
            self.database.require_room()
        return True

    def load(self, interview_id: str) -> StoredInterview:
        """Return an interview; raises `NotFound`."""
        row = self.database.one(_ONE, of_interview=id_hash(interview_id))
        if row is None or row.kept_from <= self._oldest():
            raise NotFound("interview_not_found")
        return self._stored(row)

    def replace(
        self,
        interview_id: str,
        state: bytes,
        columns: Mapping[str, Value],
        *,
        version: int,
        answer: Keyed | None = None,
        turn: Keyed | None = None,
    ) -> None:
        """Replace the state of an interview, with what else belongs to the step.

        `version`: the one that is replaced. Raises `RequestConflict` when another one is stored,
        and `NotFound`; then nothing is written.
        """
        hashed, now = id_hash(interview_id), self._now()
        with self.database.writing():
            row = self.database.one(_ONE, of_interview=hashed)
            if row is None:
                raise NotFound("interview_not_found")
            seal = self.keys.seal(row.subject_id)
            changed = {"body": seal.put(state, hashed, STATE), **columns}
            changed |= dict.fromkeys(("updated_at", "kept_from"), now)
            if not self.database.run(_REPLACED, of_interview=hashed, of_version=version, **changed):
                raise RequestConflict("version_conflict")
            for table, part, keyed, number in (
                (answers, ANSWER, answer, "turn"),
                (turns, TURN, turn, "version"),
            ):
                if keyed is not None:
                    hashed_key = key_hash(interview_id, keyed.key)
                    body = seal.put(keyed.content, hashed, part, hashed_key)
                    own = {"id_hash": hashed, "key_hash": hashed_key, "recorded_at": now}
                    self.database.add(table, {**own, number: keyed.number, "body": body})

    def known(self, interview_id: str, key: str) -> tuple[bytes, bytes | None] | None:
        """Return the answer that is stored under a key, and the interview after its turn.

        Without the latter the turn is not done yet.
        """
        names = {"of_interview": id_hash(interview_id), "of_key": key_hash(interview_id, key)}
        with self.database.reading():
            row = self.database.one(_ONE, of_interview=names["of_interview"])
            answer = self.database.one(_KEYED[answers], **names)
            if row is None or answer is None:
                return None
            turn = self.database.one(_KEYED[turns], **names)
            seal = self.keys.seal(row.subject_id)
            place = (names["of_interview"], ANSWER, names["of_key"])
            sent = seal.take(answer.body, *place)
            place = (names["of_interview"], TURN, names["of_key"])
            return sent, None if turn is None else seal.take(turn.body, *place)

    def delete(self, interview_id: str) -> None:
        """Remove an interview, hidden or not, with its key; raises `NotFound`."""
        with self.database.writing():
            row = self.database.one(_STORED, of_interview=id_hash(interview_id))
            if row is None:
                raise NotFound("interview_not_found")
            self.database.run(_DELETED, of_interview=row.id_hash)
            self.keys.forget(row.subject_id)
        self.keys.wipe()

    def list(self) -> tuple[ListedInterview, ...]:
        """Return all interviews, those that are held first, then the latest."""
        return tuple(map(self._listed, self.database.all(_LISTED, oldest=self._oldest())))

    def opened(self, *, most: int | None = None) -> Iterator[OpenedInterview | None]:
        """Yield interviews with their words, the oldest first; `None` for one that cannot be read.

        `most`: how many, for a sample; else all, for another store.
        """
        for row in self.database.all(_OPENED.limit(most), oldest=self._oldest()):
            try:
                yield self._opened(row)
            except ArtifactMismatch:
                yield None

    def take_in(self, given: OpenedInterview) -> bool:
        """Store an interview that another store gave; `False` for one that is there already.

        Raises `InputError` for what no store gave, and then nothing of it is stored.
        """
        hashed = id_hash(given.id)
        with self.database.writing(), refusing_foreign("an interview"):
            if self.database.one(_STORED, of_interview=hashed) is not None:
                return False
            stored = StoredInterview(origin=given.origin.encode(), state=given.state.encode())
            columns = {**given.row, "kept_from": moment_in(given.row["kept_from"])}
            seal = self._insert(given.id, stored, columns)
            for table, rows, part in ((answers, given.answers, ANSWER), (turns, given.turns, TURN)):
                for row in rows:
                    place = (hashed, part, str(row["key_hash"]))
                    body = seal.put(str(row["body"]).encode(), *place)
                    self.database.add(table, {**row, "id_hash": hashed, "body": body})
        return True

    def _insert(
        self, interview_id: str, stored: StoredInterview, columns: Mapping[str, Value]
    ) -> Seal:
        hashed = id_hash(interview_id)
        subject_id = self.keys.subject(None, now=self._now())
        seal = self.keys.seal(subject_id)
        own: dict[str, Value] = {
            "id_hash": hashed,
            "subject_id": subject_id,
            "sealed_id": seal.put(interview_id.encode(), hashed, ID),
            "body": seal.put(stored.state, hashed, STATE),
        }
        self.database.add(interviews, {**columns, **own})
        origin = seal.put(stored.origin, hashed, ORIGIN)
        self.database.add(origins, {"id_hash": hashed, "body": origin})
        return seal

    def _is_full(self, further: int) -> bool:
        held = self.database.one(_HOW_MANY)
        if held is None or held[0] >= self.bounds.max_stored:
            return True
        return self.database.counter("interview_bytes") + further > self.bounds.max_bytes

    def _listed(self, row: Found) -> ListedInterview:
        interview_id, is_readable = "", False
        with suppress(ArtifactMismatch, UnicodeDecodeError):
            interview_id = self._id(row)
            self._stored(row)
            is_readable = True
        return ListedInterview(id=interview_id, row=row, is_readable=is_readable)

    def _opened(self, row: Found) -> OpenedInterview:
        stored, seal = self._stored(row), self.keys.seal(row.subject_id)

        def parts(table: Table, part: str) -> tuple[Mapping[str, Value], ...]:
            return tuple(
                columns_in(one, but=_NOT_MOVED)
                | {"body": seal.take(one.body, row.id_hash, part, str(one.key_hash)).decode()}
                for one in self.database.all(_PARTS[table], of_interview=row.id_hash)
            )

        return OpenedInterview(
            id=self._id(row),
            row=columns_in(row, but=_NOT_MOVED),
            origin=stored.origin.decode(),
            state=stored.state.decode(),
            answers=parts(answers, ANSWER),
            turns=parts(turns, TURN),
        )

    def _id(self, row: Found) -> str:
        return self.keys.seal(row.subject_id).take(row.sealed_id, row.id_hash, ID).decode()

    def _stored(self, row: Found) -> StoredInterview:
        seal = self.keys.seal(row.subject_id)
        return StoredInterview(
            origin=seal.take(row.origin, row.id_hash, ORIGIN),
            state=seal.take(row.body, row.id_hash, STATE),
        )

    def _oldest(self) -> str:
        """Return before when an interview's last change is too long ago."""
        return written(self.clock() - self.bounds.keep)

    def _now(self) -> str:
        return written(self.clock())


def id_hash(interview_id: str) -> str:
    """Return the SHA-256 by which an interview is stored, in hexadecimal digits.

    No key is needed: 192 random bits cannot be found by trying.
    """
    return hashlib.sha256(interview_id.encode()).hexdigest()


def key_hash(interview_id: str, idempotency_key: str) -> str:
    """Return the SHA-256 by which an answer is stored; its key, too, may hold words."""
    return hashlib.sha256(f"{interview_id}/{idempotency_key}".encode()).hexdigest()
