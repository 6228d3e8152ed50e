"""Turn records into rows and rows into records, words through the vault."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final

from ai_psychiatrist import __version__
from ai_psychiatrist.domain.failures import CallPath, FailureCode
from ai_psychiatrist.domain.model_call import ModelCall, RequestMessage
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.ledger.keys.vault import Vault
from ai_psychiatrist.ledger.store.database import Row, Values
from ai_psychiatrist.ledger.store.records import (
    AttemptRecord,
    CallUsage,
    CurrentRow,
    KeptCall,
    Origin,
)
from ai_psychiatrist.store.errors import refusing_damage

_DIGEST_LENGTH: Final = 32
_MOST_CONTEXT: Final = 100_000_000
"""Characters of the unit's text in all messages of a call together."""
_NOTES: Final = ("errors", "warnings", "coercions")

# Columns are called as the fields are: a row holds all of a record by name, except its words,
# which are sealed, and its enumerations, which are text.
_CALL_FIELDS: Final = tuple(field.name for field in fields(ModelCall))
_ATTEMPT_FIELDS: Final = tuple(field.name for field in fields(AttemptRecord))


def call_values(kept: KeptCall, *, vault: Vault, context: bytes | None) -> Values:
    """Return the values that `queries.KEEP_CALL` wants; `context`: the unit's, as it is kept."""
    call = kept.call
    return {
        **{name: getattr(call, name) for name in _CALL_FIELDS},
        "unit_id": kept.unit_id,
        "attempt": kept.attempt,
        "step": call.agent,
        "outcome": call.code,
        "sent": vault.put_raw(_without(context, call.sent), place=f"sent:{kept.unit_id}"),
        "reply": vault.put_raw(call.reply, place=f"reply:{kept.unit_id}"),
        "reply_digest": _text_digest(call.reply),
        "keeps_raw": vault.keeps_raw,
        "hosts": None if call.hosts is None else " ".join(call.hosts),
        "recorded_at": _now(),
    }


def read_call(row: Row, *, vault: Vault, context: bytes | None) -> ModelCall:
    """Return a call from the columns of `queries.CALLS_OF_ATTEMPT`."""
    with refusing_damage():
        # A ledger of an earlier version that is only read lacks the newest columns.
        columns = dict(row)
        hosts = columns.setdefault("hosts", None)
        values: dict[str, Any] = {name: columns[name] for name in _CALL_FIELDS} | {
            "path": CallPath(row["path"]),
            "code": None if row["code"] is None else FailureCode(row["code"]),
            "is_cut_off": bool(row["is_cut_off"]),
            "hosts": None if hosts is None else tuple(str.split(hosts)),
            "sent": _with(context, vault.take_text(row["sent"], place=f"sent:{row['unit_id']}")),
            "reply": vault.take_text(row["reply"], place=f"reply:{row['unit_id']}"),
        }
        _refuse_bytes(values)
        return ModelCall(**values)


def attempt_values(record: AttemptRecord, *, vault: Vault) -> Values:
    """Return the values that `queries.RECORD` wants."""
    unit_id = record.unit_id
    notes = {
        name: vault.put_notes(getattr(record, name), place=f"{name}:{unit_id}") for name in _NOTES
    }
    return {
        **{name: getattr(record, name) for name in _ATTEMPT_FIELDS},
        **notes,
        "raw": vault.put_raw(record.raw, place=f"raw:{unit_id}"),
        "raw_digest": _text_digest(record.raw),
        "output": vault.put_object(record.output, place=f"output:{unit_id}"),
        "code_version": __version__,
        "recorded_at": _now(),
    }


def read_attempt(row: Row, *, vault: Vault) -> AttemptRecord:
    """Return an attempt from the columns of `queries.HISTORY`, which `queries.CURRENT` has too."""
    with refusing_damage():
        unit_id = row["unit_id"]
        values: dict[str, Any] = {name: row[name] for name in _ATTEMPT_FIELDS} | {
            "origin": Origin(row["origin"]),
            "raw": vault.take_text(row["raw"], place=f"raw:{unit_id}"),
            "output": vault.take_object(row["output"], place=f"output:{unit_id}"),
        }
        for name in _NOTES:
            values[name] = vault.take_notes(row[name], place=f"{name}:{unit_id}")
        _refuse_bytes(values)
        return AttemptRecord(**values)


def read_current(row: Row, *, vault: Vault) -> CurrentRow:
    """Return a last attempt from the columns of `queries.CURRENT`."""
    return CurrentRow(
        record=read_attempt(row, vault=vault),
        attempts=row["attempts"],
        newest_attempt=row["newest"],
        provider_failures=row["provider_failures"],
        other_failures=row["other_failures"],
    )


def read_usage(row: Row) -> CallUsage:
    """Return a row of `queries.USAGE`."""
    with refusing_damage():
        values = {name: 0 if row[name] is None else row[name] for name in CallUsage._fields}
        _refuse_bytes(values)
        return CallUsage._make(values.values())


def _refuse_bytes(values: Mapping[str, object]) -> None:
    """Refuse what SQLite lets stand in a column of texts or numbers."""
    if any(isinstance(value, bytes) for value in values.values()):
        raise TypeError


def context_digest(content: bytes) -> str:
    """Return the digest under which a step's input is known."""
    return keyed_digest(content.decode("utf-8", "backslashreplace"), length=_DIGEST_LENGTH)


def _text_digest(text: str | None) -> str | None:
    return None if text is None else keyed_digest(text, length=_DIGEST_LENGTH)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _without(context: bytes | None, sent: Sequence[RequestMessage]) -> str | None:
    """Return messages as JSON, each text in the parts around the unit's, which is kept already."""
    if not sent:
        return None
    with refusing_damage():
        known = _text(context)
    return json.dumps([[role, text.split(known) if known else [text]] for role, text in sent])


def _with(context: bytes | None, kept: str | None) -> tuple[RequestMessage, ...]:
    known = _text(context)
    messages = json.loads(kept or "[]")
    # A file may come from somebody else, and is to fit the memory with all that it stands for.
    if sum(len(parts) - 1 for _, parts in messages) * len(known) > _MOST_CONTEXT:
        raise ValueError
    return tuple(RequestMessage(role, known.join(parts)) for role, parts in messages)


def _text(context: bytes | None) -> str:
    return (context or b"").decode("utf-8", "surrogatepass")
