"""The SQLite file of all interviews: every step of an interview is one transaction."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    InputError,
    NotFound,
    RequestConflict,
)
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.interview.errors import store_full, store_unusable
from ai_psychiatrist.interview.ids import id_hash, key_hash
from ai_psychiatrist.interview.limits import StoreLimits
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.interview.snapshot import InterviewListing
from ai_psychiatrist.interview.store import queries
from ai_psychiatrist.interview.store.columns import assigned, stored_columns
from ai_psychiatrist.interview.store.interview_file import (
    KEY_NAME,
    OpenedFile,
    open_interview_file,
)
from ai_psychiatrist.interview.store.serialization import (
    after_turn,
    origin_bytes,
    state_bytes,
    turn_bytes,
    whole,
)
from ai_psychiatrist.ledger.store.database import Row, Value
from ai_psychiatrist.ledger.store.private_database import MOST_JOURNAL_BYTES, empty_journal
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.key_files import StoreKeys


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenAnswer:
    """An answer as it is put down beside the interview."""

    key: str
    turn: int
    sent: bytes
    """What was sent; tells another answer under the same key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """What is stored under an idempotency key."""

    sent: bytes
    after: Interview | None
    """The interview after its turn, `None` while the turn is not done."""


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


class InterviewStore:
    """Interviews at rest; any thread may call it, and any number of processes.

    The file holds hashes of their ids, and all words are encrypted: only who knows an id, or has
    the key, gets at one. What is older than it may be counts as not there. Every method may raise
    `StoreUnusable`; those that read, `ArtifactMismatch`.
    """

    def __init__(
        self, opened: OpenedFile, limits: StoreLimits, clock: Callable[[], datetime]
    ) -> None:
        self._database = opened.database
        self._sealer = opened.sealer
        self._limits = limits
        self._clock = clock

    @classmethod
    def open(
        cls,
        path: Path,
        keys: StoreKeys | None = None,
        *,
        limits: StoreLimits | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> Self:
        """Open the file, `interviews.sqlite` by convention, and make it when there is none.

        `keys`: without any, one is kept beside the file. Raises `ConfigurationError` when it
        cannot be made, others can read it, or it was written with another key.
        """
        keys = keys or StoreKeys(own=path.with_name(KEY_NAME))
        with _translated():
            opened = open_interview_file(path, keys, now=_written(clock()))
            return cls(opened, limits or StoreLimits(), clock)

    def close(self) -> None:
        """Close the file."""
        with _translated():
            self._database.close()

    def add(self, interview: Interview) -> None:
        """Put down a new interview; raises `StoreUnusable` when there is no room for it."""
        hashed = id_hash(interview.id)
        now = self._now()
        origin = self._sealer.seal(origin_bytes(interview), hashed, "origin")
        with self._transaction():
            if self._is_full(len(origin)):
                self._delete_expired()
                if self._is_full(len(origin)):
                    raise store_full()
            row = {
                "id_hash": hashed,
                "sealed_id": self._sealer.seal(interview.id.encode(), hashed, "id"),
                "body": self._sealer.seal(state_bytes(interview), hashed, "state"),
                **dict.fromkeys(("created_at", "updated_at", "kept_from"), now),
                **stored_columns(interview),
            }
            self._insert("interviews", row)
            self._database.execute(queries.ADD_ORIGIN, (hashed, origin))
        if len(origin) > MOST_JOURNAL_BYTES:
            self._empty_journal()

    def load(self, interview_id: str) -> Interview:
        """Return an interview; raises `NotFound`."""
        with _translated():
            rows = self._database.fetch(queries.LOAD, (id_hash(interview_id), self._oldest()))
        if not rows:
            raise NotFound("interview_not_found")
        origin, state = rows[0]
        return self._whole(interview_id, origin, state)

    def save(
        self,
        interview: Interview,
        *,
        answer: TakenAnswer | None = None,
        finished_key: str | None = None,
    ) -> None:
        """Replace an interview by its next version, with what else belongs to the step.

        `answer`: the answer that the step took. `finished_key`: the key of the answer whose turn
        the step ends. Raises `RequestConflict` when the stored version is not the one before, and
        `NotFound`; then nothing is written.
        """
        with self._transaction():
            self._replace(interview)
            if answer is not None:
                self._put("answers", interview.id, answer.key, answer.turn, answer.sent, "answer")
            if finished_key is not None:
                body = turn_bytes(interview)
                self._put("turns", interview.id, finished_key, interview.version, body, "turn")

    def known(self, interview_id: str, key: str) -> KnownAnswer | None:
        """Return what is stored under an idempotency key of an interview."""
        hashed, hashed_key = id_hash(interview_id), key_hash(interview_id, key)
        with _translated():
            rows = self._database.fetch(queries.KNOWN, (hashed, hashed_key))
        if not rows:
            return None
        answer, turn, origin, state = rows[0]
        sent = self._sealer.unseal(answer, hashed, "answer", hashed_key)
        if turn is None:
            return KnownAnswer(sent=sent, after=None)
        latest = self._whole(interview_id, origin, state)
        grown = self._sealer.unseal(turn, hashed, "turn", hashed_key)
        return KnownAnswer(sent=sent, after=after_turn(latest, grown))

    def delete(self, interview_id: str) -> None:
        """Remove an interview and all that belongs to it; raises `NotFound`."""
        with self._transaction():
            removed = self._database.execute(queries.DELETE, (id_hash(interview_id),))
        if not removed:
            raise NotFound("interview_not_found")
        self._empty_journal()

    def remove_expired(self) -> int:
        """Remove the interviews that were kept as long as they may be, and return how many."""
        with self._transaction():
            removed = self._delete_expired()
        if removed:
            self._empty_journal()
        return removed

    def list(self) -> tuple[InterviewListing, ...]:
        """Return all interviews, those that are held first, then the latest.

        One that cannot be read is marked.
        """
        with _translated():
            rows = self._database.stream(queries.LIST, (self._oldest(),))
            return tuple(map(self._listing, rows))

    def opened(self) -> Iterator[OpenedInterview | None]:
        """Yield every interview with its words, for another store; `None` for one without key."""
        with _translated():
            for row in self._database.stream(queries.OPENED, (self._oldest(),)):
                found = None
                with suppress(ArtifactMismatch):
                    found = self._opened(row)
                yield found

    def take_in(self, interview: OpenedInterview) -> bool:
        """Store an interview that another store gave; `False` for one that is there already.

        Raises `InputError` for what no store gave, and then nothing of it is stored.
        """
        hashed = id_hash(interview.id)
        with self._transaction(), _refusing_foreign():
            if self._database.fetch(queries.IS_THERE, (hashed,)):
                return False
            whole(interview.id, origin=interview.origin.encode(), state=interview.state.encode())
            clear = {name: interview.row[name] for name in queries.CLEAR}
            sealed: dict[str, Value] = {
                "id_hash": hashed,
                "sealed_id": self._sealer.seal(interview.id.encode(), hashed, "id"),
                "body": self._sealer.seal(interview.state.encode(), hashed, "state"),
            }
            self._insert("interviews", clear | sealed)
            origin = self._sealer.seal(interview.origin.encode(), hashed, "origin")
            self._database.execute(queries.ADD_ORIGIN, (hashed, origin))
            parts = {"answers": (interview.answers, "answer"), "turns": (interview.turns, "turn")}
            for table, (rows, part) in parts.items():
                for row in rows:
                    place = (part, str(row["key_hash"]))
                    body = self._sealer.seal(str(row["body"]).encode(), hashed, *place)
                    self._insert(table, {**row, "id_hash": hashed, "body": body})
        return True

    def _opened(self, row: Row) -> OpenedInterview:
        hashed = row["id_hash"]
        return OpenedInterview(
            id=self._sealer.unseal(row["sealed_id"], hashed, "id").decode(),
            row={name: row[name] for name in queries.CLEAR},
            origin=self._sealer.unseal(row["origin"], hashed, "origin").decode(),
            state=self._sealer.unseal(row["body"], hashed, "state").decode(),
            answers=self._opened_rows("answers", hashed, "answer"),
            turns=self._opened_rows("turns", hashed, "turn"),
        )

    def _opened_rows(self, table: str, hashed: str, part: str) -> tuple[Mapping[str, Value], ...]:
        rows = self._database.fetch(f"SELECT * FROM {table} WHERE id_hash = ?", (hashed,))  # noqa: S608  our names
        return tuple(
            {name: row[name] for name in row.keys() if name != "id_hash"}  # noqa: SIM118  a row's values are what it iterates over
            | {"body": self._sealer.unseal(row["body"], hashed, part, row["key_hash"]).decode()}
            for row in rows
        )

    def _replace(self, interview: Interview) -> None:
        hashed = id_hash(interview.id)
        changed = {
            "body": self._sealer.seal(state_bytes(interview), hashed, "state"),
            **dict.fromkeys(("updated_at", "kept_from"), self._now()),
            **stored_columns(interview),
        }
        written = self._database.execute(
            f"UPDATE interviews SET {assigned(changed)}"  # noqa: S608  our names
            " WHERE id_hash = :id_hash AND version = :before",
            {**changed, "id_hash": hashed, "before": interview.version - 1},
        )
        if written:
            return
        if self._database.fetch(queries.IS_THERE, (hashed,)):
            raise RequestConflict("version_conflict")
        raise NotFound("interview_not_found")

    def _insert(self, table: str, row: Mapping[str, Value]) -> None:
        places = ", ".join(f":{name}" for name in row)
        self._database.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})",  # noqa: S608  our names
            row,
        )

    def _put(
        self, table: str, interview_id: str, key: str, number: int, body: bytes, part: str
    ) -> None:
        """Add what belongs to the answer with a key. `number`: its turn, or the turn's version."""
        hashed, hashed_key = id_hash(interview_id), key_hash(interview_id, key)
        sealed = self._sealer.seal(body, hashed, part, hashed_key)
        self._database.execute(
            f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)",  # noqa: S608  our names
            (hashed, hashed_key, number, sealed, self._now()),
        )

    def _is_full(self, more_bytes: int) -> bool:
        ((stored,),) = self._database.fetch(queries.COUNT)
        (pages,), (free,), (page_bytes,) = (
            self._database.fetch(f"PRAGMA {name}")[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        used = (int(pages) - int(free)) * int(page_bytes)
        limits = self._limits
        return int(stored) >= limits.max_stored or used + more_bytes > limits.max_bytes

    def _delete_expired(self) -> int:
        return self._database.execute(queries.DELETE_EXPIRED, (self._oldest(),))

    def _empty_journal(self) -> None:
        """Bring what was written or deleted into the file now, and leave nothing beside it."""
        with _translated():
            empty_journal(self._database)

    def _listing(self, row: Row) -> InterviewListing:
        interview_id, state = "", None
        with suppress(ArtifactMismatch, ValueError):
            interview_id = self._sealer.unseal(row["sealed_id"], row["id_hash"], "id").decode()
            for part in ("origin", "state"):
                self._sealer.unseal(row[part], row["id_hash"], part)
            state = InterviewState(row["standing"])
        return InterviewListing(
            id=interview_id,
            protocol_id=str(row["protocol"]),
            state=state or InterviewState.FAILED,
            version=int(row["version"]),
            created_at=str(row["created_at"]),
            updated_at=str(row["updated_at"]),
            is_readable=state is not None,
        )

    def _whole(self, interview_id: str, origin: Value, state: Value) -> Interview:
        hashed = id_hash(interview_id)
        return whole(
            interview_id,
            origin=self._sealer.unseal(origin, hashed, "origin"),
            state=self._sealer.unseal(state, hashed, "state"),
        )

    def _oldest(self) -> str:
        """Return before when an interview's last change is too long ago."""
        return _written(self._clock() - self._limits.keep)

    def _now(self) -> str:
        return _written(self._clock())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _translated(), self._database.transaction():
            yield


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


@contextmanager
def _refusing_foreign() -> Iterator[None]:
    try:
        yield
    except (ArtifactMismatch, LedgerUnusable, LookupError, ValueError):
        # Their texts may hold what was given.
        msg = "an interview in it is not as `records export` writes it"
        raise InputError(msg, field="FILE") from None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except LedgerUnusable:
        raise store_unusable() from None
