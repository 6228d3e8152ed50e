"""What of an interview can be asked for without its key: nothing that anybody said."""

from contextlib import suppress

from ai_psychiatrist.domain.errors import ArtifactMismatch
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.interview.store.sealer import Sealer
from ai_psychiatrist.interview.store.serialization import from_bytes
from ai_psychiatrist.ledger.store.database import Database, Value


def stored_columns(interview: Interview) -> dict[str, Value]:
    """Return the values of the columns that anybody with the file can read, by their names."""
    return {
        "version": interview.version,
        "protocol": interview.protocol.id,
        "state": interview.state.value,
        "protocol_version": interview.protocol.version,
        "protocol_digest": interview.protocol.digest,
        "turns": interview.turn,
        "model_calls": interview.spent.calls,
        "end_reason": None if interview.end_reason is None else interview.end_reason.value,
        "has_danger": int(interview.danger is not None),
    }


def fill_columns(database: Database, sealer: Sealer) -> None:
    """Fill the columns of all interviews from what is sealed; one that cannot be read has none."""
    for hashed, body in database.fetch("SELECT id_hash, body FROM interviews"):
        with suppress(ArtifactMismatch):
            columns = stored_columns(from_bytes(sealer.unseal(body, str(hashed), "state")))
            database.execute(
                f"UPDATE interviews SET {assigned(columns)} WHERE id_hash = :id_hash",  # noqa: S608  our names
                {**columns, "id_hash": hashed},
            )


def assigned(columns: dict[str, Value]) -> str:
    """Return columns as a statement assigns them by their names."""
    return ", ".join(f"{name} = :{name}" for name in columns)
