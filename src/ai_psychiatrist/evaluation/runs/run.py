"""Assess every unit of a dataset, so that a run can be stopped anywhere and gone on with."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, partial

from ai_psychiatrist.assessment.assessor import AssessmentOptions, Assessor
from ai_psychiatrist.assessment.parts import FULL, Part
from ai_psychiatrist.domain.assessment import AS_SET, Assessment, AssessmentStatus, WantedScoring
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.failures import FailureCategory, FailureStage
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetUnit
from ai_psychiatrist.evaluation.pricing.ceiling import PaidCalls, Purse
from ai_psychiatrist.evaluation.pricing.prices import GivenPrice
from ai_psychiatrist.evaluation.pricing.used import CallPrices
from ai_psychiatrist.evaluation.runs.served_models import ServedModels
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP, broken_rules, stage_of_unit
from ai_psychiatrist.evaluation.runs.unit_calls import UnitCalls, open_unit
from ai_psychiatrist.evaluation.runs.unit_records import FinishedUnit, record_unit
from ai_psychiatrist.evaluation.scores.prediction import (
    FailureSummary,
    failed_prediction,
    prediction_of,
)
from ai_psychiatrist.infrastructure.tasks import Pending, work_together
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

OnUnit = Callable[[str | None], None]
"""Told after each unit at which stage it failed, `None` for one that did not."""
OnAssessment = Callable[[str, Transcript, Assessment], None]
"""Is told of each unit, by its id, before it is written down as finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """How much is done at once, and when to stop."""

    concurrency: int = 8
    """Units assessed at the same time."""
    max_failures: int | None = None
    """No unit is begun once more than so many have failed."""
    retries_failed: bool = False
    """Whether failed units whose attempts are not used up are done anew."""
    max_cost_usd: Decimal | None = None
    """What all sessions of the run together may cost; `None`: whatever it costs."""
    prices: Mapping[str, GivenPrice] = field(default_factory=dict)
    """Prices that are given by hand, by model."""


@dataclass(frozen=True, kw_only=True)
class RunTools:
    """What a run works with."""

    dataset: Dataset
    ledger: RunStore
    assessor: Assessor
    limits: RetryLimits
    scoring: WantedScoring = AS_SET
    """How items are scored."""
    deadline_seconds: float | None = None
    """Of one assessment."""
    parts: frozenset[Part] = FULL
    """Of an assessment, those that are made."""
    changes: int = 0
    """How many accepted changes of what it is made with the run has seen."""
    on_assessment: OnAssessment | None = None
    """Called in a thread."""
    only: Collection[str] | None = None
    """Of the units that are left, those that are assessed now; `None`: all."""
    opened: Callable[[RunStore, str, RunWriter], UnitCalls] = open_unit
    """Gives the store for the next attempt at a unit; called in a thread."""
    on_pending: Callable[[], Awaitable[None]] | None = None
    """Called after each unit of which a call is pending; `None` where none can be."""
    served: ServedModels | None = None
    """Which models answered; `None` where nothing is told of them."""
    prices: CallPrices | None = None
    """What calls cost, as the run's account tells it; without it the run leaves none."""
    purse: Purse | None = None
    """What may be spent; `None` where there is no ceiling."""

    @property
    def is_served_otherwise(self) -> bool:
        """Whether a server answers as another model than before, and that is not accepted."""
        return self.served is not None and bool(self.served.changed)

    @cached_property
    def units(self) -> Mapping[str, DatasetUnit]:
        """Those of the dataset, by id."""
        return {unit.unit_id: unit for unit in self.dataset.units}


@dataclass(slots=True, kw_only=True)
class RunTally:
    """What was done so far."""

    finished: int = 0
    failed: int = 0
    paid_calls: int = 0
    """Model calls that were made; those found in the ledger are not among them."""

    def has_reached(self, max_failures: int | None) -> bool:
        """Return whether too many units have failed to begin another."""
        return max_failures is not None and self.failed > max_failures


async def assess_units(
    tools: RunTools, options: EvaluationOptions, tally: RunTally, on_unit: OnUnit
) -> None:
    """Assess the units that are still to be done.

    Cancelling stops the calls under way; what has finished is kept, and counted in `tally`. Errors
    of the ledger end the run.
    """
    queued = tools.ledger.queue(
        ASSESSMENT_STEP, tools.limits, includes_failed=options.retries_failed
    )
    writer = RunWriter(tools.ledger)
    units = deque(
        unit.unit_id for unit in queued if tools.only is None or unit.unit_id in tools.only
    )

    async def work() -> None:
        while units:
            if tally.has_reached(options.max_failures) or tools.is_served_otherwise:
                return
            if tools.purse is not None and not tools.purse.has_room():
                return
            finished = await _do(tools, writer, tally, units.popleft())
            if finished is not None:
                on_unit(finished.stage)

    try:
        working = work_together(min(options.concurrency, len(queued)), work)
        await (working if tools.purse is None else tools.purse.until_stopped(working))
    finally:
        await writer.aclose()


async def _do(
    tools: RunTools, writer: RunWriter, tally: RunTally, unit_id: str
) -> FinishedUnit | None:
    if tools.purse is not None:
        # Before anything is waited for: others are to see that it is under way.
        tools.purse.begin(unit_id)
    try:
        return await _done(tools, writer, tally, unit_id)
    finally:
        if tools.purse is not None:
            tools.purse.end(unit_id)


async def _done(
    tools: RunTools, writer: RunWriter, tally: RunTally, unit_id: str
) -> FinishedUnit | None:
    calls = await asyncio.to_thread(tools.opened, tools.ledger, unit_id, writer)
    unit = None
    with suppress(Pending):
        unit = await _assessed(tools, calls)
    if calls.pending and tools.on_pending is not None:
        unit = None
        await tools.on_pending()
    if unit is None or (unit.stage is not None and _is_out_of_money(tools.purse)):
        tally.paid_calls += calls.paid
        return None
    unit = replace(unit, prediction=replace(unit.prediction, changes=tools.changes))
    await writer.write(partial(record_unit, tools.ledger, unit))
    tally.finished += 1
    tally.failed += unit.stage is not None
    tally.paid_calls += calls.paid
    return unit


def _is_out_of_money(purse: Purse | None) -> bool:
    """Return whether calls wait for money: a unit whose time runs out meanwhile did not fail."""
    return purse is not None and purse.is_holding


async def _assessed(tools: RunTools, calls: UnitCalls) -> FinishedUnit:
    try:
        transcript = await asyncio.to_thread(tools.dataset.transcript, calls.unit_id)
    except InputError:
        return _unreadable(calls, tools.scoring)
    unit = tools.units[calls.unit_id]
    options = AssessmentOptions(
        parts=tools.parts,
        scoring=replace(tools.scoring, participant=unit.participant_id, session=unit.unit_id),
        deadline_seconds=tools.deadline_seconds,
        store=calls if tools.purse is None else PaidCalls(calls.unit_id, calls, tools.purse),
    )
    assessment = await tools.assessor.assess(transcript, options)
    if tools.served is not None:
        tools.served.note(assessment.attempts)
    if tools.on_assessment is not None:
        await asyncio.to_thread(tools.on_assessment, calls.unit_id, transcript, assessment)
    prediction = prediction_of(assessment, calls.unit_id)
    stage = None
    if assessment.status is not AssessmentStatus.COMPLETE:
        stage = stage_of_unit(assessment.attempts, assessment.failures)
    elif broken_rules(prediction):
        stage = FailureStage.PIPELINE_INTERNAL
    return FinishedUnit(
        prediction=prediction, attempt=calls.attempt, stage=stage, judgements=calls.judgements
    )


def _unreadable(calls: UnitCalls, scoring: WantedScoring) -> FinishedUnit:
    failure = FailureSummary(
        category=FailureCategory.TRANSCRIPT_UNREADABLE, stage="transcript", code=None
    )
    return FinishedUnit(
        prediction=failed_prediction(calls.unit_id, failure, mode=scoring.mode),
        attempt=calls.attempt,
        stage=FailureStage.PIPELINE_INTERNAL,
    )
