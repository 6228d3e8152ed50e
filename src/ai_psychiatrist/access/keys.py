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
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.store.access_rows import (
    ADD_KEY,
    END_SESSIONS_OF_KEY,
    KEY,
    KEYS,
    NOTE_KEY_USE,
    REVOKE_KEY,
)
from ai_psychiatrist.store.database import Database, Found

logger = get_logger(__name__)

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
class Key:
    """What is kept of a key; its secret is not."""

    id: str
    """Tells nothing of the secret; it may be logged and listed."""
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
class KeyRequest:
    """A key to be made; raises `InputError` for one that cannot be."""

    name: str
    tenant: str
    scopes: frozenset[Scope]
    lasts_seconds: int | None = None
    """`None`: until it is revoked."""

    def __post_init__(self) -> None:
        if not is_tenant(self.tenant):
            raise InputError(TENANT_CURE, field="tenant")
        if not (self.name.isprintable() and 0 < len(self.name.strip()) <= _MOST_NAME_CHARACTERS):
            msg = f"a name is 1-{_MOST_NAME_CHARACTERS} printable characters"
            raise InputError(msg, field="name")
        if not self.scopes:
            msg = f"a key without a scope opens nothing; the scopes are {', '.join(Scope)}"
            raise InputError(msg, field="scope")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeKey:
    """A new key, and the only sight of its secret."""

    key: Key
    text: str = field(repr=False)
    """What its holder keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStore:
    """The keys of all tenants. Blocking.

    Every method raises `ConfigurationError` and `StoreUnusable` for a database that cannot be used.
    """

    database: Callable[[], Database]
    clock: Clock = time.time

    def create(self, wanted: KeyRequest) -> MadeKey:
        """Make a key for a new holder."""
        key_id = secrets.token_hex(_ID_BYTES)
        holder = Principal(
            id=f"key:{key_id}", name=wanted.name, tenant=wanted.tenant, scopes=wanted.scopes
        )
        return self._add(key_id, holder, wanted.lasts_seconds)

    def create_like(self, key_id: str, *, lasts_seconds: int | None = None) -> MadeKey:
        """Make a further key for the holder of one, who stays the same rater.

        Raises `InputError` where there is no such key or two of the holder's work already.
        """
        with self.database().among_tenants():
            holder = self.get(key_id).principal
            of_same = [key for key in self.all() if key.principal.id == holder.id]
            if sum(key.is_live(self.clock()) for key in of_same) >= MOST_LIVE:
                msg = f"{MOST_LIVE} keys of this holder work already: revoke one first"
                raise InputError(msg, field="like")
            return self._add(secrets.token_hex(_ID_BYTES), holder, lasts_seconds)

    def get(self, key_id: str) -> Key:
        """Return what is kept of a key; raises `InputError` where there is none of this id."""
        for row in self.database().across_tenants(KEY, of_key=key_id):
            return key_of(row)
        msg = "there is no key of this id: `ai-psychiatrist keys list` shows all"
        raise InputError(msg, field="id")

    def all(self) -> tuple[Key, ...]:
        """Return all keys, the oldest first."""
        return tuple(map(key_of, self.database().across_tenants(KEYS)))

    def revoke(self, key_id: str) -> Key:
        """End a key and its sessions; one that was revoked before stays as it is."""
        database = self.database()
        with database.among_tenants(is_alone=False):
            database.change(REVOKE_KEY, of_key=key_id, of_now=int(self.clock()))
            database.change(END_SESSIONS_OF_KEY, of_key=key_id)
            return self.get(key_id)

    def find(self, text: str) -> Key | None:
        """Return the live key that a caller shows, or log that there is none.

        An unknown id takes as long as a wrong secret.
        """
        now, given = int(self.clock()), _WRITTEN.fullmatch(text)
        rows = self.database().across_tenants(KEY, of_key=given[1]) if given else ()
        expected = rows[0].secret_digest if rows else _NO_DIGEST
        is_same = hmac.compare_digest(digest_of(given[2] if given else ""), expected)
        key = key_of(rows[0]) if rows and is_same else None
        if key is None or not key.is_live(now):
            # An id that somebody made up is not repeated.
            logger.warning("credential_refused", key_id=rows[0].id if rows else None)
            return None
        if key.used_at is None or now - key.used_at >= NOTED_EVERY_SECONDS:
            # The holder is authenticated whether or not the disk takes the note.
            with suppress(StoreUnusable):
                self.database().change(NOTE_KEY_USE, of_key=key.id, of_now=now)
        return key

    def _add(self, key_id: str, holder: Principal, lasts_seconds: int | None) -> MadeKey:
        now, secret = int(self.clock()), secrets.token_urlsafe(_SECRET_BYTES)
        self.database().change(
            ADD_KEY,
            id=key_id,
            secret_digest=digest_of(secret),
            principal=holder.id,
            name=holder.name,
            tenant=holder.tenant,
            scopes=" ".join(sorted(holder.scopes)),
            created_at=now,
            expires_at=None if lasts_seconds is None else now + lasts_seconds,
        )
        return MadeKey(key=self.get(key_id), text=f"{START}{key_id}_{secret}")


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


def digest_of(secret: str) -> bytes:
    """Return what is kept of a random secret; a slow digest is for what can be guessed."""
    return sha256(secret.encode()).digest()
