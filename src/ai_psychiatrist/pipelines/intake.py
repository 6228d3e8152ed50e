"""Take answers and outcomes of other programs into a run, each as the next attempt of its unit."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ai_psychiatrist.domain.errors import InputError, OutputRejected
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.infrastructure.given_files import open_regular, reason_of
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun, StepChecks
from ai_psychiatrist.pipelines.run_folder import write_context
from ai_psychiatrist.store.run_records import AttemptRecord, CurrentRow, Origin
from ai_psychiatrist.validation.checks.host_fields import (
    METADATA,
    RAW_TEXT,
    RETRY_COUNT,
    SET_ASIDE,
    UNIT_ID,
)
from ai_psychiatrist.validation.checks.step_validator import DEFAULT_LIMITS
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.jsonl.lines import Line, read_lines
from ai_psychiatrist.validation.jsonl.unit import Unit, unit_id_of
from ai_psychiatrist.validation.reply.parse import parse_line

_NOT_ASKED: Final = "not_asked"
"""Rule of a failure whose unit the context does not ask for."""
_STAGE: Final = "failure_stage"
_MOST_RETRIES: Final = 1000
_UNKNOWN: Final = {"path": "$", "pointer": "", "rule": "untold", "message": "untold"}
_PROBLEMS: Final = {
    "unit_id": f"has no {UNIT_ID!r} that is a text or a whole number",
    "stage": f"has an unknown {_STAGE!r}; there are {', '.join(FailureStage)}",
    "context": "has an 'input' that is no object",
    "retry_count": f"has a {RETRY_COUNT!r} that is no number from 0 to {_MOST_RETRIES}",
    "errors": "has 'errors' that are no list of objects",
    "raw": f"has a {RAW_TEXT!r} that is no text",
}


@dataclass(slots=True, kw_only=True)
class Intake:
    """Takes what came for one step; the caller holds the run's lock and a transaction."""

    run: PipelineRun
    step: str
    checks: StepChecks
    recorded: int = 0
    """Attempts that were added."""
    known: int = 0
    """What a unit has already; nothing was added."""
    exhausted: int = 0
    """Answers for units whose attempts are used up; nothing was added."""

    def take(self, unit: Unit) -> None:
        """Add an attempt for a validated line, unless its unit is finished or was not asked for.

        A valid unit keeps its answer, and another one for it is kept as a duplicate. A unit whose
        attempts are used up stays as it is. Raises `InputError` when the unit was asked with
        another input before.
        """
        unit_id, raw, verdict = unit.key, unit.raw_response, unit.verdict
        if unit_id is None or any(error.rule == _NOT_ASKED for error in verdict.errors):
            return
        row = self.run.store.last(unit_id, self.step)
        if row is not None and row.is_exhausted(self.run.config.retry):
            self.exhausted += 1
            return
        if row is not None and row.is_valid:
            if raw is None or raw == row.record.raw:
                self.known += 1
                return
            verdict = Verdict(
                value=verdict.value, stage=FailureStage.DUPLICATE, errors=verdict.errors
            )
        has_answer = verdict.stage not in {FailureStage.PROVIDER, FailureStage.MISSING}
        attempt = self._next(unit_id, row, Origin.VALIDATE, raw if has_answer else None)
        self._add(self.checks.judged(attempt, verdict), unit.given)

    def take_outcomes(self, path: Path) -> None:
        """Add every record of a file, each as the last attempt of its unit.

        The retries that a record counts become attempts without an answer, so that they stay
        counted. Failures keep their stage; valid units are judged by the run's rules, with what
        its earlier steps know of them. Raises `InputError` naming the line when one cannot be used.
        """
        for line in read_outcomes(path):
            row = self.run.store.last(line.unit_id, self.step)
            record = self._next(line.unit_id, row, Origin.IMPORT, line.raw)
            if line.stage is None:
                context = write_context(self.run.before(line.unit_id, self.step))
                verdict = self.checks.check(line.unit_id, line.raw or "", context)
                record = self.checks.judged(record, verdict)
            else:
                # It was judged by another program, under rules that are not known here.
                errors = [{**_UNKNOWN, **error} for error in line.errors or ()]
                record = replace(record, stage=line.stage, errors=errors)
            is_same = row is not None and (row.record.stage, row.record.raw) == (
                record.stage,
                record.raw,
            )
            if row is not None and (row.is_valid or is_same):
                self.known += 1
                continue
            counted = 0 if row is None else row.failures
            self._add(record, line.context, earlier=max(line.retry_count - counted, 0))

    def _next(
        self, unit_id: str, row: CurrentRow | None, origin: Origin, raw: str | None
    ) -> AttemptRecord:
        number = 1 if row is None else row.newest_attempt + 1
        return AttemptRecord(
            unit_id=unit_id, step=self.step, attempt=number, origin=origin, raw=raw
        )

    def _add(
        self, record: AttemptRecord, context: Mapping[str, object] | None, *, earlier: int = 0
    ) -> None:
        """Ask for a unit with its input, record its attempts, and ask for its next step.

        `earlier`: how many attempts without an answer come before.
        """
        unit_id, store = record.unit_id, self.run.store
        # Units of a pipeline have an input at each step and none of their own.
        store.units.add(unit_id, context_digest="")
        content = write_context(context)
        if content is not None:
            store.units.add_input(unit_id, self.step, content)
        store.request(unit_id, self.step)
        blank = replace(record, errors=(), warnings=(), coercions=(), raw=None, output=None)
        attempts = [*[blank] * earlier, record]
        self.run.record(
            [replace(one, attempt=record.attempt + number) for number, one in enumerate(attempts)]
        )
        self.recorded += 1


class ImportedLine(BaseModel):
    """One record of an outcome; read in the order of its fields."""

    model_config = ConfigDict(strict=True, frozen=True, hide_input_in_errors=True)

    unit_id: str
    stage: FailureStage | None = Field(default=None, strict=False)
    """`None` for a valid unit, whose answer is judged by the rules of the run."""
    context: dict[str, object] | None = Field(default=None, repr=False)
    retry_count: int = Field(default=0, ge=0, le=_MOST_RETRIES)
    errors: list[dict[str, object]] | None = Field(default=None, repr=False)
    raw: str | None = Field(repr=False)


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


def _record(line: Line) -> ImportedLine:
    if line.content is None:
        raise _unusable(line, "is too long")
    try:
        value = parse_line(line.content, DEFAULT_LIMITS).value
    except OutputRejected as rejection:
        raise _unusable(line, f"is no JSON object ({rejection.code.value})") from None
    unit_id = unit_id_of(value)
    found: dict[str, object] = {"unit_id": None if unit_id is None else str(unit_id)}
    if _STAGE in value:
        raw = value.get("raw_response")
        found |= {
            # There is no failure without a stage.
            "stage": value[_STAGE] or "",
            "context": value.get("input"),
            "retry_count": value.get(RETRY_COUNT, 0),
            "errors": value.get("errors"),
            # Other programs keep some answers parsed.
            "raw": raw if raw is None or isinstance(raw, str) else _JSON.encode(raw),
        }
    else:
        raw = value.get(RAW_TEXT, line.content.decode("utf-8"))
        found["raw"] = False if raw is None else raw
        about = value.get(METADATA)
        answered = about.get("answered") if isinstance(about, dict) else None
        if isinstance(answered, list) and RAW_TEXT not in value:
            # The other fields are what the step was asked about.
            names = [name for name in answered if isinstance(name, str)]
            own = {name: value[name] for name in names if name in value}
            rest = value.keys() - own.keys() - SET_ASIDE
            found["raw"] = _JSON.encode(own)
            found["context"] = {name: value[name] for name in value if name in rest}
    try:
        return ImportedLine.model_validate(found)
    except ValidationError as error:
        raise _unusable(line, _PROBLEMS[str(error.errors()[0]["loc"][0])]) from None


_JSON: Final = json.JSONEncoder(ensure_ascii=False)


def _unusable(line: Line, problem: str) -> InputError:
    return InputError(f"line {line.number} {problem}; nothing was imported", field="FILE")
