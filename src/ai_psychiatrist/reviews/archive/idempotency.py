"""Which request came with which key: sent again, it is answered by what came of the first."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase

_FREE_ERASED_BATCH: Final = """
    DELETE FROM idempotency WHERE asked_by = ? AND key_digest = ? AND batch_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.batch_id = idempotency.batch_id)
"""
"""A batch is nothing but its jobs, and so it cannot take its key along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyKey:
    """A key of a request, and digests that tell it from others."""

    asked_by: str
    """`Principal.id`: each has keys of its own."""
    digest: str = field(repr=False)
    """Keyed."""
    fingerprint: str = field(repr=False)
    """Keyed digest of all that the request says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a request with a key made: one of them."""

    record_id: str | None = None
    batch_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyRows:
    """Those of a tenant; every change is one transaction."""

    database: PrivateDatabase
    now: Callable[[], str]

    def begin(self, key: IdempotencyKey, runner: str) -> Answered | None:
        """Take a key for a request, or return what came of the request before.

        `runner`: the process that answers it. Raises `RequestConflict`.
        """
        with self.database.transaction():
            names = (key.asked_by, key.digest)
            self.database.execute(_FREE_ERASED_BATCH, names)
            rows = self.database.fetch(
                "SELECT * FROM idempotency WHERE asked_by = ? AND key_digest = ?", names
            )
            if not rows:
                self.database.execute(
                    "INSERT INTO idempotency VALUES (?, ?, ?, ?, ?, NULL, NULL)",
                    (key.asked_by, key.digest, key.fingerprint, self.now(), runner),
                )
                return None
            (row,) = rows
            if row["fingerprint"] != key.fingerprint:
                raise RequestConflict("key_of_another")
            if row["runner"] is not None:
                raise RequestConflict("key_under_way")
            return Answered(record_id=row["record_id"], batch_id=row["batch_id"])

    def answer(self, key: IdempotencyKey, answered: Answered) -> None:
        """Say what came of a request, inside the transaction that stores it."""
        self.database.execute(
            "UPDATE idempotency SET runner = NULL, record_id = ?, batch_id = ?"
            " WHERE asked_by = ? AND key_digest = ?",
            (answered.record_id, answered.batch_id, key.asked_by, key.digest),
        )

    def forget(self, key: IdempotencyKey) -> None:
        """Give a key back of which nothing came; one that has its answer keeps it."""
        with self.database.transaction():
            self.database.execute(
                "DELETE FROM idempotency WHERE asked_by = ? AND key_digest = ?"
                " AND runner IS NOT NULL",
                (key.asked_by, key.digest),
            )

    def runners(self) -> frozenset[str]:
        """Return the processes that say they are answering a request with a key."""
        query = "SELECT DISTINCT runner FROM idempotency WHERE runner IS NOT NULL"
        return frozenset(str(row[0]) for row in self.database.fetch(query))

    def forget_all_of(self, runner: str) -> None:
        """Give back the keys of a process that is gone without an answer."""
        with self.database.transaction():
            self.database.execute("DELETE FROM idempotency WHERE runner = ?", (runner,))

    def sweep(self, oldest: str) -> None:
        """Forget answered keys that came then or before."""
        with self.database.transaction():
            self.database.execute(
                "DELETE FROM idempotency WHERE at <= ? AND runner IS NULL", (oldest,)
            )
