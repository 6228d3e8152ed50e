"""The result files of a run, made from its ledger alone: when it was stopped leaves no trace.

No prediction stands on a reply that rules reject by now.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

import orjson

from ai_psychiatrist.agents.pydantic_agents import (
    ABLATION,
    EVIDENCE,
    JUDGE,
    JUDGES,
    META_REVIEW,
    OPTIONAL_AGENTS,
    QUALITATIVE,
    QUANTITATIVE,
    RESCORING,
)
from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.drive import DriveReason, DriveVerdict
from ai_psychiatrist.domain.failures import FailureCategory, FailureCode, FailureStage
from ai_psychiatrist.evaluation.reading_list import ReadingList, UnitDanger, reading_list
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.unit import ASSESSMENT_STEP, FinishedUnit, unit_attempt
from ai_psychiatrist.evaluation.scores.prediction import (
    FailureSummary,
    ItemPrediction,
    UnitPrediction,
    signs_to_read,
)
from ai_psychiatrist.evaluation.scores.prediction_lines import from_line
from ai_psychiatrist.infrastructure.private_files import write_whole
from ai_psychiatrist.store.run_records import AttemptRecord, CurrentRow, Origin
from ai_psychiatrist.store.runs import RunStore

_LINE: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE

Rejected = Mapping[str, FailureStage]
"""Step whose reply the prediction stands on, and is rejected by now → where it failed."""

# In the order of the work, so that what follows from what follows is found in one pass.
_STANDS_ON: Final[Mapping[str, tuple[str, ...]]] = {
    **{judge.name: (QUALITATIVE.name,) for judge in JUDGE.values()},
    JUDGES.name: (QUALITATIVE.name,),
    QUANTITATIVE.name: (EVIDENCE.name,),
    ABLATION.name: (QUANTITATIVE.name,),
    META_REVIEW.name: (QUALITATIVE.name, QUANTITATIVE.name),
}
_NOT_ALWAYS_ASKED: Final = frozenset(
    {ABLATION.name, JUDGES.name, *(judge.name for judge in JUDGE.values())}
)


def write_results(folder: RunFolder, ledger: RunStore) -> int:
    """Write predictions and failures of what has finished, in the order of the dataset.

    Returns how many predictions were brought in line with verdicts before.
    """
    changed = _reconcile(ledger)
    write_whole(folder.predictions, _predictions(ledger))
    write_whole(folder.failures, _failures(ledger))
    return changed


@dataclass(slots=True)
class RunFailures:
    """What went wrong in the units of a run that have an outcome."""

    complete_units: int = 0
    """Units that are complete all the same."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Category → complete units, the most frequent first when they are listed."""
    unreadable: int = 0
    """Units that failed because their transcript cannot be read."""
    calls: Counter[str] = field(default_factory=Counter)
    """How each call of a unit ended → calls."""


def run_failures(ledger: RunStore) -> RunFailures:
    """Count failures and calls, such as quotes that are in no transcript and rejected replies."""
    found = RunFailures()
    for row in ledger.current(ASSESSMENT_STEP):
        output = row.record.output or {}
        categories = {str(one["category"]) for one in _listed(output, "failures")}
        found.calls.update(str(call["outcome"]) for call in _listed(output, "attempts"))
        found.unreadable += FailureCategory.TRANSCRIPT_UNREADABLE in categories
        if row.is_valid and categories:
            found.complete_units += 1
            found.kinds.update(categories)
    return found


def _listed(output: Mapping[str, object], name: str) -> Iterator[Mapping[str, object]]:
    found = output.get(name)
    yield from found if isinstance(found, list) else ()


def readings(ledger: RunStore) -> ReadingList:
    """Return which interviews a person has to read, of all that the run is asked for."""
    outputs = (row.record.output for row in ledger.current(ASSESSMENT_STEP))
    units = (_danger(output) for output in outputs if output is not None)
    return reading_list(units, requested=ledger.counts(ASSESSMENT_STEP).requested)


def _danger(prediction: Mapping[str, object]) -> UnitDanger:
    counted, level = prediction.get("signs_to_read"), prediction.get("risk_level")
    unread = prediction.get("turns_not_examined")
    return UnitDanger(
        unit_id=str(prediction["unit_id"]),
        signs_to_read=signs_to_read(
            counted if isinstance(counted, int) else None, level if isinstance(level, str) else None
        ),
        turns_not_examined=unread if isinstance(unread, int) else None,
    )


def _predictions(ledger: RunStore) -> Iterator[bytes]:
    for row in ledger.current(ASSESSMENT_STEP):
        if row.record.output is not None:
            yield orjson.dumps(row.record.output, option=_LINE)


def _failures(ledger: RunStore) -> Iterator[bytes]:
    for step in (ASSESSMENT_STEP, *(step for step in ledger.steps if step != ASSESSMENT_STEP)):
        for row in ledger.current(step, is_failed=True):
            yield orjson.dumps(
                {
                    "unit_id": row.record.unit_id,
                    "step": step,
                    "round": row.record.round,
                    "failure_stage": row.record.stage,
                    "codes": sorted({str(error["rule"]) for error in row.record.errors}),
                    "attempts": row.attempts,
                    "is_retryable": row.is_retryable,
                },
                option=_LINE,
            )


def _reconcile(ledger: RunStore) -> int:
    """Append what units come to by the verdicts of now, and return how many changed.

    What stands on a rejected reply is taken out of a prediction and given back when the reply
    passes again; nothing is added that was never assessed. A step with several rounds is rejected
    when none of them passes.
    """
    if not ledger.has_any_of(Origin.REVALIDATE):
        return 0
    rejected: dict[str, dict[str, FailureStage]] = defaultdict(dict)
    for step in ledger.steps:
        for unit_id, stage in _rejected_at(ledger, step) if step != ASSESSMENT_STEP else ():
            rejected[unit_id][step] = stage
    changed = 0
    with ledger.transaction():
        for row in ledger.current(ASSESSMENT_STEP):
            found = rejected.get(row.record.unit_id, {})
            if found or row.record.origin is Origin.REVALIDATE:
                record = _by_verdicts(ledger, row, found)
                if (record.stage, record.output) != (row.record.stage, row.record.output):
                    ledger.record([record])
                    changed += 1
    return changed


def _rejected_at(ledger: RunStore, step: str) -> Iterator[tuple[str, FailureStage]]:
    for unit_id, group in groupby(ledger.current(step), key=lambda row: row.record.unit_id):
        rows = list(group)
        if not any(row.is_valid for row in rows):
            stages = [row.record.stage for row in rows if _was_valid(ledger, row)]
            yield from ((unit_id, FailureStage(stage)) for stage in stages[-1:] if stage)


def _was_valid(ledger: RunStore, row: CurrentRow) -> bool:
    """Return whether a reply that is rejected now was accepted when the unit was assessed."""
    record = row.record
    if record.origin is not Origin.REVALIDATE:
        return False
    history = ledger.history(record.unit_id, record.step, round=record.round)
    return _assessed(history).stage is None


def _assessed(history: list[AttemptRecord]) -> AttemptRecord:
    """Return the last attempt that came of the assessment itself."""
    return [attempt for attempt in history if attempt.origin is Origin.MODEL][-1]


def _by_verdicts(ledger: RunStore, row: CurrentRow, rejected: Rejected) -> AttemptRecord:
    made = _assessed(ledger.history(row.record.unit_id, ASSESSMENT_STEP))
    prediction = _without(from_line(orjson.dumps(made.output)), rejected)
    stage = made.stage
    if stage is None and prediction.status is not AssessmentStatus.COMPLETE:
        stage = next(iter(rejected.values()))
    unit = FinishedUnit(
        prediction=prediction,
        attempt=row.newest_attempt + 1,
        stage=None if stage is None else FailureStage(stage),
    )
    return unit_attempt(unit, origin=Origin.REVALIDATE)


def _without(prediction: UnitPrediction, rejected: Rejected) -> UnitPrediction:
    """Take out of a prediction what stands on rejected replies.

    The level of danger stays: an alarm is not taken back.
    """
    lost = set(rejected)
    failures = list(prediction.failures)
    failures += [
        FailureSummary(
            category=FailureCategory.AGENT_FAILED, stage=step, code=FailureCode.OUTPUT_REJECTED
        )
        for step in rejected
    ]
    asked = {attempt.agent for attempt in prediction.attempts}
    for step, grounds in _STANDS_ON.items():
        if step in _NOT_ALWAYS_ASKED and step not in asked:
            continue
        if step not in lost and not lost.isdisjoint(grounds):
            lost.add(step)
            failures.append(
                FailureSummary(
                    category=FailureCategory.STAGE_SKIPPED,
                    stage=step,
                    code=FailureCode.MISSING_INPUT,
                )
            )
    status = prediction.status
    if lost - OPTIONAL_AGENTS and status is AssessmentStatus.COMPLETE:
        status = AssessmentStatus.PARTIAL
    if lost >= {QUALITATIVE.name, QUANTITATIVE.name}:
        status = AssessmentStatus.FAILED
    items = prediction.items if QUANTITATIVE.name not in lost else {}
    if ABLATION.name in lost:
        items = {item: _without_verdict(found) for item, found in items.items()}
    if RESCORING.name in lost:
        items = {item: _without_votes(found) for item, found in items.items()}
    return replace(
        prediction,
        status=status,
        items=items,
        meta_review_severity=(
            None if META_REVIEW.name in lost else prediction.meta_review_severity
        ),
        failures=tuple(failures),
    )


def _without_verdict(found: ItemPrediction) -> ItemPrediction:
    if found.drive is None:
        return found
    verdict, reason = DriveVerdict.UNDETERMINED, DriveReason.CALL_FAILED
    return replace(found, drive=replace(found.drive, verdict=verdict, reason=reason))


def _without_votes(found: ItemPrediction) -> ItemPrediction:
    """Take out a score distribution that pools re-scorings: it cannot be divided."""
    is_voted = found.belief is not None and BeliefSource.RESCORING in found.belief.sources
    return replace(found, belief=None) if is_voted else found
