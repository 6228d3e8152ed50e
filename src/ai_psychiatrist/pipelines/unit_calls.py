"""The kept model calls of one unit: found again when the unit is gone on with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.ledger.ledger_writer import LedgerWriter
from ai_psychiatrist.ledger.store.records import KeptCall
from ai_psychiatrist.llm.calls import CallStore, Judgement


@dataclass(slots=True, kw_only=True)
class UnitCalls(CallStore):
    """The store that one attempt at a unit keeps its calls in."""

    unit_id: str
    attempt: int
    """Which attempt at the unit this is, from 1."""
    writer: LedgerWriter
    known: Mapping[tuple[str, int], ModelCall]
    """By digest and occurrence."""
    judgements: list[Judgement] = field(default_factory=list)
    paid: int = 0
    """How many calls were made, and not found."""
    pending: int = 0
    """How many calls the next batch has to answer; until then the unit has not ended."""

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before."""
        return self.known.get((digest, occurrence))

    async def keep(self, call: ModelCall) -> None:
        """Put the call on disk."""
        self.paid += 1
        await self.writer.keep(KeptCall(self.unit_id, self.attempt, call))

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        self.judgements.append(judgement)
