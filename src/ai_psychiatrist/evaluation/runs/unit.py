"""One unit of a run: its interview read and assessed, its outcome told."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.assessment.assessor import AssessmentOptions, Assessor
from ai_psychiatrist.assessment.parts import FULL, Part
from ai_psychiatrist.domain.assessment import AS_SET, Assessment, AssessmentStatus, WantedScoring
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.failures import FailureCategory, FailureStage
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.pricing.spending import CostLimit, PaidCalls
from ai_psychiatrist.evaluation.runs.served_models import ServedModels
from ai_psychiatrist.evaluation.runs.stages import broken_rules, stage_of_unit
from ai_psychiatrist.evaluation.runs.unit_calls import UnitCalls
from ai_psychiatrist.evaluation.runs.unit_records import FinishedUnit
from ai_psychiatrist.evaluation.scores.prediction import (
    FailureSummary,
    failed_prediction,
    prediction_of,
)
from ai_psychiatrist.infrastructure.tasks import Pending
from ai_psychiatrist.store.errors import refusing_damage

OnAssessment: TypeAlias = Callable[[str, Transcript, Assessment], None]
"""Is told of each unit, by its id, before it is written down as finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSource:
    """What a unit is made from."""

    participant_id: int | str | None
    transcript: Transcript = field(repr=False)


_SOURCE = TypeAdapter(UnitSource)


def source_bytes(source: UnitSource) -> bytes:
    """Return what a unit is made from as a run keeps it for those who have no dataset."""
    return _SOURCE.dump_json(source)


def source_in(content: bytes) -> UnitSource:
    """Return what a unit is made from; raises `LedgerUnusable` for what no run keeps."""
    with refusing_damage():
        try:
            return _SOURCE.validate_json(content)
        except ValidationError:
            # Its text holds what was said.
            raise ValueError from None


def unit_source(dataset: Dataset, unit_id: str) -> UnitSource:
    """Return what a unit of a dataset is made from; raises `InputError` as its transcript does."""
    transcript, unit = dataset.transcript(unit_id), dataset.by_id[unit_id]
    return UnitSource(participant_id=unit.participant_id, transcript=transcript)


@dataclass(frozen=True, kw_only=True)
class UnitTools:
    """What a unit is assessed with; the same for all units of a run."""

    assessor: Assessor
    read: Callable[[str], UnitSource]
    """Gives what a unit is made from, by its id; raises `InputError` for one without a transcript
    that can be read. Called in a thread."""
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
    served: ServedModels | None = None
    """Which models answered; `None` where nothing is told of them."""
    purse: CostLimit | None = None
    """What may be spent; `None` where there is no ceiling."""


async def made_unit(tools: UnitTools, calls: UnitCalls) -> FinishedUnit | None:
    """Assess a unit with the calls that are kept of it; `None` for one that waits for a batch.

    Raises what kept a call from being kept.
    """
    unit = None
    with suppress(Pending):
        unit = await _assessed(tools, calls)
    if calls.error is not None:
        raise calls.error
    if unit is None or calls.pending:
        return None
    return replace(unit, prediction=replace(unit.prediction, changes=tools.changes))


def failed_unit(
    calls: UnitCalls, scoring: WantedScoring, category: FailureCategory, stage: str
) -> FinishedUnit:
    """Return the outcome of a unit of which nothing was assessed."""
    failure = FailureSummary(category=category, stage=stage, code=None)
    return FinishedUnit(
        prediction=failed_prediction(calls.unit_id, failure, mode=scoring.mode),
        attempt=calls.attempt,
        stage=FailureStage.PIPELINE_INTERNAL,
    )


async def _assessed(tools: UnitTools, calls: UnitCalls) -> FinishedUnit:
    try:
        source = await asyncio.to_thread(tools.read, calls.unit_id)
    except InputError:
        category = FailureCategory.TRANSCRIPT_UNREADABLE
        return failed_unit(calls, tools.scoring, category, "transcript")
    options = AssessmentOptions(
        parts=tools.parts,
        scoring=replace(tools.scoring, participant=source.participant_id, session=calls.unit_id),
        deadline_seconds=tools.deadline_seconds,
        store=calls if tools.purse is None else PaidCalls(calls.unit_id, calls, tools.purse),
    )
    assessment = await tools.assessor.assess(source.transcript, options)
    if tools.served is not None:
        await asyncio.to_thread(tools.served.note, assessment.attempts)
    if tools.on_assessment is not None:
        await asyncio.to_thread(tools.on_assessment, calls.unit_id, source.transcript, assessment)
    prediction = prediction_of(assessment, calls.unit_id)
    stage = None
    if assessment.status is not AssessmentStatus.COMPLETE:
        stage = stage_of_unit(assessment.attempts, assessment.failures)
    elif broken_rules(prediction):
        stage = FailureStage.PIPELINE_INTERNAL
    return FinishedUnit(
        prediction=prediction, attempt=calls.attempt, stage=stage, judgements=calls.judgements
    )
