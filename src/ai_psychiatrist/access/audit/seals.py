"""Digests that only this installation can make: whoever edits files alone cannot make them anew."""

import hashlib
import hmac
from dataclasses import dataclass, field

_LENGTH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Seals:
    """Makes and checks the seals of one tenant's trail."""

    tenant: str
    key: bytes = field(repr=False)
    """The key of the installation."""

    def seal(self, *parts: str) -> str:
        """Return 64 hex digits."""
        said = "\n".join(("audit", self.tenant, *parts)).encode()
        return hmac.new(self.key, said, hashlib.sha256).hexdigest()

    def is_own(self, seal: str, *parts: str) -> bool:
        """Whether this installation made the seal."""
        return hmac.compare_digest(seal.encode(), self.seal(*parts).encode())

    def name_of(self, record_id: str) -> str:
        """Return under which name a record stands in the trail: nothing of its id is in it."""
        return self.seal("object", record_id)[:_LENGTH]
