"""Which request came with which key: sent again, it is answered by what came of the first."""

from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, delete, not_, select, update

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.store.database import TenantDatabase, own
from ai_psychiatrist.store.schema import idempotency, jobs


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

    database: TenantDatabase

    def begin(self, key: IdempotencyKey, runner: str) -> Answered | None:
        """Take a key for a request, or return what came of the request before.

        `runner`: the process that answers it. Raises `RequestConflict`.
        """
        of_batch = select(jobs).where(own(jobs), jobs.c.batch_id == idempotency.c.batch_id)
        with self.database.writing():
            # A batch is nothing but its jobs, and so it cannot take its key along.
            self._delete(_is(key), idempotency.c.batch_id.is_not(None), not_(of_batch.exists()))
            row = self.database.one(select(idempotency).where(_is(key)))
            if row is None:
                begun = {"asked_by": key.asked_by, "key_digest": key.digest, "runner": runner}
                told = {"fingerprint": key.fingerprint, "at": self.database.now()}
                self.database.add(idempotency, {**begun, **told})
                return None
            if row.fingerprint != key.fingerprint:
                raise RequestConflict("key_of_another")
            if row.runner is not None:
                raise RequestConflict("key_under_way")
            return Answered(record_id=row.record_id, batch_id=row.batch_id)

    def answer(self, key: IdempotencyKey, answered: Answered) -> None:
        """Say what came of a request, inside the transaction that stores it."""
        made = {"record_id": answered.record_id, "batch_id": answered.batch_id}
        self.database.run(update(idempotency).where(_is(key)), runner=None, **made)

    def forget(self, key: IdempotencyKey) -> None:
        """Give a key back of which nothing came; one that has its answer keeps it."""
        self._delete(_is(key), idempotency.c.runner.is_not(None))

    def release(self, record_id: str) -> None:
        """Give back the key of a request of which only a failure came."""
        self._delete(own(idempotency, record_id=record_id))

    def forget_all_of(self, runner: str) -> None:
        """Give back the keys of a process that is gone without an answer."""
        self._delete(own(idempotency, runner=runner))

    def sweep(self, oldest: str) -> None:
        """Forget answered keys that came then or before."""
        self._delete(own(idempotency, runner=None), idempotency.c.at <= oldest)

    def _delete(self, *which: ColumnElement[bool]) -> None:
        self.database.run(delete(idempotency).where(*which))


def _is(key: IdempotencyKey) -> ColumnElement[bool]:
    return own(idempotency, asked_by=key.asked_by, key_digest=key.digest)
