"""Read lines of another program, or of an export, into a run."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError, OutputRejected
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.infrastructure.given_files import open_regular, reason_of
from ai_psychiatrist.ledger.exchange.answer_intake import add_attempts
from ai_psychiatrist.ledger.recheck.checker import PipelineChecker, judged
from ai_psychiatrist.ledger.store.contexts import write_context
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.ledger.store.records import AttemptRecord, Origin
from ai_psychiatrist.validation.checks.host_fields import RAW_TEXT, RETRY_COUNT, UNIT_ID
from ai_psychiatrist.validation.checks.step_validator import DEFAULT_LIMITS
from ai_psychiatrist.validation.jsonl.lines import Line, read_lines
from ai_psychiatrist.validation.jsonl.options import Earlier
from ai_psychiatrist.validation.reply.parse import parse_line

_STAGE: Final = "failure_stage"
_MOST_RETRIES: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLine:
    """One record of an outcome."""

    unit_id: str
    stage: FailureStage | None
    """`None` for a valid unit, whose answer is judged by the rules of the run."""
    raw: str | None = field(repr=False)
    context: Mapping[str, object] | None = field(repr=False)
    errors: tuple[dict[str, object], ...] = field(default=(), repr=False)
    retry_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCounts:
    """What an import came to."""

    imported: int
    known: int
    """Records that the run holds already."""


def refuse_unusable_lines(path: Path) -> None:
    """Raise `InputError` naming the first line that cannot be imported."""
    for _ in read_outcomes(path):
        pass


def read_outcomes(path: Path) -> Iterator[ImportedLine]:
    """Yield the records of a file of failures or of valid units.

    Raises `InputError` naming the line for one that cannot be used.
    """
    try:
        with open_regular(path) as stream:
            for line in read_lines(stream):
                if line.content is None or line.content.strip():
                    yield _record(line)
    except OSError as error:
        msg = f"the file cannot be read: {reason_of(error)}"
        raise InputError(msg, field="FILE") from None


def import_into(
    ledger: Ledger,
    path: Path,
    *,
    checker: PipelineChecker,
    next_step: str | None = None,
    earlier: Earlier | None = None,
) -> ImportCounts:
    """Add every record of a file in one transaction, each as the last attempt of its unit.

    The retries that a record counts become attempts without an answer, so that they stay counted.
    Valid units are asked for `next_step`, and judged with what `earlier` knows of them. Raises
    `InputError` naming the line, and adds nothing, when one cannot be used. The caller holds the
    run's lock.
    """
    counts = {True: 0, False: 0}
    with ledger.transaction():
        for line in read_outcomes(path):
            known = None if earlier is None else earlier(line.unit_id)
            counts[_add(ledger, line, checker, next_step, known)] += 1
    return ImportCounts(imported=counts[True], known=counts[False])


def _add(
    ledger: Ledger,
    line: ImportedLine,
    checker: PipelineChecker,
    next_step: str | None,
    known: Mapping[str, object] | None,
) -> bool:
    """Add a record and return whether it is new; a valid unit keeps what it has."""
    step = checker.validator.name
    row = ledger.last(line.unit_id, step)
    first = 1 if row is None else row.newest_attempt + 1
    counted = 0 if row is None else row.provider_failures + row.other_failures
    earlier = max(line.retry_count - counted, 0)
    record = _attempt(line, checker, first + earlier, known)
    if row is not None:
        is_same = (row.record.stage, row.record.raw) == (record.stage, record.raw)
        if row.is_valid or is_same:
            return False
    blank = replace(record, errors=(), warnings=(), coercions=(), raw=None, output=None)
    fillers = [replace(blank, attempt=first + number) for number in range(earlier)]
    add_attempts(ledger, line.context, [*fillers, record], next_step=next_step)
    return True


def _attempt(
    line: ImportedLine, checker: PipelineChecker, number: int, known: Mapping[str, object] | None
) -> AttemptRecord:
    attempt = AttemptRecord(
        unit_id=line.unit_id,
        step=checker.validator.name,
        attempt=number,
        origin=Origin.IMPORT,
        stage=line.stage,
        errors=line.errors,
        raw=line.raw,
    )
    if line.stage is not None:
        # Another program judged it, under rules that are not known here.
        return attempt
    verdict = checker.check(line.unit_id, line.raw or "", write_context(known))
    return judged(attempt, verdict, checker)


def _record(line: Line) -> ImportedLine:
    if line.content is None:
        raise _unusable(line, "is too long")
    try:
        value = parse_line(line.content, DEFAULT_LIMITS).value
    except OutputRejected as rejection:
        raise _unusable(line, f"is no JSON object ({rejection.code.value})") from None
    unit_id = value.get(UNIT_ID)
    if isinstance(unit_id, bool) or not isinstance(unit_id, str | int) or unit_id == "":
        raise _unusable(line, f"has no {UNIT_ID!r} that is a text or a whole number")
    if _STAGE in value:
        return _failure(line, str(unit_id), value)
    raw = value.get(RAW_TEXT, line.content.decode("utf-8"))
    if not isinstance(raw, str):
        raise _unusable(line, f"has a {RAW_TEXT!r} that is no text")
    return ImportedLine(unit_id=str(unit_id), stage=None, raw=raw, context=None)


def _failure(line: Line, unit_id: str, value: Mapping[str, object]) -> ImportedLine:
    try:
        stage = FailureStage(str(value[_STAGE]))
    except ValueError:
        known = ", ".join(FailureStage)
        raise _unusable(line, f"has an unknown {_STAGE!r}; there are {known}") from None
    context = value.get("input")
    if context is not None and not isinstance(context, dict):
        raise _unusable(line, "has an 'input' that is no object")
    retries = value.get(RETRY_COUNT, 0)
    if type(retries) is not int or not 0 <= retries <= _MOST_RETRIES:
        raise _unusable(line, f"has a {RETRY_COUNT!r} that is no number from 0 to {_MOST_RETRIES}")
    return ImportedLine(
        unit_id=unit_id,
        stage=stage,
        raw=_as_text(value.get("raw_response")),
        context=context,
        errors=_errors(line, value.get("errors")),
        retry_count=retries,
    )


def _as_text(raw: object) -> str | None:
    """Return an answer as text; other programs keep some of them parsed."""
    if raw is None or isinstance(raw, str):
        return raw
    return json.dumps(raw, ensure_ascii=False)


def _errors(line: Line, errors: object) -> tuple[dict[str, object], ...]:
    if errors is None:
        return ()
    if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        raise _unusable(line, "has 'errors' that are no list of objects")
    return tuple({**_UNTOLD, **error} for error in errors)


_UNTOLD: Final = {"path": "$", "pointer": "", "rule": "untold", "message": "untold"}


def _unusable(line: Line, problem: str) -> InputError:
    return InputError(f"line {line.number} {problem}; nothing was imported", field="FILE")
