"""Sessions of browsers: begun with a key or, where none is asked for, with a rater's name."""

import re
import secrets
import unicodedata
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from ai_psychiatrist.access.clock import NOTED_EVERY_SECONDS, Clock, seconds_now
from ai_psychiatrist.access.keys import Key, key_of
from ai_psychiatrist.domain.access import LOCAL, Principal
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.private_database import Database, Row

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


class SessionStore:
    """Blocking; each method raises `LedgerUnusable` when the file cannot be read or written."""

    def __init__(self, database: Database, clock: Clock = seconds_now) -> None:
        self._database = database
        self._clock = clock

    def begin(self, key: Key) -> Session:
        """Begin a session of a live key's holder; it ends with the key at the latest."""
        lasts = LIFE_SECONDS
        if key.expires_at is not None:
            lasts = min(lasts, key.expires_at - self._clock())
        token = self._add(key_id=key.id, rater=None)
        return Session(token=token, principal=key.principal, lasts_seconds=lasts)

    def begin_local(self, rater: str) -> Session:
        """Begin a session of somebody who gives a name; raises `InputError` for no usable one."""
        principal = local_rater(rater)
        token = self._add(key_id=None, rater=principal.name)
        return Session(token=token, principal=principal, lasts_seconds=LIFE_SECONDS)

    def find(self, token: str, *, takes_raters: bool) -> Principal | None:
        """Return whose session it is, if it still lasts.

        `takes_raters`: whether a name alone is enough, as where no key is asked for.
        """
        now = self._clock()
        rows = self._database.fetch(
            "SELECT token_hash, rater, sessions.used_at AS last, keys.* FROM sessions "
            "LEFT JOIN keys ON keys.id = key_id "
            "WHERE token_hash = ? AND began_at > ? AND sessions.used_at > ?",
            (_hash(token), now - LIFE_SECONDS, now - IDLE_SECONDS),
        )
        found = _principal(rows[0], now, takes_raters=takes_raters) if rows else None
        if found is not None and now - rows[0]["last"] >= NOTED_EVERY_SECONDS:
            with suppress(LedgerUnusable):
                self._database.execute(
                    "UPDATE sessions SET used_at = ? WHERE token_hash = ?", (now, _hash(token))
                )
        return found

    def end(self, token: str) -> None:
        """End a session, if there is one."""
        self._database.execute("DELETE FROM sessions WHERE token_hash = ?", (_hash(token),))

    def _add(self, *, key_id: str | None, rater: str | None) -> str:
        token, now = secrets.token_urlsafe(_TOKEN_BYTES), self._clock()
        with self._database.transaction():
            self._database.execute(
                "DELETE FROM sessions WHERE began_at <= :began OR used_at <= :used "
                "OR token_hash IN (SELECT token_hash FROM sessions "
                "WHERE key_id IS :key_id AND rater IS :rater "
                "ORDER BY used_at DESC, rowid DESC LIMIT -1 OFFSET :of_one) "
                "OR token_hash IN (SELECT token_hash FROM sessions "
                "ORDER BY key_id IS :key_id AND rater IS :rater, "
                "used_at DESC, rowid DESC LIMIT -1 OFFSET :of_all)",
                {
                    "began": now - LIFE_SECONDS,
                    "used": now - IDLE_SECONDS,
                    "key_id": key_id,
                    "rater": rater,
                    "of_one": MOST_OF_ONE - 1,
                    "of_all": MOST_SESSIONS - 1,
                },
            )
            self._database.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                (_hash(token), key_id, rater, now, now),
            )
        return token


def local_rater(name: str) -> Principal:
    """Return the rater of a name; the same name, however it is spaced, is the same rater."""
    shown = " ".join(unicodedata.normalize("NFC", name).split())  # noqa: TID251  a name is short
    plain = nfkc(shown).casefold()
    slug = _NOT_IN_SLUG.sub("-", plain).strip("-")
    if not (slug and shown.isprintable() and len(shown) <= _MOST_NAME_CHARACTERS):
        msg = f"rater has to be a name of 1-{_MOST_NAME_CHARACTERS} letters, digits and blanks"
        raise InputError(msg, field="rater")
    if slug in _SHOWN_AS_OTHERS:
        msg = "rater has to be a name that the pages give nobody else; take another"
        raise InputError(msg, field="rater")
    return Principal(id=f"local:{slug}", name=shown, tenant=LOCAL.tenant, scopes=LOCAL.scopes)


def _principal(row: Row, now: int, *, takes_raters: bool) -> Principal | None:
    if row["rater"] is not None:
        return local_rater(row["rater"]) if takes_raters else None
    key = key_of(row)
    return key.principal if key.is_live(now) else None


def _hash(token: str) -> bytes:
    return sha256(token.encode()).digest()
