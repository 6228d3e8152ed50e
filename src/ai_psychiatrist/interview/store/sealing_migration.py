"""Turn a file in which ids, and perhaps words, can be read into one in which all is sealed.

Nothing is lost: what could not be read before is kept as it is, and cannot be read afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.interview.ids import id_hash, key_hash
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.interview.store.sealer import Sealer
from ai_psychiatrist.interview.store.serialization import (
    from_bytes,
    origin_bytes,
    state_bytes,
    turn_bytes,
)
from ai_psychiatrist.interview.store.tables import PLAIN_TABLES
from ai_psychiatrist.ledger.store.database import Database, Value

_Part: TypeAlias = Callable[[Interview], bytes]


def seal_over(database: Database, sealer: Sealer, *, was_sealed: bool, now: str) -> None:
    """Take everything over into the tables of the second version, and drop those of the first.

    `was_sealed`: whether the words were encrypted already, with the same key. `now`: from when on
    the days of keeping are counted.
    """
    move = _Move(database=database, sealer=sealer, was_sealed=was_sealed, now=now)
    for (interview_id,) in database.fetch("SELECT id FROM plain_interviews ORDER BY rowid"):
        move.interview(str(interview_id))
        move.entries(str(interview_id), "answers", "turn", "answer")
        move.entries(str(interview_id), "turns", "version", "turn")
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
        state = self.sealer.seal(self._part(state_bytes, body, interview_id), hashed, "state")
        self.database.execute(
            "INSERT INTO interviews VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (hashed, sealed_id, version, protocol, state, *times, self.now),
        )
        origin = self.sealer.seal(self._part(origin_bytes, body, interview_id), hashed, "origin")
        self.database.execute("INSERT INTO origins VALUES (?, ?)", (hashed, origin))

    def entries(self, interview_id: str, table: str, number: str, part: str) -> None:
        """Move the answers of an interview, or the interview after each of them."""
        hashed = id_hash(interview_id)
        is_answer = part == "answer"
        for key, count, body, recorded_at in self.database.fetch(
            f"SELECT idempotency_key, {number}, body, recorded_at FROM plain_{table}"  # noqa: S608  our names
            f" WHERE interview_id = ? ORDER BY {number}",
            (interview_id,),
        ):
            hashed_key = key_hash(interview_id, key)
            place = (interview_id, key, part) if is_answer else (interview_id, key)
            content = self._part(None if is_answer else turn_bytes, body, *place)
            self.database.execute(
                f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)",  # noqa: S608  our names
                (
                    hashed,
                    hashed_key,
                    count,
                    self.sealer.seal(content, hashed, part, hashed_key),
                    recorded_at,
                ),
            )

    def _part(self, part: _Part | None, body: Value, *place: str) -> bytes:
        """Return a part of what was stored as a whole, or all of it where no part is named."""
        try:
            opened = self._opened(body, *place)
            return opened if part is None else part(from_bytes(opened))
        except ArtifactMismatch:
            return body if isinstance(body, bytes) else str(body).encode("utf-8", "surrogatepass")

    def _opened(self, body: Value, *place: str) -> bytes:
        if self.was_sealed:
            return self.sealer.unseal(body, *place)
        if not isinstance(body, bytes):
            raise ArtifactMismatch(problem_code="interview_unreadable")
        return body
