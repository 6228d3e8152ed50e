"""The SQLite file of all interviews: every step of an interview is one transaction."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.interview.engine.record import Interview
from ai_psychiatrist.interview.engine.serial import from_bytes, to_bytes
from ai_psychiatrist.interview.errors import (
    InterviewNotFound,
    InterviewUnreadable,
    StoreUnusable,
    VersionConflict,
)
from ai_psychiatrist.interview.snapshot import InterviewListing
from ai_psychiatrist.interview.store.opening import open_database
from ai_psychiatrist.ledger.cipher import Cipher
from ai_psychiatrist.ledger.database import Database, Row, Value
from ai_psychiatrist.ledger.errors import LedgerUnusable


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


class InterviewStore:
    """Interviews at rest; any thread may call it, and any number of processes.

    Every method may raise `StoreUnusable`; those that read, `InterviewUnreadable`.
    """

    def __init__(
        self, database: Database, cipher: Cipher | None, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._cipher = cipher
        self._clock = clock

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        cipher: Cipher | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> Self:
        """Open the file, `interviews.sqlite` by convention, and make it when there is none.

        Raises `ConfigurationError` when it cannot be made or was written with another key.
        """
        with _translated():
            return cls(open_database(path, cipher), cipher, clock)

    def close(self) -> None:
        """Close the file."""
        with _translated():
            self._database.close()

    def add(self, interview: Interview) -> None:
        """Put down a new interview."""
        now = self._now()
        with self._transaction():
            self._database.execute(
                "INSERT INTO interviews VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*self._columns(interview), now, now),
            )

    def load(self, interview_id: str) -> Interview:
        """Return an interview; raises `InterviewNotFound`."""
        with _translated():
            rows = self._database.fetch("SELECT body FROM interviews WHERE id = ?", (interview_id,))
        if not rows:
            raise InterviewNotFound
        return self._take(rows[0][0], _place(interview_id))

    def save(
        self,
        interview: Interview,
        *,
        answer: TakenAnswer | None = None,
        finished_key: str | None = None,
    ) -> None:
        """Replace an interview by its next version, with what else belongs to the step.

        `answer`: the answer that the step took. `finished_key`: the key of the answer whose turn
        the step ends. Raises `VersionConflict` when the stored version is not the one before, and
        `InterviewNotFound`; then nothing is written.
        """
        with self._transaction():
            self._replace(interview)
            if answer is not None:
                self._put_answer(interview.id, answer)
            if finished_key is not None:
                self._put_turn(interview, finished_key)

    def known(self, interview_id: str, key: str) -> KnownAnswer | None:
        """Return what is stored under an idempotency key of an interview."""
        with _translated():
            rows = self._database.fetch(
                "SELECT answers.body, turns.body FROM answers"
                " LEFT JOIN turns USING (interview_id, idempotency_key)"
                " WHERE interview_id = ? AND idempotency_key = ?",
                (interview_id, key),
            )
        if not rows:
            return None
        sent, body = rows[0]
        after = None if body is None else self._take(body, _place(interview_id, key))
        return KnownAnswer(sent=self._open(sent, _place(interview_id, key, "answer")), after=after)

    def delete(self, interview_id: str) -> None:
        """Remove an interview and all that belongs to it; raises `InterviewNotFound`."""
        with self._transaction():
            removed = self._database.execute("DELETE FROM interviews WHERE id = ?", (interview_id,))
        if not removed:
            raise InterviewNotFound
        with _translated():
            # Until then its words still stand in the side file.
            self._database.fetch("PRAGMA wal_checkpoint(TRUNCATE)")

    def list(self) -> tuple[InterviewListing, ...]:
        """Return all interviews, the latest first; one that cannot be read is marked."""
        with _translated():
            rows = list(
                self._database.stream(
                    "SELECT id, protocol, version, created_at, updated_at, body"
                    " FROM interviews ORDER BY created_at DESC, rowid DESC"
                )
            )
        return tuple(map(self._listing, rows))

    def _replace(self, interview: Interview) -> None:
        interview_id, version, protocol, state, body = self._columns(interview)
        written = self._database.execute(
            "UPDATE interviews SET version = ?, protocol = ?, state = ?, body = ?, updated_at = ?"
            " WHERE id = ? AND version = ?",
            (version, protocol, state, body, self._now(), interview_id, interview.version - 1),
        )
        if written:
            return
        if self._database.fetch("SELECT 1 FROM interviews WHERE id = ?", (interview_id,)):
            raise VersionConflict
        raise InterviewNotFound

    def _put_answer(self, interview_id: str, answer: TakenAnswer) -> None:
        place = _place(interview_id, answer.key, "answer")
        self._database.execute(
            "INSERT INTO answers (interview_id, turn, idempotency_key, body, recorded_at)"
            " VALUES (?, ?, ?, ?, ?)",
            (interview_id, answer.turn, answer.key, self._seal(answer.sent, place), self._now()),
        )

    def _put_turn(self, interview: Interview, key: str) -> None:
        body = self._seal(to_bytes(interview), _place(interview.id, key))
        self._database.execute(
            "INSERT INTO turns (interview_id, idempotency_key, version, body, recorded_at)"
            " VALUES (?, ?, ?, ?, ?)",
            (interview.id, key, interview.version, body, self._now()),
        )

    def _columns(self, interview: Interview) -> tuple[str, int, str, str, bytes]:
        body = self._seal(to_bytes(interview), _place(interview.id))
        return (
            interview.id,
            interview.version,
            interview.protocol.id,
            interview.state.value,
            body,
        )

    def _listing(self, row: Row) -> InterviewListing:
        interview_id, protocol, version, created_at, updated_at, body = row
        try:
            interview = self._take(body, _place(str(interview_id)))
        except InterviewUnreadable:
            interview = None
        return InterviewListing(
            id=str(interview_id),
            protocol_id=str(protocol),
            state=InterviewState.FAILED if interview is None else interview.state,
            version=version if isinstance(version, int) else 0,
            created_at=str(created_at),
            updated_at=str(updated_at),
            is_readable=interview is not None,
        )

    def _seal(self, content: bytes, place: str) -> bytes:
        return content if self._cipher is None else self._cipher.seal(content, place=place)

    def _take(self, stored: Value, place: str) -> Interview:
        return from_bytes(self._open(stored, place))

    def _open(self, stored: Value, place: str) -> bytes:
        if not isinstance(stored, bytes):
            raise InterviewUnreadable
        if self._cipher is None:
            return stored
        try:
            return self._cipher.unseal(stored, place=place)
        except ConfigurationError:
            # The key itself was checked when the file was opened.
            raise InterviewUnreadable from None

    def _now(self) -> str:
        return self._clock().isoformat(timespec="milliseconds")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _translated(), self._database.transaction():
            yield


def _place(interview_id: str, *parts: str) -> str:
    return "/".join(("interviews", interview_id, *parts))


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except LedgerUnusable:
        raise StoreUnusable from None
