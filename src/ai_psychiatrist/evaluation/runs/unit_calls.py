"""The kept model calls of one unit: found again when the unit is run anew."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.infrastructure.tasks import patiently
from ai_psychiatrist.llm.calls import CallStore, Judgement
from ai_psychiatrist.store.run_records import KeptCall
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import UnitBatches


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
