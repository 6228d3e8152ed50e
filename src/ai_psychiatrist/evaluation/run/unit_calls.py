"""The kept model calls of one unit: found again when the unit is run anew."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Protocol

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.evaluation.run.stages import ASSESSMENT_STEP
from ai_psychiatrist.infrastructure.ledger.ledger import Ledger
from ai_psychiatrist.infrastructure.ledger.records import CallKey, KeptCall, StoredCall
from ai_psychiatrist.llm.call_store import CallRequest, Judgement, KeptReply


class CallWriter(Protocol):
    """Writes calls to disk."""

    async def write(self, call: KeptCall) -> None:
        """Return once the call is on disk."""
        ...


@dataclass(slots=True, kw_only=True)
class UnitCalls:
    """The store that one assessment keeps its calls in."""

    unit_id: str
    attempt: int
    """Which attempt at the unit this is, from 1."""
    writer: CallWriter
    known: Mapping[tuple[str, int], StoredCall]
    """By digest and occurrence."""
    judgements: list[Judgement] = field(default_factory=list)
    paid: int = 0
    """How many calls were made, and not found."""

    async def recall(self, request: CallRequest) -> KeptReply | None:
        """Return what the call gave when it was made before."""
        call = self.known.get((request.digest, request.occurrence))
        if call is None:
            return None
        return KeptReply(
            content=call.reply,
            code=None if call.outcome is None else FailureCode(call.outcome),
            is_cut_off=call.is_cut_off,
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            duration_ms=call.duration_ms,
        )

    async def keep(self, request: CallRequest, reply: KeptReply) -> None:
        """Put the call on disk."""
        self.paid += 1
        key = CallKey(
            unit_id=self.unit_id,
            attempt=self.attempt,
            digest=request.digest,
            occurrence=request.occurrence,
        )
        call = StoredCall(
            step=request.agent,
            model=request.model,
            path=request.path,
            outcome=reply.code,
            reply=reply.content,
            is_cut_off=reply.is_cut_off,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            duration_ms=reply.duration_ms,
        )
        await self.writer.write(KeptCall(key, call))

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        self.judgements.append(judgement)


def open_unit(ledger: Ledger, unit_id: str, writer: CallWriter) -> UnitCalls:
    """Return the store for the next attempt at a unit, with the calls that need not be repeated.

    Those of the attempt itself, which a stop may have cut short, whatever they gave; and of earlier
    attempts those of steps that ended well: a step that failed is asked anew.
    """
    attempt = len(ledger.history(unit_id, ASSESSMENT_STEP)) + 1
    finished = {step for step in ledger.steps if attempt > 1 and _ended_well(ledger, unit_id, step)}
    known = {
        (kept.key.digest, kept.key.occurrence): kept.call
        for number in range(1, attempt + 1)
        for kept in ledger.calls_of(unit_id, number)
        if number == attempt or kept.call.step in finished
    }
    return UnitCalls(
        unit_id=unit_id,
        attempt=attempt,
        writer=writer,
        known=known if ledger.keeps_raw else {},
    )


def _ended_well(ledger: Ledger, unit_id: str, step: str) -> bool:
    """Return whether a step was asked for a unit, and each round of it ended with an output."""
    rounds = (ledger.history(unit_id, step, round=number) for number in count())
    last = [history[-1].stage for history in takewhile(bool, rounds)]
    return bool(last) and all(stage is None for stage in last)
