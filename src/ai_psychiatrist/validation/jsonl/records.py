"""Write what became of a unit as lines: the valid unit, the failure, the coercions."""

import json
from collections.abc import Iterator

import orjson

from ai_psychiatrist.validation.checks.host_fields import METADATA, SET_ASIDE, UNIT_ID
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.jsonl.unit import UnitOutcome


def valid_line(outcome: UnitOutcome) -> bytes:
    """Return the coerced answer between the unit's id and the other fields of its host."""
    unit = outcome.unit
    if unit.written is not None and outcome.verdict.value is unit.answer:
        return unit.written + b"\n"
    answer = outcome.verdict.value or {}
    written = dict(answer) if unit.unit_id is None else {UNIT_ID: unit.unit_id, **answer}
    if unit.host:
        written |= {name: value for name, value in unit.host.items() if name not in SET_ASIDE}
        written |= {METADATA: unit.host[METADATA]} if METADATA in unit.host else {}
    return _line(written)


def failure_line(outcome: UnitOutcome) -> bytes:
    """Return the record of a failed unit."""
    unit, verdict = outcome.unit, outcome.verdict
    return _line(
        {
            UNIT_ID: unit.unit_id,
            "failure_stage": verdict.stage,
            "input": unit.context,
            "raw_response": unit.raw_response,
            "errors": [error.note for error in verdict.errors],
            "retry_count": unit.retry_count,
            "line": unit.number,
        }
    )


def following_line(outcome: UnitOutcome, validator: StepValidator) -> bytes:
    """Return what the next step is asked about for a valid unit."""
    known = validator.accumulated(outcome.unit.context or {}, outcome.verdict.value or {})
    return _line({UNIT_ID: outcome.unit.unit_id, **known})


def coercion_lines(outcome: UnitOutcome) -> Iterator[bytes]:
    """Yield one line for each value that was read from another type or spelling."""
    unit_id = json.dumps(outcome.unit.unit_id)
    for coercion in outcome.verdict.coercions:
        yield f"{unit_id} {coercion.line}\n".encode("utf-8", "backslashreplace")


def _line(value: dict[str, object]) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        # Whole numbers beyond 64 bits, and half characters, which come out as \u escapes.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return f"{text}\n".encode("utf-8", "backslashreplace")
