"""Which request came with which key: sent again, it is answered by what came of the first."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BindParameter, bindparam, delete, not_, select, update

from ai_psychiatrist.domain.errors import RequestConflict
from ai_psychiatrist.store.database import TenantDatabase
from ai_psychiatrist.store.schema import OF_TENANT, idempotency, jobs

_OF_RUNNER: Final[BindParameter[str]] = bindparam("of_runner")
_IS_OWN: Final = idempotency.c.tenant == OF_TENANT
_IS_KEY: Final = (
    _IS_OWN
    & (idempotency.c.asked_by == bindparam("of_caller"))
    & (idempotency.c.key_digest == bindparam("of_key"))
)
_ONE: Final = select(idempotency).where(_IS_KEY)
_ANSWERED: Final = update(idempotency).where(_IS_KEY)
_FREE_ERASED_BATCH: Final = delete(idempotency).where(
    _IS_KEY,
    idempotency.c.batch_id.is_not(None),
    not_(
        select(jobs)
        .where(jobs.c.tenant == OF_TENANT, jobs.c.batch_id == idempotency.c.batch_id)
        .exists()
    ),
)
"""A batch is nothing but its jobs, and so it cannot take its key along."""
_FORGET: Final = delete(idempotency).where(_IS_KEY, idempotency.c.runner.is_not(None))
_RELEASE: Final = delete(idempotency).where(
    _IS_OWN, idempotency.c.record_id == bindparam("of_record")
)
_FORGET_OF_RUNNER: Final = delete(idempotency).where(_IS_OWN, idempotency.c.runner == _OF_RUNNER)
_EXPIRED: Final = delete(idempotency).where(
    _IS_OWN, idempotency.c.at <= bindparam("oldest"), idempotency.c.runner.is_(None)
)


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
    now: Callable[[], str]

    def begin(self, key: IdempotencyKey, runner: str) -> Answered | None:
        """Take a key for a request, or return what came of the request before.

        `runner`: the process that answers it. Raises `RequestConflict`.
        """
        names = {"of_caller": key.asked_by, "of_key": key.digest}
        with self.database.writing():
            self.database.run(_FREE_ERASED_BATCH, **names)
            row = self.database.one(_ONE, **names)
            if row is None:
                begun = {"asked_by": key.asked_by, "key_digest": key.digest, "runner": runner}
                self.database.add(
                    idempotency, {**begun, "fingerprint": key.fingerprint, "at": self.now()}
                )
                return None
            if row.fingerprint != key.fingerprint:
                raise RequestConflict("key_of_another")
            if row.runner is not None:
                raise RequestConflict("key_under_way")
            return Answered(record_id=row.record_id, batch_id=row.batch_id)

    def answer(self, key: IdempotencyKey, answered: Answered) -> None:
        """Say what came of a request, inside the transaction that stores it."""
        self.database.run(
            _ANSWERED,
            of_caller=key.asked_by,
            of_key=key.digest,
            runner=None,
            record_id=answered.record_id,
            batch_id=answered.batch_id,
        )

    def forget(self, key: IdempotencyKey) -> None:
        """Give a key back of which nothing came; one that has its answer keeps it."""
        self.database.run(_FORGET, of_caller=key.asked_by, of_key=key.digest)

    def release(self, record_id: str) -> None:
        """Give back the key of a request of which only a failure came."""
        self.database.run(_RELEASE, of_record=record_id)

    def forget_all_of(self, runner: str) -> None:
        """Give back the keys of a process that is gone without an answer."""
        self.database.run(_FORGET_OF_RUNNER, of_runner=runner)

    def sweep(self, oldest: str) -> None:
        """Forget answered keys that came then or before."""
        self.database.run(_EXPIRED, oldest=oldest)
