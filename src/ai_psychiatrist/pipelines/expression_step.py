"""A step whose result expressions find, checked like an answer."""

import asyncio
import json
from dataclasses import dataclass
from typing import ClassVar

from ai_psychiatrist.ledger.ledger_writer import LedgerWriter
from ai_psychiatrist.ledger.recheck.checker import PipelineChecker
from ai_psychiatrist.ledger.store.records import AttemptRecord
from ai_psychiatrist.llm.calls import CallBudget
from ai_psychiatrist.pipelines.step_turn import StepTurn
from ai_psychiatrist.validation.checks.expression_step import not_found
from ai_psychiatrist.validation.expressions import EvaluationFailed
from ai_psychiatrist.validation.expressions.procedure import Procedure


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionStep:
    """A step of scope `expression`."""

    asks_models: ClassVar[bool] = False

    name: str
    procedure: Procedure
    checker: PipelineChecker

    async def take(
        self, turn: StepTurn, _writer: LedgerWriter, _budget: CallBudget
    ) -> list[AttemptRecord]:
        """Return the one attempt: the same expressions would find the same again."""
        return [await asyncio.to_thread(self._attempt, turn)]

    def _attempt(self, turn: StepTurn) -> AttemptRecord:
        try:
            found = self.procedure.run(
                turn.known, seed=turn.seed, step=self.name, unit_id=turn.unit_id
            )
        except EvaluationFailed as problem:
            return turn.attempt(0, None, not_found(problem), self.checker)
        raw = json.dumps(found, ensure_ascii=False)
        verdict = self.checker.check(turn.unit_id, raw, turn.content)
        return turn.attempt(0, raw, verdict, self.checker)
