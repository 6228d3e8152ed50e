"""The keys of a tenant's subjects, each wrapped by the tenant's, that one by the installation's."""

import hashlib
import hmac
import json
import os
import unicodedata
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    NotFound,
    StoreUnusable,
)
from ai_psychiatrist.ledger.keys.cipher import KEY_BYTES, Cipher
from ai_psychiatrist.ledger.keys.store_keys import StoreKeys
from ai_psychiatrist.ledger.store.database import Row
from ai_psychiatrist.ledger.store.private_database import empty_journal
from ai_psychiatrist.reviews.archive.private_database import (
    PrivateDatabase,
    open_private,
)
from ai_psychiatrist.reviews.archive.tables import KEYS

KEYS_NAME: Final = "keys.sqlite"

_NAMES: Final = b"names of subjects"
_READ: Final = """
    SELECT wrapped, sealed_name, (SELECT value FROM meta WHERE key = 'generation') AS generation
    FROM subjects WHERE id = ?
"""
_DUE: Final = "INSERT OR IGNORE INTO meta VALUES ('wiping_due', 1)"
_IS_DUE: Final = "SELECT 1 FROM meta WHERE key = 'wiping_due'"
_DONE: Final = "DELETE FROM meta WHERE key = 'wiping_due'"


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    generation: int
    cipher: Cipher = field(repr=False)
    naming: bytes = field(repr=False)
    """Key of the digests by which names are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    key: bytes = field(repr=False)
    sealed_name: bytes | None


class TenantKeys:
    """Opens what belongs to a subject while the subject's key is there; any process may use it.

    Every method may raise `StoreUnusable`.
    """

    def __init__(self, database: PrivateDatabase, keys: StoreKeys, tenant: str) -> None:
        self._database = database
        self._keys = keys
        self._tenant = tenant
        self._known: _TenantKey | None = None

    @classmethod
    def open(cls, folder: Path, keys: StoreKeys, tenant: str) -> Self:
        """Open the file of the keys, with a key of the tenant in it.

        Raises `ConfigurationError` when no key of the installation opens that one.
        """
        opened = cls(open_private(folder / KEYS_NAME, KEYS), keys, tenant)
        try:
            opened._begin()
        except BaseException:
            opened.close()
            raise
        return opened

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def come_before(self, records: PrivateDatabase) -> None:
        """Have every key asked for before a transaction of the records begins, or inside a hold."""
        self._database.come_before(records)

    def subject(self, name: str | None, *, now: str) -> str:
        """Return the id of a subject: the one of that name, or a new one."""
        with self._database.transaction():
            tenant = self._tenant_key()
            digest = None if name is None else _digest(tenant.naming, name)
            if digest is not None:
                found = self._database.fetch(
                    "SELECT id FROM subjects WHERE name_digest = ?", (digest,)
                )
                if found:
                    return str(found[0]["id"])
            subject_id, key = str(uuid.uuid4()), os.urandom(KEY_BYTES)
            sealed = None
            if name is not None:
                sealed = Cipher(key).seal(name.encode(), place=self._place(subject_id, "name"))
            wrapped = tenant.cipher.seal(key, place=self._place(subject_id, "key"))
            self._database.execute(
                "INSERT INTO subjects VALUES (?, ?, ?, ?, ?)",
                (subject_id, digest, sealed, wrapped, now),
            )
        return subject_id

    def cipher(self, subject_id: str) -> Cipher:
        """Return what opens a subject's words; raises `ArtifactMismatch` where the key is gone."""
        try:
            return Cipher(self._subject(subject_id).key)
        except NotFound:
            raise ArtifactMismatch(problem_code="assessment_unreadable") from None

    def name(self, subject_id: str) -> str | None:
        """Return what a subject is called, `None` without a name; raises `NotFound`."""
        subject = self._subject(subject_id)
        if subject.sealed_name is None:
            return None
        with _unreadable():
            place = self._place(subject_id, "name")
            return Cipher(subject.key).unseal(subject.sealed_name, place=place).decode()

    @contextmanager
    def held(self, subject_id: str) -> Iterator[None]:
        """Let nobody take the subject's key away inside; raises `NotFound`."""
        with self._database.transaction():
            if not self._database.fetch("SELECT 1 FROM subjects WHERE id = ?", (subject_id,)):
                raise NotFound("subject_not_found")
            yield

    @contextmanager
    def still(self) -> Iterator[None]:
        """Let no key come or go inside."""
        with self._database.transaction():
            yield

    def has_all(self, subject_ids: Collection[str]) -> bool:
        """Return whether the keys of all these subjects are there."""
        query = "SELECT COUNT(*) FROM subjects WHERE id IN (SELECT value FROM json_each(?))"
        wanted = set(subject_ids)
        ((found,),) = self._database.fetch(query, (json.dumps(sorted(wanted)),))
        return int(found) == len(wanted)

    def ids(self) -> frozenset[str]:
        """Return the ids of all subjects whose keys are there."""
        return frozenset(str(row[0]) for row in self._database.fetch("SELECT id FROM subjects"))

    def forget(self, subject_id: str) -> bool:
        """Destroy a subject's key and name; returns whether there was one.

        Nothing of it is left in the file after `wipe`.
        """
        with self._database.transaction():
            self._database.execute(_DUE)
            return self._database.execute("DELETE FROM subjects WHERE id = ?", (subject_id,)) > 0

    def wipe(self) -> bool:
        """Leave no earlier state in the file or beside it; returns whether that succeeded at once.

        What another process that reads or a full disk keeps from it is left to the next call.
        """
        is_due = bool(self._database.fetch(_IS_DUE))
        try:
            if is_due:
                # A page that was split keeps what has moved to another one.
                self._database.execute("VACUUM")
            is_wiped = empty_journal(self._database)
            if is_due and is_wiped:
                self._database.execute(_DONE)
        except StoreUnusable:
            return False
        return is_wiped

    def rotate(self, *, further: Cipher | None = None) -> int:
        """Give the tenant a new key, and wrap every subject's anew; returns how many there are.

        `further`: another key of the installation that is to open it from now on, beside the
        present one. All of it happens or nothing; who reads meanwhile finds the one or the other.
        """
        with self._database.transaction():
            before = self._tenant_key()
            key = os.urandom(KEY_BYTES)
            after = _made(key, before.generation + 1)
            rows = self._database.fetch("SELECT id, wrapped, sealed_name FROM subjects")
            for row in rows:
                self._wrap_anew(row, before, after)
            present = self._fitting()
            self._database.execute(_DUE)
            self._database.execute("DELETE FROM wraps")
            for cipher in (present, further):
                if cipher is not None:
                    self._wrap(key, cipher)
            self._database.execute(
                "UPDATE meta SET value = ? WHERE key = 'generation'", (after.generation,)
            )
        self.wipe()
        return len(rows)

    def _begin(self) -> None:
        with self._database.transaction():
            if not self._database.fetch("SELECT 1 FROM wraps"):
                self._wrap(os.urandom(KEY_BYTES), self._keys.first())
            self._tenant_key()

    def _wrap(self, key: bytes, cipher: Cipher) -> None:
        wrapped = cipher.seal(key, place=self._place("key"))
        self._database.execute("INSERT INTO wraps (wrapped) VALUES (?)", (wrapped,))

    def _wrap_anew(self, row: Row, before: _TenantKey, after: _TenantKey) -> None:
        subject_id = str(row["id"])
        key = self._opened(row["wrapped"], before, subject_id)
        digest = None
        if row["sealed_name"] is not None:
            place = self._place(subject_id, "name")
            with _unreadable():
                digest = _digest(
                    after.naming, Cipher(key).unseal(row["sealed_name"], place=place).decode()
                )
        self._database.execute(
            "UPDATE subjects SET wrapped = ?, name_digest = ? WHERE id = ?",
            (after.cipher.seal(key, place=self._place(subject_id, "key")), digest, subject_id),
        )

    def _subject(self, subject_id: str) -> _Subject:
        """Return a subject's key; another process may have wrapped all of them anew."""
        row, tenant = self._row(subject_id), self._known
        if tenant is None or tenant.generation != row["generation"]:
            with self._database.transaction():
                tenant, row = self._tenant_key(), self._row(subject_id)
        return _Subject(
            key=self._opened(row["wrapped"], tenant, subject_id), sealed_name=row["sealed_name"]
        )

    def _row(self, subject_id: str) -> Row:
        rows = self._database.fetch(_READ, (subject_id,))
        if not rows:
            raise NotFound("subject_not_found")
        return rows[0]

    def _opened(self, wrapped: bytes, tenant: _TenantKey, subject_id: str) -> bytes:
        with _unreadable():
            return tenant.cipher.unseal(wrapped, place=self._place(subject_id, "key"))

    def _tenant_key(self) -> _TenantKey:
        """Return the tenant's key as it is now; to be called inside a transaction."""
        ((generation,),) = self._database.fetch("SELECT value FROM meta WHERE key = 'generation'")
        if self._known is None or self._known.generation != generation:
            cipher = self._fitting()
            for wrapped in self._wraps():
                with suppress(ConfigurationError):
                    key = cipher.unseal(wrapped, place=self._place("key"))
                    self._known = _made(key, int(generation))
        if self._known is None or self._known.generation != generation:
            raise ArtifactMismatch(problem_code="assessment_unreadable")
        return self._known

    def _fitting(self) -> Cipher:
        """Return the key of the installation that opens the tenant's."""
        return self._keys.fitting(*self._wraps(), place=self._place("key"))

    def _wraps(self) -> list[bytes]:
        return [bytes(row[0]) for row in self._database.fetch("SELECT wrapped FROM wraps")]

    def _place(self, *parts: str) -> str:
        return sealed_place(self._tenant, *parts)


def sealed_place(tenant: str, *parts: str) -> str:
    """Return what ties sealed bytes to where they are kept."""
    return "/".join(("records", tenant, *parts))


def _made(key: bytes, generation: int) -> _TenantKey:
    naming = hmac.digest(key, _NAMES, hashlib.sha256)
    return _TenantKey(generation=generation, cipher=Cipher(key), naming=naming)


def _digest(naming: bytes, name: str) -> bytes:
    """Return by what a name is found; blanks around it and ways of writing letters do not count."""
    written = unicodedata.normalize("NFC", name.strip())  # noqa: TID251  a name is short
    return hmac.digest(naming, written.encode(), hashlib.sha256)


@contextmanager
def _unreadable() -> Iterator[None]:
    try:
        yield
    except ConfigurationError:
        raise ArtifactMismatch(problem_code="assessment_unreadable") from None
