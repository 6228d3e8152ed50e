"""Assess every unit of a dataset, so that a run can be stopped anywhere and gone on with."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ai_psychiatrist.assessment.pipeline import AssessmentPipeline
from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.failures import FailureCategory, FailureStage
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.runs.assessment_check import broken_rules
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP, stage_of_unit
from ai_psychiatrist.evaluation.runs.unit_calls import open_unit
from ai_psychiatrist.evaluation.runs.unit_records import FinishedUnit, record_unit
from ai_psychiatrist.evaluation.scores.prediction import (
    FailureSummary,
    failed_prediction,
    prediction_of,
)
from ai_psychiatrist.infrastructure.worker_tasks import work_together
from ai_psychiatrist.ledger.ledger_writer import LedgerWriter
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.pipelines.unit_calls import UnitCalls
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

DEFAULT_CONCURRENCY: Final = 8

OnUnit = Callable[[FinishedUnit], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTools:
    """What a run works with."""

    dataset: Dataset
    ledger: Ledger
    pipeline: AssessmentPipeline
    limits: RetryLimits
    deadline_seconds: float | None = None
    """Of one assessment."""
    changes: int = 0
    """How many accepted changes of version, prompts or rules the run has seen."""


@dataclass(slots=True, kw_only=True)
class RunTally:
    """What a sitting has done so far."""

    finished: int = 0
    failed: int = 0
    paid_calls: int = 0
    """Model calls that were made; those found in the ledger are not among them."""
    hit_max_failures: bool = False


async def run_units(
    tools: RunTools,
    tally: RunTally,
    *,
    concurrency: int = DEFAULT_CONCURRENCY,
    max_failures: int | None = None,
    retries_failed: bool = False,
    on_unit: OnUnit = lambda _: None,
) -> None:
    """Assess the units that are still to be done, at most `concurrency` at a time.

    `max_failures`: no further unit is begun once more than so many have failed. `retries_failed`:
    failed units whose attempts are not used up are done anew. Cancelling stops the calls under way;
    what has finished is kept, and counted in `tally`. Errors of the ledger end the run.
    """
    queued = tools.ledger.queue(ASSESSMENT_STEP, tools.limits, includes_failed=retries_failed)
    writer = LedgerWriter(tools.ledger)
    worker = _Worker(tools, writer, tally, max_failures=max_failures, on_unit=on_unit)
    units = iter([unit.unit_id for unit in queued])
    try:
        await work_together(min(concurrency, len(queued)), partial(worker.work, units))
    finally:
        await writer.aclose()


class _Worker:
    def __init__(
        self,
        tools: RunTools,
        writer: LedgerWriter,
        tally: RunTally,
        *,
        max_failures: int | None,
        on_unit: OnUnit,
    ) -> None:
        self._tools = tools
        self._writer = writer
        self._max_failures = max_failures
        self._on_unit = on_unit
        self._tally = tally

    async def work(self, units: Iterator[str]) -> None:
        """Take units until there are none left, or too many have failed."""
        for unit_id in units:
            if self._tally.hit_max_failures:
                return
            await self._do(unit_id)

    async def _do(self, unit_id: str) -> None:
        tools, writer = self._tools, self._writer
        calls = await writer.between_writes(partial(open_unit, tools.ledger, unit_id, writer))
        unit = await self._assess(calls)
        unit = replace(unit, prediction=replace(unit.prediction, changes=tools.changes))
        await writer.write(partial(record_unit, tools.ledger, unit))
        self._count(unit, calls)

    async def _assess(self, calls: UnitCalls) -> FinishedUnit:
        try:
            transcript = await asyncio.to_thread(self._tools.dataset.transcript, calls.unit_id)
        except InputError:
            return _unreadable(calls)
        assessment = await self._tools.pipeline.assess(
            transcript,
            deadline_seconds=self._tools.deadline_seconds,
            store=calls,
        )
        prediction = prediction_of(assessment, calls.unit_id)
        stage = None
        if assessment.status is not AssessmentStatus.COMPLETE:
            stage = stage_of_unit(assessment.attempts)
        elif broken_rules(prediction):
            stage = FailureStage.PIPELINE_INTERNAL
        return FinishedUnit(
            prediction=prediction,
            attempt=calls.attempt,
            stage=stage,
            judgements=calls.judgements,
        )

    def _count(self, unit: FinishedUnit, calls: UnitCalls) -> None:
        tally = self._tally
        tally.finished += 1
        tally.failed += unit.stage is not None
        tally.paid_calls += calls.paid
        if self._max_failures is not None and tally.failed > self._max_failures:
            tally.hit_max_failures = True
        self._on_unit(unit)


def _unreadable(calls: UnitCalls) -> FinishedUnit:
    failure = FailureSummary(
        category=FailureCategory.TRANSCRIPT_UNREADABLE, stage="transcript", code=None
    )
    return FinishedUnit(
        prediction=failed_prediction(calls.unit_id, failure),
        attempt=calls.attempt,
        stage=FailureStage.PIPELINE_INTERNAL,
    )
