"""Statements about the keys of callers and about sessions, looked for before a tenant is known.

`Database.across_tenants` reads with them, and `Database.change` changes. `of_key`: an id of a key;
`of_token`: the digest of a session's token; `of_now` and all other moments: seconds since 1970.
"""

from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
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

from ai_psychiatrist.store.key_schema import access_keys, sessions

_NOW: Final[BindParameter[int]] = bindparam("of_now")
_IS_KEY: Final = access_keys.c.id == bindparam("of_key")
_IS_SESSION: Final = sessions.c.token_digest == bindparam("of_token")
_HAS_ENDED: Final = or_(
    sessions.c.began_at <= bindparam("of_oldest"), sessions.c.used_at <= bindparam("of_idle")
)
"""Began at `of_oldest` or before, or rests since `of_idle`."""
_IS_OF_SAME: Final = and_(
    sessions.c.key_id.is_not_distinct_from(bindparam("of_key")),
    sessions.c.rater.is_not_distinct_from(bindparam("of_rater")),
)


def _beyond(most: str, *first: ColumnElement[Any]) -> Select[int]:
    """Return the ids of the sessions that follow a number of others in an order."""
    order = (*first, sessions.c.used_at.desc(), sessions.c.id.desc())
    return select(sessions.c.id).order_by(*order).offset(bindparam(most))


KEY: Final = select(access_keys).where(_IS_KEY)
KEYS: Final = select(access_keys).order_by(access_keys.c.created_at, access_keys.c.id)
ADD_KEY: Final = insert(access_keys)
NOTE_KEY_USE: Final = update(access_keys).where(_IS_KEY).values(used_at=_NOW)
REVOKE_KEY: Final = (
    update(access_keys)
    .where(_IS_KEY)
    .values(revoked_at=func.coalesce(access_keys.c.revoked_at, _NOW))
)
END_SESSIONS_OF_KEY: Final = delete(sessions).where(sessions.c.key_id == bindparam("of_key"))

SESSION: Final = (
    select(sessions.c.rater, sessions.c.used_at.label("last_used_at"), access_keys)
    .join_from(sessions, access_keys, sessions.c.key_id == access_keys.c.id, isouter=True)
    .where(_IS_SESSION, ~_HAS_ENDED)
)
"""A session that lasts, with its key where it has one."""
ADD_SESSION: Final = insert(sessions)
NOTE_SESSION_USE: Final = update(sessions).where(_IS_SESSION).values(used_at=_NOW)
END_SESSION: Final = delete(sessions).where(_IS_SESSION)
MAKE_ROOM: Final = delete(sessions).where(
    or_(
        _HAS_ENDED,
        sessions.c.id.in_(_beyond("of_most_of_one").where(_IS_OF_SAME)),
        sessions.c.id.in_(_beyond("of_most", case((_IS_OF_SAME, 1), else_=0))),
    )
)
"""Remove sessions that have ended, and where more than `of_most_of_one` of a key or a rater's name,
or `of_most` of all, are left, those of the same holder and then of all not used for longest."""
