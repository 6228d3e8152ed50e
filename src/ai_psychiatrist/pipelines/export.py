"""Write a run's outcomes as lines for other programs."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.contracts.contract import step_of_agent
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.infrastructure.given_files import read_regular
from ai_psychiatrist.infrastructure.private_files import (
    draft_of,
    make_folder,
    make_subfolder,
    write_whole,
    writing_to,
)
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun
from ai_psychiatrist.pipelines.run_folder import read_context
from ai_psychiatrist.store.run_records import CurrentRow, QueuedUnit, StepUsage
from ai_psychiatrist.validation.config.document import MOST_BYTES

_CLASSIC_STAGES: Final = (FailureStage.SCHEMA_VALIDATION, FailureStage.VALIDATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExport:
    """What was written of a step."""

    queued: int
    """Units that are still to be asked for."""
    warnings: Mapping[str, int]
    """Rule → how many units it warns of."""
    coercions: int
    """Values that were read from another type or spelling."""


def export_run(
    run: PipelineRun,
    out: Path,
    *,
    steps: Sequence[str],
    has_classic_stages: bool = False,
    retries_failed: bool = False,
) -> dict[str, StepExport]:
    """Write valid units, failures, the queue and the schema of each step into a folder.

    `has_classic_stages`: call every failure other than of schema and rules `pipeline_internal`.
    `retries_failed`: queue failed units that may be tried again beside those never asked. The files
    are whole or not there, and readable by the owner alone: they hold raw text. Raises `InputError`
    when they cannot be written.
    """
    # One for all that is read of each unit: beginning one costs more than a query.
    with writing_to(out, field="--out"), run.store.rows.transaction(writes=False):
        make_folder(out)
        return {
            step: _export_step(
                run, out, step, is_classic=has_classic_stages, retries_failed=retries_failed
            )
            for step in steps
        }


def _export_step(
    run: PipelineRun, out: Path, step: str, *, is_classic: bool, retries_failed: bool
) -> StepExport:
    # Before a file is named after it.
    run.store.units.require_step(step)
    warnings, coercions = Counter[str](), 0
    usage = run.store.calls.usage_by_unit(step)
    with (
        draft_of(out / f"{step}_validated.jsonl") as valid_lines,
        draft_of(out / f"{step}_failures.jsonl") as failure_lines,
    ):
        for row in run.store.current(step):
            warnings.update(str(warning.get("rule")) for warning in row.record.warnings)
            coercions += len(row.record.coercions)
            if row.is_valid:
                valid_lines.write(_line(_valid(row, run, usage.get(row.record.unit_id))))
            else:
                failure_lines.write(_line(_failure(row, run, is_classic=is_classic)))
    schema = run.config.schemas.get(step if run.is_in_order else step_of_agent(step))
    if schema is not None:
        make_subfolder(out / "schemas")
        content = read_regular(schema, most_bytes=MOST_BYTES)
        write_whole(out / "schemas" / f"{step}.json", [content])
    queue = run.store.queue(step, run.config.retry, includes_failed=retries_failed)
    write_whole(out / f"{step}_queue.jsonl", (_line(_queued(unit, run, step)) for unit in queue))
    return StepExport(
        queued=len(queue),
        warnings=dict(sorted(warnings.items())),
        coercions=coercions,
    )


def _queued(unit: QueuedUnit, run: PipelineRun, step: str) -> dict[str, object]:
    row = run.store.last(unit.unit_id, step, round=unit.round)
    return {
        "unit_id": unit.unit_id,
        "input": _context(run, unit.unit_id, step),
        "retry_count": 0 if row is None else row.failures,
    }


def _valid(row: CurrentRow, run: PipelineRun, usage: StepUsage | None) -> dict[str, object]:
    """Return a valid unit: what its step was asked about, over it what it answered, and how."""
    record, answer = row.record, row.record.output or {}
    about: dict[str, object] = {
        "round": record.round,
        "attempt": record.attempt,
        "origin": record.origin,
        "recorded_at": row.recorded_at,
    }
    if usage is not None:
        about |= usage._asdict()
    known: Mapping[str, object] = answer
    if run.is_in_order:
        # The other fields come from the unit's input and from earlier steps.
        about["answered"] = [*answer]
        given = read_context(run.context(record.unit_id, record.step)) or {}
        known = {**given, **answer, **{name: given[name] for name in run.protected & given.keys()}}
    for what, notes in (("warnings", record.warnings), ("coercions", record.coercions)):
        if notes:
            about[what] = notes
    return {**known, "unit_id": record.unit_id, "_metadata": about}


def _failure(row: CurrentRow, run: PipelineRun, *, is_classic: bool) -> dict[str, object]:
    record = row.record
    is_internal = is_classic and record.stage not in _CLASSIC_STAGES
    return {
        "unit_id": record.unit_id,
        "failure_stage": FailureStage.PIPELINE_INTERNAL if is_internal else record.stage,
        "input": _context(run, record.unit_id, record.step),
        "raw_response": record.raw,
        "errors": record.errors,
        "warnings": record.warnings,
        "coercions": record.coercions,
        "retry_count": max(row.failures - 1, 0),
        "attempts": row.attempts,
        "exhausted": row.is_exhausted(run.config.retry),
        "round": record.round,
    }


def _context(run: PipelineRun, unit_id: str, step: str) -> object:
    """Return what a step was asked about: an object where it is one, else the text."""
    content = run.context(unit_id, step)
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
