"""Rows of the keys of callers and of sessions, looked for before a tenant is known."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Executable,
    Select,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from ai_psychiatrist.store.database import Database, Found
from ai_psychiatrist.store.key_schema import access_keys, sessions

_NO_TENANT: Final = ""

_NOW: Final[BindParameter[int]] = bindparam("of_now")
_IS_KEY: Final = access_keys.c.id == bindparam("of_key")
_IS_SESSION: Final = sessions.c.token_digest == bindparam("of_token")
_KEY: Final = select(access_keys).where(_IS_KEY)
_KEYS: Final = select(access_keys).order_by(access_keys.c.created_at, access_keys.c.id)
_KEY_USED: Final = update(access_keys).where(_IS_KEY).values(used_at=_NOW)
_REVOKED: Final = (
    update(access_keys)
    .where(_IS_KEY)
    .values(revoked_at=func.coalesce(access_keys.c.revoked_at, _NOW))
)
_ENDED_WITH_KEY: Final = delete(sessions).where(sessions.c.key_id == bindparam("of_key"))
_HAS_ENDED: Final = or_(
    sessions.c.began_at <= bindparam("of_oldest"), sessions.c.used_at <= bindparam("of_idle")
)
_SESSION: Final = (
    select(sessions.c.rater, sessions.c.used_at.label("last_used_at"), access_keys)
    .join_from(sessions, access_keys, sessions.c.key_id == access_keys.c.id, isouter=True)
    .where(_IS_SESSION, ~_HAS_ENDED)
)
_SESSION_USED: Final = update(sessions).where(_IS_SESSION).values(used_at=_NOW)
_SESSION_ENDED: Final = delete(sessions).where(_IS_SESSION)
_IS_OF_SAME: Final = and_(
    sessions.c.key_id.is_not_distinct_from(bindparam("of_key")),
    sessions.c.rater.is_not_distinct_from(bindparam("of_rater")),
)


def _beyond(most: str, *first: ColumnElement[Any]) -> Select[int]:
    """Return the ids of the sessions that follow a number of others in an order."""
    order = (*first, sessions.c.used_at.desc(), sessions.c.id.desc())
    return select(sessions.c.id).order_by(*order).offset(bindparam(most))


_ROOM_MADE: Final = delete(sessions).where(
    or_(
        _HAS_ENDED,
        sessions.c.id.in_(_beyond("of_most_of_one").where(_IS_OF_SAME)),
        sessions.c.id.in_(_beyond("of_most", case((_IS_OF_SAME, 1), else_=0))),
    )
)


@dataclass(frozen=True, slots=True)
class AccessRows:
    """Keys and sessions of all tenants; every method raises `StoreUnusable`."""

    database: Database

    @contextmanager
    def holding(self, key_id: str) -> Iterator[None]:
        """Let no other process do the same for a key while the block runs."""
        with self.database.transaction(_NO_TENANT, writes=True) as connection:
            connection.execute(_KEY.with_for_update(), {"of_key": key_id})
            yield

    def key(self, key_id: str) -> Found | None:
        """Return a key by its id."""
        return next(iter(self._read(_KEY, of_key=key_id)), None)

    def keys(self) -> Sequence[Found]:
        """Return all keys, the oldest first."""
        return self._read(_KEYS)

    def add_key(self, **columns: str | int | bytes | None) -> None:
        """Add a key."""
        self._write(insert(access_keys), **columns)

    def use_key(self, key_id: str, now: int) -> None:
        """Note the last use of a key."""
        self._write(_KEY_USED, of_key=key_id, of_now=now)

    def revoke_key(self, key_id: str, now: int) -> None:
        """Note the end of a key that has none yet, and remove its sessions."""
        with self.database.transaction(_NO_TENANT, writes=True):
            self._write(_REVOKED, of_key=key_id, of_now=now)
            self._write(_ENDED_WITH_KEY, of_key=key_id)

    def session(self, token_digest: bytes, *, oldest: int, idle: int) -> Found | None:
        """Return a session that lasts, with its key where it has one."""
        found = self._read(_SESSION, of_token=token_digest, of_oldest=oldest, of_idle=idle)
        return next(iter(found), None)

    def add_session(
        self,
        *,
        oldest: int,
        idle: int,
        most_of_one: int,
        most: int,
        **columns: str | int | bytes | None,
    ) -> None:
        """Add a session, and remove those that have ended, began at `oldest` or rest since `idle`.

        `most_of_one`: of one key or rater's name; there and where there are `most` of all, those
        that were not used for longest are removed.
        """
        bounds = {"of_oldest": oldest, "of_idle": idle}
        counts = {"of_most_of_one": most_of_one - 1, "of_most": most - 1}
        holder = {"of_key": columns["key_id"], "of_rater": columns["rater"]}
        with self.database.transaction(_NO_TENANT, writes=True):
            self._write(_ROOM_MADE, **bounds, **counts, **holder)
            self._write(insert(sessions), **columns)

    def use_session(self, token_digest: bytes, now: int) -> None:
        """Note the last use of a session."""
        self._write(_SESSION_USED, of_token=token_digest, of_now=now)

    def end_session(self, token_digest: bytes) -> None:
        """Remove a session, if there is one."""
        self._write(_SESSION_ENDED, of_token=token_digest)

    def _read(self, query: Select[Any], **values: str | int | bytes) -> Sequence[Found]:
        with self.database.transaction(_NO_TENANT, writes=False) as connection:
            return connection.execute(query, values).all()

    def _write(self, statement: Executable, **values: str | int | bytes | None) -> None:
        with self.database.transaction(_NO_TENANT, writes=True) as connection:
            connection.execute(statement, values)
