"""Take judged answers into a run, each as the next attempt of its unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.ledger.recheck.checker import PipelineChecker, judged
from ai_psychiatrist.ledger.store.contexts import write_context
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.ledger.store.records import AttemptRecord, CurrentRow, Origin
from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.config.retry_limits import RetryLimits
from ai_psychiatrist.validation.jsonl.unit import UnitOutcome

_NOT_ASKED: Final = "not_asked"
"""Rule of a failure whose unit the context does not ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """What came for a unit, and the verdict on it."""

    unit_id: str
    context: Mapping[str, object] | None = field(default=None, repr=False)
    raw: str | None = field(repr=False)
    """The answer's text; `None` when none came."""
    verdict: Verdict


@dataclass(slots=True, kw_only=True)
class AnswerIntake:
    """Takes the answers for one step; the caller holds the run's lock and a transaction."""

    ledger: Ledger
    step: str
    checker: PipelineChecker
    limits: RetryLimits
    next_step: str | None = None
    """The step that valid units are asked for next."""
    recorded: int = 0
    """Attempts that were added."""
    known: int = 0
    """Answers that a valid unit has already; nothing was added."""
    exhausted: int = 0
    """Answers for units whose attempts are used up; nothing was added."""

    def take(self, answer: JudgedAnswer) -> None:
        """Add an attempt, unless the unit is finished.

        A valid unit keeps its answer, and another one for it is kept as a duplicate. A unit whose
        attempts are used up stays as it is. Raises `InputError` when the unit was asked with
        another input before.
        """
        row = self.ledger.last(answer.unit_id, self.step)
        verdict = answer.verdict
        if row is not None and row.is_exhausted(self.limits):
            self.exhausted += 1
            return
        if row is not None and row.is_valid:
            if answer.raw is None or answer.raw == row.record.raw:
                self.known += 1
                return
            verdict = Verdict(
                value=verdict.value, stage=FailureStage.DUPLICATE, errors=verdict.errors
            )
        self._record(answer, verdict, row)

    def _record(self, answer: JudgedAnswer, verdict: Verdict, row: CurrentRow | None) -> None:
        has_answer = verdict.stage not in {FailureStage.PROVIDER, FailureStage.MISSING}
        attempt = AttemptRecord(
            unit_id=answer.unit_id,
            step=self.step,
            attempt=1 if row is None else row.newest_attempt + 1,
            origin=Origin.VALIDATE,
            raw=answer.raw if has_answer else None,
        )
        made = judged(attempt, verdict, self.checker)
        add_attempts(self.ledger, answer.context, [made], next_step=self.next_step)
        self.recorded += 1


def add_attempts(
    ledger: Ledger,
    context: Mapping[str, object] | None,
    attempts: Sequence[AttemptRecord],
    *,
    next_step: str | None,
) -> None:
    """Ask for the unit of some attempts with its input and record them.

    `next_step` is asked for a unit whose last attempt is valid. Raises `InputError` when the unit
    was asked with another input before.
    """
    last = attempts[-1]
    # Units of a pipeline have an input at each step and none of their own.
    ledger.units.add(last.unit_id, context_digest="")
    content = write_context(context)
    if content is not None:
        ledger.units.add_input(last.unit_id, last.step, content)
    ledger.request(last.unit_id, last.step)
    ledger.record(attempts)
    if last.stage is None and next_step is not None:
        ledger.request(last.unit_id, next_step)


def judged_answer(outcome: UnitOutcome) -> JudgedAnswer | None:
    """Return what a validated line says about a unit; `None` when it is of none that was asked."""
    unit, verdict = outcome.unit, outcome.verdict
    was_asked = all(error.rule != _NOT_ASKED for error in verdict.errors)
    if unit.key is None or not was_asked:
        return None
    return JudgedAnswer(
        unit_id=unit.key, context=unit.given, raw=unit.raw_response, verdict=verdict
    )
