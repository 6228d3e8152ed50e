"""The keys of callers, `aip_<id>_<secret>`: made, found by what a caller shows, and revoked."""

import hmac
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, TypeAlias

from ai_psychiatrist.domain.access import TENANT_CURE, Principal, Scope, is_tenant
from ai_psychiatrist.domain.errors import InputError, StoreUnusable
from ai_psychiatrist.store.access_rows import AccessRows
from ai_psychiatrist.store.database import Database, Found

START: Final = "aip_"
"""What every key begins with, so that one that leaked is found by a search."""
MOST_LIVE: Final = 2
"""Keys of one holder that work at the same time: the old one and the one that follows it."""
NOTED_EVERY_SECONDS: Final = 60
"""A use is noted no more often: each note is a write to the disk."""

Clock: TypeAlias = Callable[[], float]
"""Seconds since 1970."""

_WRITTEN: Final = re.compile(r"aip_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_ID_BYTES: Final = 6
_SECRET_BYTES: Final = 32
_MOST_NAME_CHARACTERS: Final = 100
_NO_DIGEST: Final = bytes(32)
"""What a secret is compared with where no key has its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyText:
    """A key as its holder has it."""

    id: str
    """Tells nothing of the secret; it may be logged and listed."""
    secret: str = field(repr=False)

    @property
    def secret_digest(self) -> bytes:
        """What is kept of the secret; a slow digest is for passwords, which can be guessed."""
        return sha256(self.secret.encode()).digest()

    def written(self) -> str:
        """Return the text that its holder keeps."""
        return f"{START}{self.id}_{self.secret}"


def make_key() -> KeyText:
    """Return a new key."""
    return KeyText(id=secrets.token_hex(_ID_BYTES), secret=secrets.token_urlsafe(_SECRET_BYTES))


def read_key(text: str) -> KeyText | None:
    """Return the key that a text is, if it is written as one."""
    found = _WRITTEN.fullmatch(text)
    return found and KeyText(id=found[1], secret=found[2])


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

    def is_live(self, now: float) -> bool:
        """Return whether it authenticates its holder."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStore:
    """The keys of all tenants. Blocking.

    Every method raises `ConfigurationError` and `StoreUnusable` for a database that cannot be used.
    """

    database: Callable[[], Database]
    clock: Clock = time.time

    def create(self, wanted: WantedKey) -> MadeKey:
        """Make a key for a new holder; raises `InputError` for a name or tenant of wrong form."""
        require_usable(wanted)
        text = make_key()
        principal = Principal(
            id=f"key:{text.id}", name=wanted.name, tenant=wanted.tenant, scopes=wanted.scopes
        )
        return self._add(text, principal, wanted.lasts_seconds)

    def create_like(self, key_id: str, *, lasts_seconds: int | None = None) -> MadeKey:
        """Make a further key for the holder of one, who stays the same rater.

        Raises `InputError` where there is no such key or two of the holder's work already.
        """
        with self._rows.holding(key_id):
            like = self.get(key_id)
            of_same = [one for one in self.all() if one.principal.id == like.principal.id]
            if sum(one.is_live(self.clock()) for one in of_same) >= MOST_LIVE:
                msg = f"{MOST_LIVE} keys of this holder work already: revoke one first"
                raise InputError(msg, field="like")
            return self._add(make_key(), like.principal, lasts_seconds)

    def get(self, key_id: str) -> Key:
        """Return what is kept of a key; raises `InputError` where there is none of this id."""
        row = self._rows.key(key_id)
        if row is None:
            msg = "there is no key of this id: `ai-psychiatrist keys list` shows all"
            raise InputError(msg, field="id")
        return key_of(row)

    def all(self) -> tuple[Key, ...]:
        """Return all keys, the oldest first."""
        return tuple(map(key_of, self._rows.keys()))

    def revoke(self, key_id: str) -> Key:
        """End a key and its sessions; one that was revoked before stays as it is."""
        self.get(key_id)
        self._rows.revoke_key(key_id, int(self.clock()))
        return self.get(key_id)

    def find(self, given: KeyText) -> Key | None:
        """Return the live key that a caller shows; an unknown id takes as long as any."""
        row = self._rows.key(given.id)
        expected = _NO_DIGEST if row is None else row.secret_digest
        is_same = hmac.compare_digest(given.secret_digest, expected)
        if row is None or not is_same:
            return None
        key, now = key_of(row), int(self.clock())
        if not key.is_live(now):
            return None
        if key.used_at is None or now - key.used_at >= NOTED_EVERY_SECONDS:
            # The holder is authenticated whether or not the disk takes the note.
            with suppress(StoreUnusable):
                self._rows.use_key(key.id, now)
        return key

    def knows(self, key_id: str) -> bool:
        """Return whether there is or was a key of this id."""
        return self._rows.key(key_id) is not None

    @property
    def _rows(self) -> AccessRows:
        return AccessRows(self.database())

    def _add(self, text: KeyText, principal: Principal, lasts_seconds: int | None) -> MadeKey:
        now = int(self.clock())
        self._rows.add_key(
            id=text.id,
            secret_digest=text.secret_digest,
            principal=principal.id,
            name=principal.name,
            tenant=principal.tenant,
            scopes=" ".join(sorted(principal.scopes)),
            created_at=now,
            expires_at=None if lasts_seconds is None else now + lasts_seconds,
        )
        return MadeKey(key=self.get(text.id), text=text)


def key_of(row: Found) -> Key:
    """Return a row of a key as a key."""
    principal = Principal(
        id=row.principal,
        name=row.name,
        tenant=row.tenant,
        scopes=frozenset(map(Scope, row.scopes.split())),
    )
    return Key(
        id=row.id,
        principal=principal,
        created_at=row.created_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
    )


def require_usable(wanted: WantedKey) -> None:
    """Raise `InputError` for a key that cannot be made."""
    if not is_tenant(wanted.tenant):
        raise InputError(TENANT_CURE, field="tenant")
    if not (wanted.name.isprintable() and 0 < len(wanted.name.strip()) <= _MOST_NAME_CHARACTERS):
        msg = f"a name is 1-{_MOST_NAME_CHARACTERS} printable characters"
        raise InputError(msg, field="name")
    if not wanted.scopes:
        msg = f"a key without a scope opens nothing; the scopes are {', '.join(Scope)}"
        raise InputError(msg, field="scope")
