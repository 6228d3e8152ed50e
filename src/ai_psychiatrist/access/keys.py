"""The keys of this installation: made, found by what a caller shows, and revoked."""

import hmac
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.access.clock import NOTED_EVERY_SECONDS, Clock, seconds_now
from ai_psychiatrist.access.key_text import KeyText, make_key
from ai_psychiatrist.domain.access import TENANT_CURE, Principal, Scope, is_tenant
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.private_database import Database, Row

MOST_LIVE: Final = 2
"""Keys of one holder that work at the same time: the old one and the one that follows it."""

_MOST_NAME_CHARACTERS: Final = 100
_NOBODY: Final = bytes(32)
"""What a secret is compared with where no key has its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is kept of a key; its secret is not."""

    id: str
    principal: Principal
    created_at: int
    """Seconds since 1970, like the moments below."""
    expires_at: int | None
    used_at: int | None
    """Its last use, known to the minute."""
    revoked_at: int | None

    def is_live(self, now: int) -> bool:
        """Return whether it lets its holder in."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedKey:
    """A key to be made."""

    name: str
    tenant: str
    scopes: frozenset[Scope]
    lasts_seconds: int | None = None
    """`None`: until it is revoked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    """A new key, and the only sight of its secret."""

    key: Key
    text: KeyText


class KeyStore:
    """Blocking; each method raises `LedgerUnusable` when the file cannot be read or written."""

    def __init__(self, database: Database, clock: Clock = seconds_now) -> None:
        self._database = database
        self._clock = clock

    def create(self, wanted: WantedKey) -> MadeKey:
        """Make a key for somebody new; raises `InputError` for a name or tenant of wrong form."""
        refuse_unusable(wanted)
        text = make_key()
        principal = Principal(
            id=f"key:{text.id}", name=wanted.name, tenant=wanted.tenant, scopes=wanted.scopes
        )
        return self._add(text, principal, wanted.lasts_seconds)

    def create_like(self, key_id: str, *, lasts_seconds: int | None = None) -> MadeKey:
        """Make a further key for the holder of one, who stays the same rater.

        Raises `InputError` where there is no such key or two of the holder's work already.
        """
        with self._database.transaction():
            like = self.get(key_id)
            live = [one for one in self.all() if one.principal.id == like.principal.id]
            if sum(one.is_live(self._clock()) for one in live) >= MOST_LIVE:
                msg = f"{MOST_LIVE} keys of this holder work already: revoke one first"
                raise InputError(msg, field="like")
            return self._add(make_key(), like.principal, lasts_seconds)

    def get(self, key_id: str) -> Key:
        """Return what is kept of a key; raises `InputError` where there is none of this id."""
        rows = self._database.fetch("SELECT * FROM keys WHERE id = ?", (key_id,))
        if not rows:
            msg = "there is no key of this id: `ai-psychiatrist keys list` shows all"
            raise InputError(msg, field="id")
        return key_of(rows[0])

    def all(self) -> tuple[Key, ...]:
        """Return all keys, the oldest first."""
        return tuple(
            map(key_of, self._database.fetch("SELECT * FROM keys ORDER BY created_at, id"))
        )

    def revoke(self, key_id: str) -> Key:
        """Let a key open nothing any more, and end its sessions; one revoked before stays so."""
        with self._database.transaction():
            self.get(key_id)
            self._database.execute(
                "UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?",
                (self._clock(), key_id),
            )
            self._database.execute("DELETE FROM sessions WHERE key_id = ?", (key_id,))
            return self.get(key_id)

    def find(self, given: KeyText) -> Key | None:
        """Return the live key that somebody shows; an unknown id is looked at as long as any."""
        rows = self._database.fetch("SELECT * FROM keys WHERE id = ?", (given.id,))
        expected = rows[0]["secret_hash"] if rows else _NOBODY
        is_same = hmac.compare_digest(given.secret_hash, expected)
        if not (rows and is_same):
            return None
        key, now = key_of(rows[0]), self._clock()
        if not key.is_live(now):
            return None
        self._note_use(key, now)
        return key

    def knows(self, key_id: str) -> bool:
        """Return whether there is or was a key of this id."""
        return bool(self._database.fetch("SELECT 1 FROM keys WHERE id = ?", (key_id,)))

    def _note_use(self, key: Key, now: int) -> None:
        if key.used_at is not None and now - key.used_at < NOTED_EVERY_SECONDS:
            return
        # Whoever has a key is let in, whether or not the disk takes the note.
        with suppress(LedgerUnusable):
            self._database.execute("UPDATE keys SET used_at = ? WHERE id = ?", (now, key.id))

    def _add(self, text: KeyText, principal: Principal, lasts_seconds: int | None) -> MadeKey:
        now = self._clock()
        scopes = " ".join(sorted(principal.scopes))
        self._database.execute(
            "INSERT INTO keys (id, secret_hash, principal, name, tenant, scopes, created_at, "
            "expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                text.id,
                text.secret_hash,
                principal.id,
                principal.name,
                principal.tenant,
                scopes,
                now,
                None if lasts_seconds is None else now + lasts_seconds,
            ),
        )
        return MadeKey(key=self.get(text.id), text=text)


def key_of(row: Row) -> Key:
    """Return a row of the table `keys` as a key."""
    principal = Principal(
        id=row["principal"],
        name=row["name"],
        tenant=row["tenant"],
        scopes=frozenset(map(Scope, row["scopes"].split())),
    )
    return Key(
        id=row["id"],
        principal=principal,
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        used_at=row["used_at"],
        revoked_at=row["revoked_at"],
    )


def refuse_unusable(wanted: WantedKey) -> None:
    """Raise `InputError` for a key that cannot be made."""
    if not is_tenant(wanted.tenant):
        raise InputError(TENANT_CURE, field="tenant")
    if not (wanted.name.isprintable() and 0 < len(wanted.name.strip()) <= _MOST_NAME_CHARACTERS):
        msg = f"a name is 1-{_MOST_NAME_CHARACTERS} printable characters"
        raise InputError(msg, field="name")
    if not wanted.scopes:
        msg = f"a key without a scope opens nothing; the scopes are {', '.join(Scope)}"
        raise InputError(msg, field="scope")
