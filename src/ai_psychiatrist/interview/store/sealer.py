"""Seals the parts of interviews, each for its own place."""

from dataclasses import dataclass, field

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.ledger.store.database import Value
from ai_psychiatrist.store.cipher import Cipher


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealer:
    """Seals what belongs to interviews, and opens it in the place that it was sealed for alone."""

    cipher: Cipher = field(repr=False)

    def seal(self, content: bytes, hashed_id: str, *place: str) -> bytes:
        """Return what is written."""
        return self.cipher.seal(content, place=_place(hashed_id, *place))

    def unseal(self, stored: Value, hashed_id: str, *place: str) -> bytes:
        """Return what was sealed; raises `ArtifactMismatch`."""
        if not isinstance(stored, bytes):
            raise ArtifactMismatch(problem_code="interview_unreadable")
        try:
            return self.cipher.unseal(stored, place=_place(hashed_id, *place))
        except ConfigurationError:
            # The key itself was checked when the file was opened.
            raise ArtifactMismatch(problem_code="interview_unreadable") from None


def _place(hashed_id: str, *parts: str) -> str:
    return "/".join(("interviews", hashed_id, *parts))
