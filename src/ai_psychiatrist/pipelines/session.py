"""One sitting at a run: from its opened ledger to its result files, however it ends."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.ledger.recheck.accumulated_context import AccumulatedContexts
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.pipelines.results import RunAccount, write_results
from ai_psychiatrist.pipelines.run import OnUnit, SittingOptions, Stop, run_steps
from ai_psychiatrist.pipelines.step_turn import RunnableStep
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingEnd:
    """Where a run stands after a sitting."""

    account: RunAccount
    stop: Stop
    not_run: Sequence[str]
    """What of the pipeline is left out."""


async def sit(
    ledger: Ledger,
    config: PipelineConfig,
    steps: Sequence[RunnableStep],
    options: SittingOptions,
    *,
    not_run: Sequence[str],
    on_unit: OnUnit,
) -> SittingEnd:
    """Do what is still to be done and write the result files, which a stop leaves as well."""
    started = time.perf_counter()
    try:
        stop = await run_steps(
            AccumulatedContexts.of(ledger, config), steps, options, on_unit=on_unit
        )
    finally:
        account = write_results(ledger, config, not_run=not_run)
    logger.info(
        "run_finished",
        count=account.units.requested,
        failures=account.units.failed,
        model_calls=account.model_calls,
        duration_ms=round((time.perf_counter() - started) * 1000, 3),
    )
    return SittingEnd(account=account, stop=stop, not_run=not_run)
