"""Poll batches, and keep their results before anything is done with them."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.model_call import BatchAnswer
from ai_psychiatrist.evaluation.batches.submission import Tell
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.batches import BatchModels, BatchVanished
from ai_psychiatrist.store.run_batches import BatchEvent, BatchRow
from ai_psychiatrist.store.runs import RunStore

logger = get_logger(__name__)

_SHORT_LOOKS: Final = 3
"""How often results that are missing are looked for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling:
    """Collects the results of one run's batches."""

    ledger: RunStore
    models: BatchModels
    tell: Tell
    hands_in_again: bool = False
    """Whether calls are submitted anew whose batch is not known any more."""

    async def poll(self) -> None:
        """Ask after every batch that is waited for, and collect those that have ended."""
        for batch in await asyncio.to_thread(self.ledger.batches.waited_for):
            try:
                await self._poll(batch)
            except BatchVanished:
                await self._vanished(batch)
            except ModelCallFailed as failure:
                self.tell(
                    f"batch {batch.number} of {batch.model} cannot be looked at now "
                    f"({failure.code.value}); nothing of it is lost"
                )

    async def _poll(self, batch: BatchRow) -> None:
        handle = batch.handle or await self._found_again(batch)
        if handle is None:
            return
        status = await self.models.status(batch.model, handle)
        if not status.has_ended:
            return
        answers = await self.models.answers(batch.model, status.handle)
        if await self._keep(batch, answers):
            await self.models.forget(batch.model, status.handle)

    async def _keep(self, batch: BatchRow, answers: Sequence[BatchAnswer]) -> bool:
        """Keep what came; returns whether no more of the batch is waited for."""
        book = self.ledger.batches
        units = {one.custom_id for one in await asyncio.to_thread(book.of_batch, batch.number)}
        # Of two results of a call a reply is the one to keep.
        best = {
            one.custom_id: one
            for one in sorted(answers, key=lambda one: one.body is not None)
            if one.custom_id in units
        }
        unknown = sum(one.custom_id not in units for one in answers)
        # What is missing may be on its way, or the answer broke off.
        is_over = len(best) == len(units) or batch.short_looks >= _SHORT_LOOKS
        event = BatchEvent.ENDED if is_over else BatchEvent.SHORT
        await asyncio.to_thread(book.add_results, best.values(), batch.number, event)
        self._tell(batch, best.values(), missing=len(units) - len(best), unknown=unknown)
        if not is_over:
            self.tell(f"  batch {batch.number} is looked at again before they count as lost")
        logger.info("batch_collected", model=batch.model, count=len(best))
        return is_over

    def _tell(
        self, batch: BatchRow, kept: Collection[BatchAnswer], *, missing: int, unknown: int
    ) -> None:
        replies = sum(one.status == "succeeded" for one in kept)
        failed = sum(one.status == "errored" for one in kept)
        counts = {
            "failed": failed,
            "not made in time or cancelled": len(kept) - replies - failed,
            "missing": missing,
            "of calls that are not ours, and refused": unknown,
        }
        others = "".join(f", {count} {what}" for what, count in counts.items() if count)
        self.tell(f"collected batch {batch.number}: {replies} replies{others}")

    async def _found_again(self, batch: BatchRow) -> str | None:
        """Return the handle of a batch whose handle was not kept; `None` where nobody has it."""
        book = self.ledger.batches
        calls = await asyncio.to_thread(book.of_batch, batch.number)
        others = await asyncio.to_thread(book.all)
        found = await self.models.find(
            batch.model,
            group=batch.group,
            since=batch.recorded_at,
            ids=[one.custom_id for one in calls],
            known=[one.handle for one in others if one.handle is not None],
        )
        if found is not None and len(found) == 1:
            await asyncio.to_thread(book.note, batch.number, BatchEvent.SUBMITTED, handle=found[0])
            self.tell(f"batch {batch.number}, whose handle was lost, is at {batch.model}")
            return found[0]
        if found == []:
            await asyncio.to_thread(book.note, batch.number, BatchEvent.NOT_THERE)
            self.tell(f"batch {batch.number} never reached {batch.model}: it is handed in anew")
        elif self.hands_in_again:
            await asyncio.to_thread(book.note, batch.number, BatchEvent.GIVEN_UP)
        else:
            when = batch.recorded_at.strftime("%Y-%m-%d %H:%M UTC")
            self.tell(
                f"batch {batch.number} ({batch.calls} calls) may have been handed in to "
                f"{batch.model} at {when}, and which it is there cannot be told. Look at the "
                "provider's list of batches; --resume --hand-in-again asks its calls anew, which "
                "are paid twice if it was"
            )
        return None

    async def _vanished(self, batch: BatchRow) -> None:
        if self.hands_in_again:
            book = self.ledger.batches
            await asyncio.to_thread(book.note, batch.number, BatchEvent.GIVEN_UP)
            self.tell(f"batch {batch.number} is gone from {batch.model}: it is handed in anew")
        else:
            self.tell(
                f"{batch.model} knows nothing of batch {batch.number} ({batch.calls} calls) any "
                "more. Check that the key is of the account that handed it in; --resume "
                "--hand-in-again asks its calls anew, which are paid twice if it was made"
            )
