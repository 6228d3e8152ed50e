"""One unit of a run: its interview is read and assessed, its outcome recorded."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import orjson
from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.agents.contracts.contract import shipped_step, step_of_agent
from ai_psychiatrist.agents.pydantic_agents import PROBABILITY_AGENTS
from ai_psychiatrist.assessment.assessor import AssessmentOptions, Assessor
from ai_psychiatrist.assessment.parts import FULL, Part
from ai_psychiatrist.domain.assessment import (
    DEFAULT_SCORING,
    Assessment,
    AssessmentStatus,
    ScoringOptions,
)
from ai_psychiatrist.domain.errors import AssessmentServiceError, InputError
from ai_psychiatrist.domain.failures import FailureCategory, FailureStage, stage_of_code
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.pricing.spending import CostLimit, PaidCalls
from ai_psychiatrist.evaluation.runs.served_models import ServedModels
from ai_psychiatrist.evaluation.scores.prediction import (
    FailureSummary,
    UnitPrediction,
    failed_prediction,
    prediction_of,
)
from ai_psychiatrist.evaluation.scores.prediction_lines import to_line
from ai_psychiatrist.infrastructure.tasks import Pending, patiently
from ai_psychiatrist.llm.calls import CallStore, Judgement
from ai_psychiatrist.store.errors import refusing_damage
from ai_psychiatrist.store.run_records import AttemptRecord, KeptCall, Origin
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.verdict import UnitError

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import UnitBatches
from typing import Final

from ai_psychiatrist.domain.failures import (
    Attempt,
    FailureRecord,
)
from ai_psychiatrist.domain.phq8 import Item

ASSESSMENT_STEP: Final = "assessment"
"""The step that stands for a unit as a whole; the others are named like the agents."""


def stage_of_unit(
    attempts: Sequence[Attempt], failures: Sequence[FailureRecord] = ()
) -> FailureStage:
    """Return the stage at which an unfinished unit failed: that of its first agent without output.

    `attempts`: in the order of the agents. Where all of them ended well a lookup of references
    did not, every quote was refused, or the program failed.
    """
    last = {attempt.agent: attempt for attempt in attempts}
    codes = [attempt.code for attempt in last.values()]
    lookups = [one.code for one in failures if one.category is FailureCategory.REFERENCES_FAILED]
    stages = (stage_of_code(code) for code in (*codes, *lookups))
    is_invented = any(one.category is FailureCategory.EVIDENCE_HALLUCINATION for one in failures)
    otherwise = FailureStage.VALIDATION if is_invented else FailureStage.PIPELINE_INTERNAL
    return next((stage for stage in stages if stage is not None), otherwise)


def broken_rules(prediction: UnitPrediction) -> tuple[str, ...]:
    """Return the names of the contract's rules that a prediction with items breaks.

    There are none unless this program is broken: totals and bands follow from the items.
    """
    if not prediction.items:
        return ()
    total = prediction.range
    verdict = shipped_step("assessment").check_object(
        {
            "items": [_item(prediction, item) for item in Item],
            "total": total.total_score,
            "total_min": total.total_score_min,
            "total_max": total.total_score_max,
            "severity": None if total.severity is None else int(total.severity),
        }
    )
    return tuple(dict.fromkeys(error.rule for error in verdict.errors))


def _item(prediction: UnitPrediction, item: Item) -> dict[str, object]:
    found = prediction.items[item]
    return {
        "item": item.value,
        "status": "na" if found.score is None else "scored",
        "score": found.score,
        "unknown_reason": found.unknown_reason,
    }


@dataclass(slots=True, kw_only=True)
class UnitCalls(CallStore):
    """The store that one attempt at a unit keeps its calls in."""

    unit_id: str
    attempt: int
    """Which attempt at the unit this is, from 1."""
    writer: RunWriter
    known: Mapping[tuple[str, int], ModelCall]
    """By digest and occurrence."""
    judgements: list[Judgement] = field(default_factory=list)
    paid: int = 0
    """How many calls were made, and not found."""
    patience_seconds: float = 0.0
    """How long a call waits to be kept for a database that is away."""
    error: AssessmentServiceError | None = None
    """Why a call could not be kept: the unit is not to end without it."""
    batches: "UnitBatches | None" = None
    """What answers the calls that are not found; `None` where models are asked live."""

    @property
    def pending(self) -> int:
        """How many calls the next batch has to answer; until then the unit has not ended."""
        return 0 if self.batches is None else self.batches.pending

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before."""
        kept = self.known.get((digest, occurrence))
        if kept is None and self.batches is not None:
            self.batches.expect(digest, occurrence)
        return kept

    async def keep(self, call: ModelCall) -> None:
        """Put the call on disk."""
        self.paid += 1
        kept = KeptCall(self.unit_id, self.attempt, call)
        try:
            await patiently(lambda: self.writer.write(kept), self.patience_seconds)
        except AssessmentServiceError as error:
            self.error = error
            raise

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        self.judgements.append(judgement)


def open_unit(ledger: RunStore, unit_id: str, writer: RunWriter) -> UnitCalls:
    """Return the store for the next attempt at a unit, with the calls that need not be repeated.

    Those of the attempt itself, which a stop may have cut short, whatever they gave; and of earlier
    attempts those of steps that ended well: a step that failed is asked anew.
    """
    attempt = len(ledger.history(unit_id, ASSESSMENT_STEP)) + 1
    finished = {step for step in ledger.steps if attempt > 1 and _ended_well(ledger, unit_id, step)}
    known = {
        (call.digest, call.occurrence): call
        for number in range(1, attempt + 1)
        for call in ledger.calls.of_attempt(unit_id, number)
        if number == attempt or call.agent in finished
    }
    return UnitCalls(
        unit_id=unit_id,
        attempt=attempt,
        writer=writer,
        known=known if ledger.keeps_raw and all(map(_is_kept, known.values())) else {},
    )


def _is_kept(call: ModelCall) -> bool:
    """Return whether a call can be used again: a part of the run may have kept no reply."""
    return call.reply is not None or call.code is not None


def _ended_well(ledger: RunStore, unit_id: str, step: str) -> bool:
    """Return whether a step was asked for a unit, and each round of it ended with an output."""
    last = [history[-1].stage for history in ledger.rounds(unit_id, step)]
    return bool(last) and all(stage is None for stage in last)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedUnit:
    """One attempt at a unit that has come to its end."""

    prediction: UnitPrediction
    attempt: int
    """From 1."""
    stage: FailureStage | None
    """Where the unit failed; `None` when its assessment is complete."""
    judgements: Sequence[Judgement] = ()


def record_unit(ledger: RunStore, unit: FinishedUnit) -> None:
    """Write everything about an attempt at a unit in one transaction."""
    with ledger.transaction():
        for record in _replies(ledger, unit):
            ledger.request(record.unit_id, record.step, round=record.round)
            ledger.record([record])
        ledger.record([unit_attempt(unit)])


def _replies(ledger: RunStore, unit: FinishedUnit) -> Iterator[AttemptRecord]:
    unit_id = unit.prediction.unit_id
    made: Counter[tuple[str, int]] = Counter()
    for judgement in unit.judgements:
        agent, number = judgement.attempt.agent, judgement.round
        if (agent, number) not in made:
            made[agent, number] = len(ledger.history(unit_id, agent, round=number))
        made[agent, number] += 1
        # Probabilities are no reply that a contract has rules for.
        is_checked = agent not in PROBABILITY_AGENTS
        step = shipped_step(step_of_agent(agent)) if is_checked else None
        yield AttemptRecord(
            unit_id=unit_id,
            step=agent,
            round=number,
            attempt=made[agent, number],
            origin=Origin.MODEL,
            stage=stage_of_code(judgement.attempt.code),
            errors=_errors(judgement),
            raw=judgement.text,
            output=judgement.output if ledger.keeps_raw else None,
            ruleset_digest="" if step is None else step.ruleset_digest,
            schema_digest="" if step is None else step.schema_digest,
        )


def _errors(judgement: Judgement) -> list[dict[str, object]]:
    code = judgement.attempt.code
    if code is None:
        return []
    message = judgement.feedback or "the call gave no reply"
    return [UnitError(rule=code.value, message=message).note]


def unit_attempt(unit: FinishedUnit, *, origin: Origin = Origin.MODEL) -> AttemptRecord:
    """Return the attempt at the unit as a whole."""
    prediction = unit.prediction
    failures = prediction.failures if unit.stage is not None else ()
    return AttemptRecord(
        unit_id=prediction.unit_id,
        step=ASSESSMENT_STEP,
        attempt=unit.attempt,
        origin=origin,
        stage=unit.stage,
        errors=[
            UnitError(
                rule=failure.code or failure.category, message=f"failed at {failure.stage}"
            ).note
            for failure in failures
        ],
        output=orjson.loads(to_line(prediction)),
    )


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
    scoring: ScoringOptions = DEFAULT_SCORING
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
    calls: UnitCalls, scoring: ScoringOptions, category: FailureCategory, stage: str
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
