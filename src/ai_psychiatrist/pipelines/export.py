"""Write a run's outcomes as lines for other programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.infrastructure.private_files import (
    draft_of,
    make_folder,
    make_subfolder,
    write_whole,
    writing_to,
)
from ai_psychiatrist.pipelines.contexts import ContextOf
from ai_psychiatrist.store.run_records import CurrentRow
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

_CLASSIC_STAGES: Final = frozenset({FailureStage.SCHEMA_VALIDATION, FailureStage.VALIDATION})


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExport:
    """How many units of a step were written."""

    step: str
    valid: int
    failed: int
    queued: int
    """Units that are still to be asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportChoices:
    """How outcomes are written."""

    limits: RetryLimits = field(default_factory=RetryLimits)
    """The run's bounds on attempts."""
    schemas: Mapping[str, bytes] = field(default_factory=dict)
    """Step → its schema as it was."""
    has_classic_stages: bool = False
    """Whether every failure other than of schema and rules is called `pipeline_internal`."""
    context_of: ContextOf | None = None
    """What steps were asked about, where that is more than the run keeps for them."""
    retries_failed: bool = False
    """Whether failed units that may be tried again are queued beside those never asked."""


def export_run(
    ledger: RunStore, out: Path, *, steps: Sequence[str], choices: ExportChoices
) -> list[StepExport]:
    """Write valid units, failures, the queue and the schemas of the steps into a folder.

    The files are whole or not there, and readable by the owner alone: they hold raw text. Raises
    `InputError` when they cannot be written.
    """
    with writing_to(out, field="--out"):
        make_folder(out)
        return [_export_step(ledger, out, step, choices) for step in steps]


def _export_step(ledger: RunStore, out: Path, step: str, choices: ExportChoices) -> StepExport:
    valid = failed = 0
    # Before a file is named after it.
    ledger.units.require_step(step)
    with (
        draft_of(out / f"{step}_validated.jsonl") as valid_lines,
        draft_of(out / f"{step}_failures.jsonl") as failure_lines,
    ):
        for row in ledger.current(step):
            if row.is_valid:
                valid_lines.write(_line(_valid(row)))
                valid += 1
            else:
                failure_lines.write(_line(_failure(row, ledger, choices)))
                failed += 1
    if step in choices.schemas:
        make_subfolder(out / "schemas")
        write_whole(out / "schemas" / f"{step}.json", [choices.schemas[step]])
    queued = _export_queue(ledger, out, step, choices)
    return StepExport(step=step, valid=valid, failed=failed, queued=queued)


def _export_queue(ledger: RunStore, out: Path, step: str, choices: ExportChoices) -> int:
    queue = ledger.queue(step, choices.limits, includes_failed=choices.retries_failed)
    with draft_of(out / f"{step}_queue.jsonl") as lines:
        for unit_id, number in queue:
            row = ledger.last(unit_id, step, round=number)
            asked: dict[str, object] = {
                "unit_id": unit_id,
                "input": _context(ledger, choices, unit_id, step),
                "retry_count": 0 if row is None else row.provider_failures + row.other_failures,
            }
            lines.write(_line(asked))
    return len(queue)


def _valid(row: CurrentRow) -> dict[str, object]:
    record = row.record
    about = {"round": record.round, "attempt": record.attempt, "origin": record.origin}
    return {**(record.output or {}), "unit_id": record.unit_id, "_metadata": about}


def _failure(row: CurrentRow, ledger: RunStore, choices: ExportChoices) -> dict[str, object]:
    record = row.record
    failures = row.provider_failures + row.other_failures
    is_hidden = choices.has_classic_stages and record.stage not in _CLASSIC_STAGES
    return {
        "unit_id": record.unit_id,
        "failure_stage": FailureStage.PIPELINE_INTERNAL if is_hidden else record.stage,
        "input": _context(ledger, choices, record.unit_id, record.step),
        "raw_response": record.raw,
        "errors": record.errors,
        "retry_count": max(failures - 1, 0),
        "attempts": row.attempts,
        "exhausted": row.is_exhausted(choices.limits),
        "round": record.round,
    }


def _context(ledger: RunStore, choices: ExportChoices, unit_id: str, step: str) -> object:
    """Return what a step was asked about: an object where it is one, else the text."""
    content = (choices.context_of or ledger.units.step_context)(unit_id, step)
    if content is None:
        return None
    text = content.decode("utf-8", "surrogateescape")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _line(value: Mapping[str, object]) -> bytes:
    """Return one line; halves of characters become escapes, so that it is UTF-8 always."""
    ordered = {"unit_id": value["unit_id"], **value}
    text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"
