"""The keys of a tenant's subjects, each wrapped by the tenant's, that one by the installation's."""

import hashlib
import hmac
import os
import unicodedata
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import BindParameter, bindparam, delete, func, select, update

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError, NotFound
from ai_psychiatrist.store.cipher import KEY_BYTES, Cipher
from ai_psychiatrist.store.database import Found, TenantDatabase, Value
from ai_psychiatrist.store.key_files import StoreKeys
from ai_psychiatrist.store.key_schema import subjects, tenant_keys, wraps
from ai_psychiatrist.store.schema import OF_TENANT

_NAMES: Final = b"names of subjects"

_OF_SUBJECT: Final[BindParameter[str]] = bindparam("of_subject")
_IS_SUBJECT: Final = (subjects.c.tenant == OF_TENANT) & (subjects.c.id == _OF_SUBJECT)
_STATE: Final = select(tenant_keys).where(tenant_keys.c.tenant == OF_TENANT)
_CHANGED: Final = update(tenant_keys).where(tenant_keys.c.tenant == OF_TENANT)
_WRAPS: Final = select(wraps.c.wrapped).where(wraps.c.tenant == OF_TENANT)
_UNWRAPPED: Final = delete(wraps).where(wraps.c.tenant == OF_TENANT)
_NAMED: Final = select(subjects.c.id).where(
    subjects.c.tenant == OF_TENANT, subjects.c.name_digest == bindparam("of_name")
)
_ONE: Final = (
    select(subjects, tenant_keys.c.generation)
    .join_from(subjects, tenant_keys, subjects.c.tenant == tenant_keys.c.tenant)
    .where(_IS_SUBJECT)
)
_ALL: Final = select(subjects).where(subjects.c.tenant == OF_TENANT)
_COUNTED: Final = select(func.count()).where(
    subjects.c.tenant == OF_TENANT, subjects.c.id.in_(bindparam("of_subjects", expanding=True))
)
_WRAPPED_ANEW: Final = update(subjects).where(_IS_SUBJECT)
_FORGOTTEN: Final = delete(subjects).where(_IS_SUBJECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    generation: int
    cipher: Cipher = field(repr=False)
    naming: bytes = field(repr=False)
    """Key of the digests by which names are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """Seals and opens what belongs to one subject of a tenant."""

    cipher: Cipher = field(repr=False)
    tenant: str

    def put(self, content: bytes, *place: str) -> bytes:
        """Return content as it is written; its place begins with the record's id."""
        return self.cipher.seal(content, place=sealed_place(self.tenant, *place))

    def take(self, stored: bytes | None, *place: str) -> bytes:
        """Return what was sealed for a place; raises `ArtifactMismatch`."""
        if not isinstance(stored, bytes):
            raise ArtifactMismatch(problem_code="assessment_unreadable")
        try:
            return self.cipher.unseal(stored, place=sealed_place(self.tenant, *place))
        except ConfigurationError:
            # The keys themselves were checked when they were opened.
            raise ArtifactMismatch(problem_code="assessment_unreadable") from None


class TenantKeys:
    """Opens what belongs to a subject while the subject's key is there; any process may use it.

    Every method may raise `StoreUnusable`.
    """

    def __init__(self, database: TenantDatabase, keys: StoreKeys) -> None:
        """Make a key of the tenant where there is none.

        Raises `ConfigurationError` when no key of the installation opens the one there is.
        """
        self._database = database
        self._keys = keys
        self._known: _TenantKey | None = None
        with database.writing():
            if database.one(_STATE) is None:
                database.add(tenant_keys, {"generation": 0, "is_wiping_due": False})
                self._wrap(os.urandom(KEY_BYTES), keys.first())
            self._tenant_key()

    def subject(self, name: str | None, *, now: str, new_id: str | None = None) -> str:
        """Return the id of a subject: the one of that name, or a new one."""
        with self._database.writing():
            tenant = self._tenant_key()
            digest = None if name is None else _digest(tenant.naming, name)
            if digest is not None:
                found = self._database.one(_NAMED, of_name=digest)
                if found is not None:
                    return str(found.id)
            subject_id, key = new_id or str(uuid.uuid4()), os.urandom(KEY_BYTES)
            sealed = None
            if name is not None:
                sealed = Cipher(key).seal(name.encode(), place=self._place(subject_id, "name"))
            row: dict[str, Value] = {
                "id": subject_id,
                "name_digest": digest,
                "sealed_name": sealed,
                "wrapped": tenant.cipher.seal(key, place=self._place(subject_id, "key")),
                "created_at": now,
            }
            self._database.add(subjects, row)
        return subject_id

    def adopt(self, subject_id: str, name: str | None, *, now: str) -> str:
        """Return the id of a subject that comes from elsewhere: its own, or the one of its name."""
        with self._database.writing():
            if self.has_all([subject_id]):
                return subject_id
            return self.subject(name, now=now, new_id=subject_id)

    def cipher(self, subject_id: str) -> Cipher:
        """Return what opens a subject's words; raises `ArtifactMismatch` where the key is gone."""
        try:
            return Cipher(self._opened(subject_id)[0])
        except NotFound:
            raise ArtifactMismatch(problem_code="assessment_unreadable") from None

    def seal(self, subject_id: str) -> Seal:
        """Return what seals for a subject; raises `ArtifactMismatch` where its key is gone."""
        return Seal(cipher=self.cipher(subject_id), tenant=self._database.tenant)

    def name(self, subject_id: str) -> str | None:
        """Return what a subject is called, `None` without a name; raises `NotFound`."""
        key, row = self._opened(subject_id)
        if row.sealed_name is None:
            return None
        with _unreadable():
            place = self._place(subject_id, "name")
            return Cipher(key).unseal(row.sealed_name, place=place).decode()

    def has_all(self, subject_ids: Collection[str]) -> bool:
        """Return whether the keys of all these subjects are there."""
        wanted = sorted(set(subject_ids))
        found = self._database.one(_COUNTED, of_subjects=wanted)
        return found is not None and found[0] == len(wanted)

    def forget(self, subject_id: str) -> bool:
        """Destroy a subject's key and name; returns whether there was one.

        Nothing of it is left in the file after `wipe`.
        """
        with self._database.writing():
            self._database.run(_CHANGED, is_wiping_due=True)
            return self._database.run(_FORGOTTEN, of_subject=subject_id) > 0

    def wipe(self) -> bool:
        """Leave no earlier state in the files or beside them; returns whether that succeeded.

        What another process that reads or a full disk keeps from it is left to the next call.
        """
        state = self._database.one(_STATE)
        is_due = state is not None and bool(state.is_wiping_due)
        is_wiped = self._database.database.forget_deleted(rewrites_keys=is_due)
        if is_due and is_wiped:
            self._database.run(_CHANGED, is_wiping_due=False)
        return is_wiped

    def rotate(self, *, further: Cipher | None = None) -> int:
        """Give the tenant a new key, and wrap every subject's anew; returns how many there are.

        `further`: another key of the installation that is to open it from now on, beside the
        present one. All of it happens or nothing; who reads meanwhile finds the one or the other.
        """
        with self._database.writing():
            before = self._tenant_key()
            key = os.urandom(KEY_BYTES)
            after = _made(key, before.generation + 1)
            rows = self._database.all(_ALL)
            for row in rows:
                self._wrap_anew(row, before, after)
            present, _ = self._unwrapped_key()
            self._database.run(_UNWRAPPED)
            for cipher in (present, further):
                if cipher is not None:
                    self._wrap(key, cipher)
            self._database.run(_CHANGED, generation=after.generation, is_wiping_due=True)
        self.wipe()
        return len(rows)

    def _wrap(self, key: bytes, cipher: Cipher) -> None:
        self._database.add(wraps, {"wrapped": cipher.seal(key, place=self._place("key"))})

    def _wrap_anew(self, row: Found, before: _TenantKey, after: _TenantKey) -> None:
        key, digest = self._unwrapped(row, before), None
        if row.sealed_name is not None:
            place = self._place(row.id, "name")
            with _unreadable():
                name = Cipher(key).unseal(row.sealed_name, place=place).decode()
            digest = _digest(after.naming, name)
        wrapped = after.cipher.seal(key, place=self._place(row.id, "key"))
        self._database.run(_WRAPPED_ANEW, of_subject=row.id, wrapped=wrapped, name_digest=digest)

    def _opened(self, subject_id: str) -> tuple[bytes, Found]:
        """Return a subject's key and row; another process may have wrapped all of them anew."""
        row, tenant = self._row(subject_id), self._known
        if tenant is None or tenant.generation != row.generation:
            with self._database.reading():
                tenant, row = self._tenant_key(), self._row(subject_id)
        return self._unwrapped(row, tenant), row

    def _row(self, subject_id: str) -> Found:
        row = self._database.one(_ONE, of_subject=subject_id)
        if row is None:
            raise NotFound("subject_not_found")
        return row

    def _unwrapped(self, row: Found, tenant: _TenantKey) -> bytes:
        with _unreadable():
            return tenant.cipher.unseal(row.wrapped, place=self._place(row.id, "key"))

    def _tenant_key(self) -> _TenantKey:
        """Return the tenant's key as it is now; to be called inside a transaction."""
        state = self._database.one(_STATE)
        generation = -1 if state is None else int(state.generation)
        if self._known is None or self._known.generation != generation:
            self._known = _made(self._unwrapped_key()[1], generation)
        return self._known

    def _unwrapped_key(self) -> tuple[Cipher, bytes]:
        """Return the key of the installation that opens the tenant's, and that one."""
        sealed = [row.wrapped for row in self._database.all(_WRAPS)]
        return self._keys.opened(*sealed, place=self._place("key"))

    def _place(self, *parts: str) -> str:
        return sealed_place(self._database.tenant, *parts)


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
