"""The model calls of jobs that are under way, sealed: who goes on with a job finds them again."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.reviews.archive.private_database import PrivateDatabase
from ai_psychiatrist.reviews.archive.record_rows import RecordRows
from ai_psychiatrist.reviews.archive.seals import Seal

_CALL = TypeAdapter(ModelCall)
_PART = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCalls:
    """Those of a tenant."""

    database: PrivateDatabase
    rows: RecordRows

    def of(self, record_id: str) -> tuple[dict[tuple[str, int], ModelCall], Seal]:
        """Return the calls of a job by digest and occurrence, and what seals further ones.

        Raises `NotFound` and `ArtifactMismatch`.
        """
        seal = self.rows.seal_of(record_id)
        query = "SELECT digest, occurrence, body FROM calls WHERE record_id = ?"
        rows = self.database.fetch(query, (record_id,))
        known = {
            (digest, occurrence): _call_in(
                seal.take(body, *call_place(record_id, digest, occurrence))
            )
            for digest, occurrence, body in rows
        }
        return known, seal

    def keep(self, calls: Iterable["SealedCall"]) -> None:
        """Keep calls, in one transaction; of a job that has its end, or is erased, none."""
        with self.database.transaction():
            for call in calls:
                self.database.execute(
                    "INSERT OR REPLACE INTO calls SELECT id, ?, ?, ? FROM records"
                    " WHERE id = ? AND state = 'running'",
                    (call.digest, call.occurrence, call.body, call.record_id),
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCall:
    """A call as it is written."""

    record_id: str
    digest: str
    occurrence: int
    body: bytes


def sealed_call(record_id: str, call: ModelCall, seal: Seal) -> SealedCall:
    """Return a call as it is written."""
    place = call_place(record_id, call.digest, call.occurrence)
    return SealedCall(
        record_id=record_id,
        digest=call.digest,
        occurrence=call.occurrence,
        body=seal.put(_CALL.dump_json(call), *place),
    )


def call_place(record_id: str, digest: str, occurrence: int) -> tuple[str, ...]:
    """Return what a call is sealed for."""
    return record_id, _PART, digest, str(occurrence)


def _call_in(content: bytes) -> ModelCall:
    try:
        return _CALL.validate_json(content)
    except ValidationError:
        # The cause quotes what is stored.
        raise ArtifactMismatch(problem_code="assessment_unreadable") from None
