"""One unit's turn at one step: what is known, what was asked before, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.ledger.ledger_writer import LedgerWriter
from ai_psychiatrist.ledger.recheck.accumulated_context import AccumulatedContexts
from ai_psychiatrist.ledger.recheck.checker import PipelineChecker, judged
from ai_psychiatrist.ledger.store.contexts import read_context
from ai_psychiatrist.ledger.store.records import AttemptRecord, Origin
from ai_psychiatrist.llm.calls import CallBudget
from ai_psychiatrist.pipelines.unit_calls import UnitCalls
from ai_psychiatrist.validation.checks.host_fields import UNIT_ID
from ai_psychiatrist.validation.checks.verdict import Verdict

SEED: Final = "seed"
"""Under what a run says its seed about itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTurn:
    """A unit that a step is to be done for."""

    unit_id: str
    step: str
    content: bytes = field(repr=False)
    """The step's context, as ledgers keep it."""
    first_attempt: int
    """The number of the first attempt of this turn, from 1."""
    provider_failures: int
    other_failures: int
    """Before this turn."""
    seed: int
    """What the run's expressions draw by."""
    calls: Mapping[tuple[str, int], ModelCall] = field(repr=False)
    """Made in this turn before a stop cut it short; by digest and occurrence."""

    @property
    def known(self) -> dict[str, object]:
        """The step's context: the unit's own fields and what earlier steps found."""
        return {**(read_context(self.content) or {}), UNIT_ID: self.unit_id}

    def store(self, writer: LedgerWriter) -> UnitCalls:
        """Return the store of the turn's calls."""
        return UnitCalls(
            unit_id=self.unit_id, attempt=self.first_attempt, writer=writer, known=self.calls
        )

    def attempt(
        self, number: int, raw: str | None, verdict: Verdict, checker: PipelineChecker
    ) -> AttemptRecord:
        """Return the record of an attempt; `number`: in this turn, from 0."""
        record = AttemptRecord(
            unit_id=self.unit_id,
            step=self.step,
            attempt=self.first_attempt + number,
            origin=Origin.MODEL,
            raw=raw,
        )
        return judged(record, verdict, checker)


class RunnableStep(Protocol):
    """A step that can be done for one unit after another."""

    @property
    def name(self) -> str:
        """As in the pipeline."""
        ...

    @property
    def asks_models(self) -> bool:
        """Whether the same unit may fare otherwise another time."""
        ...

    async def take(
        self, turn: StepTurn, writer: LedgerWriter, budget: CallBudget
    ) -> list[AttemptRecord] | None:
        """Return the attempts of a turn, `None` when the calls ran out before it had ended."""
        ...


def open_turn(contexts: AccumulatedContexts, unit_id: str, step: str) -> StepTurn:
    """Return what the ledger knows of a unit that a step is to be done for."""
    ledger = contexts.ledger
    row = ledger.last(unit_id, step)
    first = 1 if row is None else row.newest_attempt + 1
    calls = [call for call in ledger.calls.of_attempt(unit_id, first) if call.agent == step]
    return StepTurn(
        unit_id=unit_id,
        step=step,
        content=contexts.at(unit_id, step) or b"{}",
        first_attempt=first,
        provider_failures=0 if row is None else row.provider_failures,
        other_failures=0 if row is None else row.other_failures,
        seed=int(ledger.about.get(SEED, 0)),
        calls={(call.digest, call.occurrence): call for call in calls},
    )
