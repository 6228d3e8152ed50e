"""Turn records into rows and rows into records, words through the vault."""

from datetime import UTC, datetime
from typing import Final

from ai_psychiatrist.domain.failures import CallPath, FailureCode
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.ledger.database import Row, Value
from ai_psychiatrist.ledger.records import (
    AttemptRecord,
    CurrentRow,
    KeptCall,
    Origin,
)
from ai_psychiatrist.ledger.vault import Vault

_DIGEST_LENGTH: Final = 32


def call_values(kept: KeptCall, *, repeat: int, vault: Vault) -> Row:
    """Return the values that `queries.KEEP_CALL` wants."""
    call = kept.call
    return (
        kept.attempt,
        call.digest,
        call.occurrence,
        repeat,
        call.agent,
        call.model,
        call.path,
        call.code,
        call.http_status,
        vault.put_text(call.reply, place=f"reply:{kept.unit_id}"),
        _text_digest(call.reply),
        call.is_cut_off,
        call.input_tokens,
        call.output_tokens,
        call.duration_ms,
        _now(),
        kept.unit_id,
    )


def read_call(row: Row, *, vault: Vault) -> KeptCall:
    """Return a call from the columns of `queries.CALLS_OF_ATTEMPT`."""
    attempt, digest, occurrence, agent, model, path, code, http_status, reply, *rest = row[1:]
    is_cut_off, input_tokens, output_tokens, duration_ms = rest
    unit_id = str(row[0])
    call = ModelCall(
        agent=str(agent),
        model=str(model),
        path=CallPath(str(path)),
        digest=str(digest),
        occurrence=integer(occurrence),
        code=None if code is None else FailureCode(str(code)),
        http_status=_optional_integer(http_status),
        reply=vault.take_text(reply, place=f"reply:{unit_id}"),
        is_cut_off=bool(is_cut_off),
        input_tokens=_optional_integer(input_tokens),
        output_tokens=_optional_integer(output_tokens),
        duration_ms=float(duration_ms or 0.0),
    )
    return KeptCall(unit_id, integer(attempt), call)


def _optional_integer(value: Value) -> int | None:
    return None if value is None else integer(value)


def attempt_values(record: AttemptRecord, *, vault: Vault) -> Row:
    """Return the values that `queries.RECORD` wants."""
    unit_id = record.unit_id
    return (
        record.attempt,
        record.origin,
        record.stage,
        vault.put_notes(record.errors, place=f"errors:{unit_id}"),
        vault.put_notes(record.warnings, place=f"warnings:{unit_id}"),
        vault.put_notes(record.coercions, place=f"coercions:{unit_id}"),
        vault.put_text(record.raw, place=f"raw:{unit_id}"),
        _text_digest(record.raw),
        vault.put_object(record.output, place=f"output:{unit_id}"),
        record.ruleset_digest,
        record.schema_digest,
        record.code_version,
        _now(),
        unit_id,
        record.step,
        record.round,
    )


def read_attempt(row: Row, *, vault: Vault) -> AttemptRecord:
    """Return an attempt from the first 14 columns of `queries.CURRENT` or `queries.HISTORY`."""
    unit_id = str(row[0])
    step, round_number, attempt, origin, stage, errors, warnings, *rest = row[1:]
    coercions, raw, output, ruleset_digest, schema_digest, code_version = rest[:6]
    return AttemptRecord(
        unit_id=unit_id,
        step=str(step),
        round=integer(round_number),
        attempt=integer(attempt),
        origin=Origin(str(origin)),
        stage=optional_text(stage),
        errors=vault.take_notes(errors, place=f"errors:{unit_id}"),
        warnings=vault.take_notes(warnings, place=f"warnings:{unit_id}"),
        coercions=vault.take_notes(coercions, place=f"coercions:{unit_id}"),
        raw=vault.take_text(raw, place=f"raw:{unit_id}"),
        output=vault.take_object(output, place=f"output:{unit_id}"),
        ruleset_digest=str(ruleset_digest),
        schema_digest=str(schema_digest),
        code_version=str(code_version),
    )


def read_current(row: Row, *, vault: Vault) -> CurrentRow:
    """Return a last attempt from the columns of `queries.CURRENT`."""
    recorded_at, attempts, newest, provider_failures, other_failures = row[14:]
    return CurrentRow(
        record=read_attempt(row, vault=vault),
        attempts=integer(attempts),
        newest_attempt=integer(newest),
        provider_failures=integer(provider_failures),
        other_failures=integer(other_failures),
        recorded_at=str(recorded_at),
    )


def context_digest(content: bytes) -> str:
    """Return the digest under which a step's input is known."""
    return keyed_digest(content.decode("utf-8", "backslashreplace"), length=_DIGEST_LENGTH)


def _text_digest(text: str | None) -> str | None:
    return None if text is None else keyed_digest(text, length=_DIGEST_LENGTH)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def integer(value: Value) -> int:
    """Return a column that holds a whole number; nothing counts as 0."""
    return int(value or 0)


def optional_text(value: Value) -> str | None:
    """Return a column that may be empty."""
    return None if value is None else str(value)
