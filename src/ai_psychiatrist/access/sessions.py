"""Sessions of browsers: begun with a key or, where none is required, with a rater's name."""

import hmac
import re
import secrets
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.access.keys import NOTED_EVERY_SECONDS, Clock, Key, digest_of, key_of
from ai_psychiatrist.domain.access import LOCAL, Principal
from ai_psychiatrist.domain.errors import InputError, StoreUnusable
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.store.access_rows import (
    ADD_SESSION,
    END_SESSION,
    MAKE_ROOM,
    NOTE_SESSION_USE,
    SESSION,
)
from ai_psychiatrist.store.database import Database

LIFE_SECONDS: Final = 12 * 3600
"""From the login on, however much it is used."""
IDLE_SECONDS: Final = 3600
"""Since the last request."""
TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
MOST_OF_ONE: Final = 100
"""Sessions at once of one key, or of one rater's name; then the one not used for longest ends."""
MOST_SESSIONS: Final = 10_000
"""Kept at once; then one of the same key or name ends, or where it has none the oldest of all."""

_TOKEN_BYTES: Final = 32
_FORGERY: Final = b"forgery token"
_MOST_NAME_CHARACTERS: Final = 60
_NOT_IN_SLUG: Final = re.compile(r"[\W_]+")
_SHOWN_AS_OTHERS: Final = frozenset({"program", "you"})
"""What stands above columns of ratings that are not a rater's of this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that has begun, and the only sight of its token."""

    token: str = field(repr=False)
    principal: Principal
    lasts_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStore:
    """The sessions of all tenants. Blocking.

    Every method raises `ConfigurationError` and `StoreUnusable` for a database that cannot be used.
    """

    database: Callable[[], Database]
    clock: Clock = time.time

    def begin(self, key: Key) -> Session:
        """Begin a session of a live key's holder; it ends with the key at the latest."""
        left = LIFE_SECONDS if key.expires_at is None else key.expires_at - int(self.clock())
        return self._begun(key.principal, min(left, LIFE_SECONDS), key_id=key.id)

    def begin_local(self, rater: str) -> Session:
        """Begin a session of a rater who gives a name; raises `InputError` for no usable one."""
        principal = local_rater(rater)
        return self._begun(principal, LIFE_SECONDS, rater=principal.name)

    def find(self, token: str, *, takes_raters: bool) -> Principal | None:
        """Return whose session it is, if it still lasts.

        `takes_raters`: whether a name alone is enough, as where no key is asked for.
        """
        database, now, digest = self.database(), int(self.clock()), digest_of(token)
        for row in database.across_tenants(SESSION, of_token=digest, **_bounds(now)):
            if row.rater is not None:
                principal = local_rater(row.rater) if takes_raters else None
            else:
                key = key_of(row)
                principal = key.principal if key.is_live(now) else None
            if principal is not None and now - row.last_used_at >= NOTED_EVERY_SECONDS:
                with suppress(StoreUnusable):
                    database.change(NOTE_SESSION_USE, of_token=digest, of_now=now)
            return principal
        return None

    def end(self, token: str) -> None:
        """End a session, if there is one."""
        self.database().change(END_SESSION, of_token=digest_of(token))

    def _begun(
        self,
        principal: Principal,
        lasts_seconds: int,
        *,
        key_id: str | None = None,
        rater: str | None = None,
    ) -> Session:
        database, now = self.database(), int(self.clock())
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        most = {"of_most_of_one": MOST_OF_ONE - 1, "of_most": MOST_SESSIONS - 1}
        with database.among_tenants(is_alone=False):
            database.change(MAKE_ROOM, of_key=key_id, of_rater=rater, **most, **_bounds(now))
            database.change(
                ADD_SESSION,
                tenant=principal.tenant,
                token_digest=digest_of(token),
                key_id=key_id,
                rater=rater,
                began_at=now,
                used_at=now,
            )
        return Session(token=token, principal=principal, lasts_seconds=lasts_seconds)


def local_rater(name: str) -> Principal:
    """Return the rater of a name; the same name, however it is spaced, is the same rater."""
    shown = " ".join(unicodedata.normalize("NFC", name).split())  # noqa: TID251  a name is short
    plain = nfkc(shown).casefold()
    slug = _NOT_IN_SLUG.sub("-", plain).strip("-")
    if not (slug and shown.isprintable() and len(shown) <= _MOST_NAME_CHARACTERS):
        msg = f"rater has to be a name of 1-{_MOST_NAME_CHARACTERS} letters, digits and blanks"
        raise InputError(msg, field="rater")
    if slug in _SHOWN_AS_OTHERS:
        msg = "rater has to be a name that the pages use for no one else; choose another"
        raise InputError(msg, field="rater")
    return Principal(id=f"local:{slug}", name=shown, tenant=LOCAL.tenant, scopes=LOCAL.scopes)


def forgery_token(session_token: str) -> str:
    """Return what a form of the session's own pages shows; only who has the cookie can make it."""
    return hmac.new(session_token.encode(), _FORGERY, "sha256").hexdigest()


def is_forgery_token(given: str, session_token: str) -> bool:
    """Return whether it is the token of this session; the time taken tells nothing of it."""
    return hmac.compare_digest(given.encode(), forgery_token(session_token).encode())


def _bounds(now: int) -> dict[str, int]:
    """Return when a session began, and was used last, that has just ended."""
    return {"of_oldest": now - LIFE_SECONDS, "of_idle": now - IDLE_SECONDS}
