"""What a finished unit leaves in the ledger: one attempt per reply, and one for the unit."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson

from ai_psychiatrist.agents.contracts.contract import shipped_step, step_of_agent
from ai_psychiatrist.agents.pydantic_agents import PROBABILITY_AGENTS
from ai_psychiatrist.domain.failures import FailureStage, stage_of_code
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.evaluation.scores.prediction_lines import to_line
from ai_psychiatrist.llm.calls import Judgement
from ai_psychiatrist.store.run_records import AttemptRecord, Origin
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.verdict import UnitError


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
