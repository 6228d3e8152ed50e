"""Turn a file in which ids, and perhaps words, can be read into one in which all is sealed.

Nothing is lost: what could not be read before is kept as it is, and cannot be read afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ai_psychiatrist.interview.engine.record import Interview
from ai_psychiatrist.interview.errors import InterviewUnreadable
from ai_psychiatrist.interview.ids import id_hash, key_hash
from ai_psychiatrist.interview.store.sealer import Sealer
from ai_psychiatrist.interview.store.serialization import (
    from_bytes,
    origin_bytes,
    state_bytes,
    turn_bytes,
)
from ai_psychiatrist.interview.store.tables import PLAIN_TABLES
from ai_psychiatrist.ledger.store.database import Database, Value


def seal_over(database: Database, sealer: Sealer, *, was_sealed: bool, now: str) -> None:
    """Take everything over into the tables of the second version, and drop those of the first.

    `was_sealed`: whether the words were encrypted already, with the same key. `now`: from when on
    the days of keeping are counted.
    """
    move = _Move(database=database, sealer=sealer, was_sealed=was_sealed, now=now)
    for (interview_id,) in database.fetch("SELECT id FROM plain_interviews ORDER BY rowid"):
        move.interview(str(interview_id))
        move.answers(str(interview_id))
        move.turns(str(interview_id))
    for table in PLAIN_TABLES:
        database.execute(f"DROP TABLE {table}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    database: Database
    sealer: Sealer
    was_sealed: bool
    now: str

    def interview(self, interview_id: str) -> None:
        hashed = id_hash(interview_id)
        ((version, protocol, body, *times),) = self.database.fetch(
            "SELECT version, protocol, body, created_at, updated_at FROM plain_interviews"
            " WHERE id = ?",
            (interview_id,),
        )
        sealed_id = self.sealer.seal(interview_id.encode(), hashed, "id")
        state = self._sealed(state_bytes, body, interview_id, place=("state",))
        self.database.execute(
            "INSERT INTO interviews VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (hashed, sealed_id, version, protocol, state, *times, self.now),
        )
        origin = self._sealed(origin_bytes, body, interview_id, place=("origin",))
        self.database.execute("INSERT INTO origins VALUES (?, ?)", (hashed, origin))

    def answers(self, interview_id: str) -> None:
        hashed = id_hash(interview_id)
        for key, turn, body, recorded_at in self.database.fetch(
            "SELECT idempotency_key, turn, body, recorded_at FROM plain_answers"
            " WHERE interview_id = ? ORDER BY turn",
            (interview_id,),
        ):
            hashed_key = key_hash(interview_id, key)
            try:
                sent = self._opened(body, interview_id, key, "answer")
            except InterviewUnreadable:
                sent = _bytes_of(body)
            sealed = self.sealer.seal(sent, hashed, "answer", hashed_key)
            self.database.execute(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?)",
                (hashed, hashed_key, turn, sealed, recorded_at),
            )

    def turns(self, interview_id: str) -> None:
        hashed = id_hash(interview_id)
        for key, version, body, recorded_at in self.database.fetch(
            "SELECT idempotency_key, version, body, recorded_at FROM plain_turns"
            " WHERE interview_id = ? ORDER BY version",
            (interview_id,),
        ):
            hashed_key = key_hash(interview_id, key)
            place = ("turn", hashed_key)
            sealed = self._sealed(turn_bytes, body, interview_id, key, place=place)
            self.database.execute(
                "INSERT INTO turns VALUES (?, ?, ?, ?, ?)",
                (hashed, hashed_key, version, sealed, recorded_at),
            )

    def _sealed(
        self,
        part: Callable[[Interview], bytes],
        body: Value,
        interview_id: str,
        *key: str,
        place: tuple[str, ...],
    ) -> bytes:
        """Return a part of an interview that was stored as a whole."""
        try:
            content = part(from_bytes(self._opened(body, interview_id, *key)))
        except InterviewUnreadable:
            content = _bytes_of(body)
        return self.sealer.seal(content, id_hash(interview_id), *place)

    def _opened(self, body: Value, *place: str) -> bytes:
        if self.was_sealed:
            return self.sealer.unseal(body, *place)
        if not isinstance(body, bytes):
            raise InterviewUnreadable
        return body


def _bytes_of(body: Value) -> bytes:
    return body if isinstance(body, bytes) else str(body).encode("utf-8", "surrogatepass")
