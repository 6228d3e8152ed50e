"""Statements about keys of callers, sessions and links, looked for before a tenant is known.

`Database.across_tenants` reads with them, and `Database.change` changes. `of_key`: an id of a key
or a link; `of_token`, `of_secret`: the digest of what is shown; `of_holder`: whose a link is, as
`link_holder` has it; `of_now` and all other moments: seconds since 1970.
"""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Delete,
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

from ai_psychiatrist.store.database import own
from ai_psychiatrist.store.key_schema import access_keys, sessions

LINK_SCOPE: Final = "interview"
"""Of a link to one interview: no scope of a key, so that it opens nothing that keys open."""

_NOW: Final[BindParameter[int]] = bindparam("of_now")
_IS_LINK: Final = access_keys.c.scopes == LINK_SCOPE
_OF_ID: Final = access_keys.c.id == bindparam("of_key")
_IS_KEY: Final = and_(_OF_ID, ~_IS_LINK)
_IS_LIVE_LINK: Final = and_(
    _IS_LINK, access_keys.c.revoked_at.is_(None), access_keys.c.expires_at > _NOW
)
_OF_HOLDER: Final = access_keys.c.principal == bindparam("of_holder")
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
KEYS: Final = (
    select(access_keys).where(~_IS_LINK).order_by(access_keys.c.created_at, access_keys.c.id)
)
KEY_NAMES: Final = (
    select(access_keys.c.principal, access_keys.c.name)
    .where(own(access_keys), ~_IS_LINK)
    .order_by(access_keys.c.created_at, access_keys.c.id)
)
"""Of one tenant, revoked ones as well; for `TenantDatabase`."""
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

LINK: Final = select(access_keys).where(_OF_ID, _IS_LIVE_LINK)
"""A link that lasts, opened or not."""
LINK_OF: Final = select(access_keys).where(_OF_HOLDER, _IS_LINK)
OPEN_LINK: Final = (
    update(access_keys)
    .where(
        _OF_ID,
        _IS_LIVE_LINK,
        access_keys.c.secret_digest == bindparam("of_token"),
        access_keys.c.used_at.is_(None),
    )
    .values(secret_digest=bindparam("of_secret"), used_at=_NOW)
)
"""From now on the secret of the browser that came first opens it, and the token never again."""
REVOKE_LINK: Final = (
    update(access_keys)
    .where(_OF_HOLDER, _IS_LINK, access_keys.c.revoked_at.is_(None))
    .values(revoked_at=_NOW)
)
REMOVE_LINKS: Final = delete(access_keys).where(
    _IS_LINK, or_(_OF_HOLDER, access_keys.c.expires_at <= _NOW)
)
"""Those of an interview, and of all interviews what has expired."""


def link_holder(id_hash: str) -> str:
    """Return whose a link is: the person of the interview with this hash of its id."""
    return f"{LINK_SCOPE}:{id_hash}"


def links_to(id_hashes: Iterable[str]) -> Delete:
    """Return what removes the links to a tenant's interviews, for `TenantDatabase.run`."""
    holders = list(map(link_holder, id_hashes))
    return delete(access_keys).where(own(access_keys), access_keys.c.principal.in_(holders))
