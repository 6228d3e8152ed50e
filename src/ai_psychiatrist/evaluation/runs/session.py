"""One sitting at a run: from its opening to its result files, however it ends."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ai_psychiatrist.evaluation.runs.folder import RunFolder, read_json, write_json
from ai_psychiatrist.evaluation.runs.results import CarriedFailures, carried_failures, write_results
from ai_psychiatrist.evaluation.runs.run import OnUnit, RunTally, RunTools, run_units
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.ledger.store.records import Account

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingOptions:
    """How much is done at once, and when to stop."""

    concurrency: int
    max_failures: int | None = None
    retries_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingEnd:
    """Where the run stands after a sitting."""

    tally: RunTally
    account: Account
    """Of the units as wholes."""
    carried: CarriedFailures
    """Of the complete units."""
    unbalanced_steps: tuple[str, ...]
    """Steps of which a unit is in no place, or in two; empty unless something is broken."""
    unreadable: int
    """Units of the run that have no transcript that can be read."""
    not_read: Mapping[str, int]
    """What of the dataset is no unit although it may be an interview: code → count."""


async def sit(
    tools: RunTools, folder: RunFolder, options: SittingOptions, *, on_unit: OnUnit
) -> SittingEnd:
    """Assess what is still to be done and write the result files, which a stop leaves as well."""
    started_at, started = datetime.now(UTC), time.perf_counter()
    tally = RunTally()
    try:
        await run_units(
            tools,
            tally,
            concurrency=options.concurrency,
            max_failures=options.max_failures,
            retries_failed=options.retries_failed,
            on_unit=on_unit,
        )
    finally:
        write_results(folder, tools.ledger)
        _note_timing(folder.timings, started_at, time.perf_counter() - started, tally)
    accounts = tools.ledger.accounts()
    unbalanced = tuple(step for step, account in accounts.items() if not account.balances)
    account = accounts[ASSESSMENT_STEP]
    logger.info(
        "run_finished",
        count=account.requested,
        failures=account.failed,
        model_calls=tally.paid_calls,
        duration_ms=round((time.perf_counter() - started) * 1000, 3),
    )
    return SittingEnd(
        tally=tally,
        account=account,
        carried=carried_failures(tools.ledger),
        unbalanced_steps=unbalanced,
        unreadable=len(tools.dataset.unreadable.intersection(tools.ledger.unit_ids())),
        not_read=tools.dataset.not_read,
    )


def _note_timing(path: Path, started_at: datetime, seconds: float, tally: RunTally) -> None:
    before = read_json(path, missing="") if path.exists() else {}
    sittings = before.get("sittings")
    now = {
        "started_at": started_at.isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "units": tally.finished,
        "model_calls": tally.paid_calls,
    }
    write_json(path, {"sittings": [*(sittings if isinstance(sittings, list) else []), now]})
