"""Seals the parts of records: each opens in its own place alone, with its subject's key."""

from dataclasses import dataclass, field

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.ledger.keys.cipher import Cipher
from ai_psychiatrist.ledger.store.database import Value
from ai_psychiatrist.reviews.archive.tenant_keys import TenantKeys, sealed_place


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """Seals and opens what belongs to one subject of a tenant."""

    cipher: Cipher = field(repr=False)
    tenant: str

    def put(self, content: bytes, *place: str) -> bytes:
        """Return content as it is written; its place begins with the record's id."""
        return self.cipher.seal(content, place=sealed_place(self.tenant, *place))

    def take(self, stored: Value, *place: str) -> bytes:
        """Return what was sealed for a place; raises `ArtifactMismatch`."""
        if not isinstance(stored, bytes):
            raise ArtifactMismatch(problem_code="assessment_unreadable")
        try:
            return self.cipher.unseal(stored, place=sealed_place(self.tenant, *place))
        except ConfigurationError:
            # The keys themselves were checked when they were opened.
            raise ArtifactMismatch(problem_code="assessment_unreadable") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seals:
    """Those of a tenant's subjects.

    To be asked for before a transaction of the records begins: keys are always taken first.
    """

    keys: TenantKeys = field(repr=False)
    tenant: str

    def of(self, subject_id: str) -> Seal:
        """Return a subject's; raises `ArtifactMismatch` where its key is gone."""
        return Seal(cipher=self.keys.cipher(subject_id), tenant=self.tenant)
