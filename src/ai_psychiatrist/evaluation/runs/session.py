"""Work on a run until it ends, however it does: units assessed, result files written."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ai_psychiatrist.evaluation.reading_list import ReadingList
from ai_psychiatrist.evaluation.runs.cost_file import RunCost, read_cost, write_cost
from ai_psychiatrist.evaluation.runs.results import (
    CarriedFailures,
    carried_failures,
    readings,
    write_results,
)
from ai_psychiatrist.evaluation.runs.run import (
    EvaluationOptions,
    OnUnit,
    RunTally,
    RunTools,
    assess_units,
)
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, read_json_file, write_json
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.store.run_records import StepCounts

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands."""

    paid_calls: int
    """Model calls that were made in this session."""
    counts: StepCounts
    """Of the units as wholes."""
    carried: CarriedFailures
    """Of the complete units."""
    unbalanced_steps: tuple[str, ...]
    """Steps of which a unit is in no place, or in two; empty unless something is broken."""
    unreadable: int
    """Units of the run that have no transcript that can be read."""
    not_read: Mapping[str, int]
    """What of the dataset is no unit although it may be an interview: code → count."""
    readings: ReadingList
    """Which interviews a person has to read for danger."""
    cost: RunCost | None = None
    """What was planned of the run and used, all sessions together."""
    has_reached_ceiling: bool = False
    """Whether units are left because the next could have cost more than may be spent."""
    notes: tuple[str, ...] = ()
    """What servers say of the models that answered, where it changed."""
    is_served_otherwise: bool = False
    """Whether that is why units are left."""
    waiting_calls: int = 0
    """Of batches whose results have not come."""


async def run_session(
    tools: RunTools,
    folder: RunFolder,
    options: EvaluationOptions,
    *,
    tally: RunTally,
    on_unit: OnUnit,
) -> RunState:
    """Assess what is still to be done and write the result files, which a stop leaves as well.

    `tally`: of this session, and of those of other runs that the bound on failures is for as well.
    """
    started_at, started = datetime.now(UTC), time.perf_counter()
    before = replace(tally)
    try:
        await assess_units(tools, options, tally, on_unit)
    finally:
        write_results(folder, tools.ledger)
        if tools.prices is not None:
            ceiling = None if tools.purse is None else tools.purse.ceiling
            write_cost(folder, tools.ledger, tools.prices, ceiling=ceiling)
        now = {
            "started_at": started_at.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - started, 3),
            "units": tally.finished - before.finished,
            "model_calls": tally.paid_calls - before.paid_calls,
        }
        _add_session(folder.timings, now)
    state = run_state(tools, folder, paid_calls=tally.paid_calls - before.paid_calls)
    logger.info(
        "run_finished",
        count=state.counts.requested,
        failures=state.counts.failed,
        model_calls=state.paid_calls,
        duration_ms=round((time.perf_counter() - started) * 1000, 3),
    )
    return state


def run_state(tools: RunTools, folder: RunFolder, *, paid_calls: int) -> RunState:
    """Return where a run stands; `paid_calls`: those that this session made."""
    by_step = tools.ledger.counts_by_step()
    unbalanced = tuple(step for step, counts in by_step.items() if not counts.balances)
    return RunState(
        paid_calls=paid_calls,
        counts=by_step[ASSESSMENT_STEP],
        cost=read_cost(folder),
        has_reached_ceiling=tools.purse is not None and tools.purse.has_refused,
        carried=carried_failures(tools.ledger),
        readings=readings(tools.ledger),
        notes=() if tools.served is None else tuple(tools.served.notes),
        is_served_otherwise=tools.is_served_otherwise,
        unbalanced_steps=unbalanced,
        unreadable=len(tools.dataset.unreadable.intersection(tools.ledger.units.ids())),
        not_read=tools.dataset.not_read,
    )


def _add_session(path: Path, session: Mapping[str, object]) -> None:
    sessions = (read_json_file(path, missing="") if path.exists() else {}).get("sessions")
    write_json(path, {"sessions": [*(sessions if isinstance(sessions, list) else []), session]})
