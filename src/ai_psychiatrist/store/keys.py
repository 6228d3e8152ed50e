"""The keys of a tenant's subjects, each wrapped by the tenant's, that one by the installation's.

What a row holds of words is sealed with the key of its subject for its own place, and opens there.
"""

import hashlib
import hmac
import os
import unicodedata
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Table, delete, select, update

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError, NotFound
from ai_psychiatrist.store.cipher import KEY_BYTES, Cipher, StoreKeys
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, own
from ai_psychiatrist.store.key_schema import subjects, tenant_keys, wraps
from ai_psychiatrist.store.schema import (
    acknowledgements,
    answers,
    bodies,
    calls,
    interview_acknowledgements,
    interviews,
    origins,
    reviews,
    turns,
)

_PLACES: Final[Mapping[Table, str]] = {
    bodies: "{record_id}/{part}",
    calls: "{record_id}/call/{digest}/{occurrence}",
    reviews: "{record_id}/{rater}/{kind}/{place}",
    acknowledgements: "{record_id}/read/{reader}/{number}",
    interviews: "{id_hash}/state",
    origins: "{id_hash}/origin",
    answers: "{id_hash}/answer/{key_hash}",
    turns: "{id_hash}/turn/{key_hash}",
    interview_acknowledgements: "{id_hash}/read/{reader}/{number}",
}
"""What the `body` of a row is sealed for, by the row's columns."""
_NAMES: Final = b"names of subjects"
_STATE: Final = (
    select(tenant_keys, wraps.c.wrapped.label("wrap"))
    .join_from(tenant_keys, wraps, wraps.c.tenant == tenant_keys.c.tenant)
    .where(own(tenant_keys))
)
"""The tenant's key, in a row for each key of the installation that opens it."""
_SUBJECT: Final = _STATE.add_columns(
    *subjects.c["id", "wrapped", "sealed_name"],
).join(subjects, subjects.c.tenant == tenant_keys.c.tenant)
"""With a subject's in one query, so that both are of one generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """Seals and opens what belongs to one subject of a tenant, or the keys of the tenant."""

    cipher: Cipher = field(repr=False)
    tenant: str

    def put(self, content: bytes, *place: str) -> bytes:
        """Return content as it is written; its place begins with the id of what it belongs to."""
        return self.cipher.seal(content, place=sealed_place(self.tenant, *place))

    def take(self, stored: bytes | None, *place: str) -> bytes:
        """Return what was sealed for a place; raises `ArtifactMismatch`."""
        if not isinstance(stored, bytes):
            raise unreadable()
        try:
            return self.cipher.unseal(stored, place=sealed_place(self.tenant, *place))
        except ConfigurationError:
            # The keys themselves were checked when they were opened.
            raise unreadable() from None

    def sealed(
        self, table: Table, row: Mapping[str, Value], content: str | bytes
    ) -> dict[str, Value]:
        """Return a row of a table with the content as its body."""
        given = content.encode() if isinstance(content, str) else content
        return {**row, "body": self.put(given, _PLACES[table].format_map(row))}

    def opened(self, table: Table, row: Found | None, column: str = "body") -> bytes:
        """Return the content of a row of a table; raises `ArtifactMismatch`, also without one.

        `column`: under which a query has the body.
        """
        if row is None:
            raise unreadable()
        columns = row._asdict()
        return self.take(columns[column], _PLACES[table].format_map(columns))


def sealed_place(tenant: str, *parts: str) -> str:
    """Return what ties sealed bytes to where they are kept."""
    return "/".join(("records", tenant, *parts))


def unreadable() -> ArtifactMismatch:
    """Return the error of what is stored and cannot be read."""
    return ArtifactMismatch(problem_code="assessment_unreadable")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    generation: int
    seal: Seal
    naming: bytes = field(repr=False)
    """Key of the digests by which names are found."""

    def digest(self, name: str) -> bytes:
        """Return the keyed digest of a name in its usual way of writing."""
        written = unicodedata.normalize("NFC", name.strip())  # noqa: TID251  a name is short
        return hmac.digest(self.naming, written.encode(), hashlib.sha256)


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
            if database.one(select(tenant_keys).where(own(tenant_keys))) is None:
                database.add(tenant_keys, {"generation": 0, "is_wiping_due": False})
                self._wrap(os.urandom(KEY_BYTES), keys.first())
            self._tenant_key(database.all(_STATE))

    def subject(self, name: str | None, *, new_id: str | None = None) -> str:
        """Return the id of a subject: the one of that name, or a new one."""
        database = self._database
        with database.writing():
            tenant = self._tenant_key(database.all(_STATE))
            subject_id, key = new_id or str(uuid.uuid4()), os.urandom(KEY_BYTES)
            row: dict[str, Value] = {
                "id": subject_id,
                "wrapped": tenant.seal.put(key, subject_id, "key"),
                "created_at": database.now(),
            }
            if name is not None:
                if (known := self.find(name)) is not None:
                    return known
                sealed = self._seal(key).put(name.encode(), subject_id, "name")
                row |= {"name_digest": tenant.digest(name), "sealed_name": sealed}
            database.add(subjects, row)
        return subject_id

    def find(self, name: str) -> str | None:
        """Return the id of the subject of a name, `None` where there is none."""
        named = select(subjects.c.id).where(own(subjects, name_digest=self.digest(name)))
        found = self._database.one(named)
        return None if found is None else str(found.id)

    def alike(self, name: str) -> tuple[str, ...]:
        """Return the names that differ from this one in capitals alone; it opens all of them."""
        wanted = name.strip().casefold()
        return tuple(sorted(one for one in self.names().values() if one.casefold() == wanted))

    def digest(self, name: str) -> bytes:
        """Return by what a name is found; blanks around and ways of writing do not count."""
        return self._tenant_key(self._database.all(_STATE)).digest(name)

    def seal(self, subject_id: str) -> Seal:
        """Return what seals for a subject; raises `ArtifactMismatch` where its key is gone."""
        try:
            return self._opened(subject_id)[0]
        except NotFound:
            raise unreadable() from None

    def name(self, subject_id: str) -> str | None:
        """Return what a subject is called, `None` without a name; raises `NotFound`."""
        seal, row = self._opened(subject_id)
        return _name(seal, row)

    def names(self, subject_ids: Collection[str] | None = None) -> dict[str, str]:
        """Return what subjects are called, without those that have no name or cannot be read.

        `subject_ids`: of which ones; left out, of all.
        """
        query = _SUBJECT.where(subjects.c.sealed_name.is_not(None))
        if subject_ids is not None:
            query = query.where(subjects.c.id.in_(set(subject_ids)))
        state = self._database.all(query)
        found: dict[str, str] = {}
        for row in state:
            with suppress(ArtifactMismatch):
                key = self._tenant_key(state).seal.take(row.wrapped, row.id, "key")
                found[row.id] = self._seal(key).take(row.sealed_name, row.id, "name").decode()
        return found

    def has_all(self, subject_ids: Collection[str]) -> bool:
        """Return whether the keys of all these subjects are there."""
        wanted = set(subject_ids)
        query = select(subjects.c.id).where(own(subjects), subjects.c.id.in_(wanted))
        return self._database.count(query) == len(wanted)

    def forget(self, subject_id: str) -> None:
        """Destroy a subject's key and name, if they are there.

        Nothing of it is left in the file after `wipe`.
        """
        with self._database.writing():
            self._change(is_wiping_due=True)
            self._database.run(delete(subjects).where(own(subjects, id=subject_id)))

    def wipe(self) -> bool:
        """Leave no earlier state in the files or beside them; returns whether that succeeded.

        What another process that reads or a full disk keeps from it is left to the next call.
        """
        state = self._database.one(select(tenant_keys).where(own(tenant_keys)))
        is_due = state is not None and bool(state.is_wiping_due)
        is_wiped = self._database.database.forget_deleted(rewrites_keys=is_due)
        if is_due and is_wiped:
            self._change(is_wiping_due=False)
        return is_wiped

    def rotate(self, *, further: Cipher | None = None) -> int:
        """Give the tenant a new key, and wrap every subject's with it; returns how many there are.

        `further`: another key of the installation that is to open it from now on, beside the
        present one. All of it happens or nothing; who reads meanwhile finds the one or the other.
        """
        database = self._database
        with database.writing():
            state = database.all(_STATE)
            before, (present, _) = self._tenant_key(state), self._unwrapped(state)
            key = os.urandom(KEY_BYTES)
            after = self._made(key, before.generation + 1)
            found = database.all(select(subjects).where(own(subjects)))
            for row in found:
                own_key = before.seal.take(row.wrapped, row.id, "key")
                name = _name(self._seal(own_key), row)
                database.run(
                    update(subjects).where(own(subjects, id=row.id)),
                    wrapped=after.seal.put(own_key, row.id, "key"),
                    name_digest=None if name is None else after.digest(name),
                )
            database.run(delete(wraps).where(own(wraps)))
            for cipher in (present, further):
                if cipher is not None:
                    self._wrap(key, cipher)
            self._change(generation=after.generation, is_wiping_due=True)
        self.wipe()
        return len(found)

    def _change(self, **columns: Value) -> None:
        self._database.run(update(tenant_keys).where(own(tenant_keys)), **columns)

    def _wrap(self, key: bytes, cipher: Cipher) -> None:
        wrapped = cipher.seal(key, place=sealed_place(self._database.tenant, "key"))
        self._database.add(wraps, {"wrapped": wrapped})

    def _unwrapped(self, state: Sequence[Found]) -> tuple[Cipher, bytes]:
        """Return the key of the installation that opens the tenant's, and that one."""
        place = sealed_place(self._database.tenant, "key")
        return self._keys.opened(*(row.wrap for row in state), place=place)

    def _tenant_key(self, state: Sequence[Found]) -> _TenantKey:
        generation = state[0].generation if state else -1
        if self._known is None or self._known.generation != generation:
            self._known = self._made(self._unwrapped(state)[1], generation)
        return self._known

    def _made(self, key: bytes, generation: int) -> _TenantKey:
        naming = hmac.digest(key, _NAMES, hashlib.sha256)
        return _TenantKey(generation=generation, seal=self._seal(key), naming=naming)

    def _opened(self, subject_id: str) -> tuple[Seal, Found]:
        """Return what seals for a subject, and its row; raises `NotFound`."""
        state = self._database.all(_SUBJECT.where(subjects.c.id == subject_id))
        if not state:
            raise NotFound("subject_not_found")
        key = self._tenant_key(state).seal.take(state[0].wrapped, subject_id, "key")
        return self._seal(key), state[0]

    def _seal(self, key: bytes) -> Seal:
        return Seal(cipher=Cipher(key), tenant=self._database.tenant)


def _name(seal: Seal, row: Found) -> str | None:
    if row.sealed_name is None:
        return None
    return seal.take(row.sealed_name, row.id, "name").decode()
