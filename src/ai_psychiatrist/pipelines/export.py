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
from ai_psychiatrist.store.run_records import CurrentRow, QueuedUnit
from ai_psychiatrist.validation.config.given_file import MOST_BYTES

_CLASSIC_STAGES: Final = (FailureStage.SCHEMA_VALIDATION, FailureStage.VALIDATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExport:
    """How many units of a step were written."""

    step: str
    valid: int
    failed: int
    queued: int
    """Units that are still to be asked for."""


def export_run(
    run: PipelineRun,
    out: Path,
    *,
    steps: Sequence[str],
    has_classic_stages: bool = False,
    retries_failed: bool = False,
) -> list[StepExport]:
    """Write valid units, failures, the queue and the schemas of the steps into a folder.

    `has_classic_stages`: call every failure other than of schema and rules `pipeline_internal`.
    `retries_failed`: queue failed units that may be tried again beside those never asked. The files
    are whole or not there, and readable by the owner alone: they hold raw text. Raises `InputError`
    when they cannot be written.
    """
    with writing_to(out, field="--out"):
        make_folder(out)
        return [
            _export_step(
                run, out, step, is_classic=has_classic_stages, retries_failed=retries_failed
            )
            for step in steps
        ]


def _export_step(
    run: PipelineRun, out: Path, step: str, *, is_classic: bool, retries_failed: bool
) -> StepExport:
    # Before a file is named after it.
    run.store.units.require_step(step)
    counts = Counter[bool]()
    with (
        draft_of(out / f"{step}_validated.jsonl") as valid_lines,
        draft_of(out / f"{step}_failures.jsonl") as failure_lines,
    ):
        for row in run.store.current(step):
            counts[row.is_valid] += 1
            if row.is_valid:
                valid_lines.write(_line(_valid(row)))
            else:
                failure_lines.write(_line(_failure(row, run, is_classic=is_classic)))
    schema = run.config.schemas.get(step if run.is_in_order else step_of_agent(step))
    if schema is not None:
        make_subfolder(out / "schemas")
        content = read_regular(schema, most_bytes=MOST_BYTES)
        write_whole(out / "schemas" / f"{step}.json", [content])
    queue = run.store.queue(step, run.config.retry, includes_failed=retries_failed)
    write_whole(out / f"{step}_queue.jsonl", (_line(_queued(unit, run, step)) for unit in queue))
    return StepExport(step=step, valid=counts[True], failed=counts[False], queued=len(queue))


def _queued(unit: QueuedUnit, run: PipelineRun, step: str) -> dict[str, object]:
    row = run.store.last(unit.unit_id, step, round=unit.round)
    return {
        "unit_id": unit.unit_id,
        "input": _context(run, unit.unit_id, step),
        "retry_count": 0 if row is None else row.failures,
    }


def _valid(row: CurrentRow) -> dict[str, object]:
    record = row.record
    about = {"round": record.round, "attempt": record.attempt, "origin": record.origin}
    return {**(record.output or {}), "unit_id": record.unit_id, "_metadata": about}


def _failure(row: CurrentRow, run: PipelineRun, *, is_classic: bool) -> dict[str, object]:
    record = row.record
    is_internal = is_classic and record.stage not in _CLASSIC_STAGES
    return {
        "unit_id": record.unit_id,
        "failure_stage": FailureStage.PIPELINE_INTERNAL if is_internal else record.stage,
        "input": _context(run, record.unit_id, record.step),
        "raw_response": record.raw,
        "errors": record.errors,
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
