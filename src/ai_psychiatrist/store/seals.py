"""Words in rows: each is sealed with the key of its subject, for its own place, and opens there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Table

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.database import Found, Value
from ai_psychiatrist.store.schema import answers, bodies, calls, interviews, origins, reviews, turns

_PLACES: Final[Mapping[Table, str]] = {
    bodies: "{record_id}/{part}",
    calls: "{record_id}/call/{digest}/{occurrence}",
    reviews: "{record_id}/{rater}/{kind}/{place}",
    interviews: "{id_hash}/state",
    origins: "{id_hash}/origin",
    answers: "{id_hash}/answer/{key_hash}",
    turns: "{id_hash}/turn/{key_hash}",
}
"""What the `body` of a row is sealed for, by the row's columns."""


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
