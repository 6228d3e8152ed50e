"""Hand batches in, so that one that a provider took is never forgotten."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.evaluation.batches.collector import Collected
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.ledger.store.batch_book import BatchEvent
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.llm.batches import BatchModels, BatchNotTaken

logger = get_logger(__name__)

Tell = Callable[[str], None]
"""Says a line to whoever runs the command; it holds counts, ids and codes alone."""

REST: Final = (
    "their prompts hold what people said, and rest at the provider until the results are collected "
    "and deleted there, or expire"
)


@dataclass(slots=True, kw_only=True)
class HandingIn:
    """Hands in the batches of one run."""

    ledger: Ledger
    models: BatchModels
    tell: Tell
    is_refused: bool = False
    """Whether a provider refused a batch in this session; no further one is handed in."""

    async def hand_in(self, batch: Sequence[Collected]) -> None:
        """Note what is about to be handed in, hand it in, and keep its handle."""
        if self.is_refused:
            return
        first, book = batch[0].call, self.ledger.batches
        number = await asyncio.to_thread(
            book.intend, first.model, first.kin, [one.row for one in batch]
        )
        try:
            handle = await self.models.hand_in(first.model, [one.call for one in batch])
        except BatchNotTaken as refused:
            await asyncio.to_thread(book.note, number, BatchEvent.REFUSED)
            self._tell_refused(first.model, refused.failure)
            return
        except ModelCallFailed as failure:
            # It stays in the book without a handle, and is looked for when the run goes on.
            self.is_refused = True
            self.tell(
                f"whether {first.model} took batch {number} is not known ({_words(failure)}): go "
                "on with --resume, which looks for it there before anything is asked again"
            )
            return
        await asyncio.to_thread(book.note, number, BatchEvent.HANDED_IN, handle=handle)
        logger.info("batch_handed_in", model=first.model, count=len(batch))
        self.tell(f"handed in batch {number}: {len(batch)} calls to {first.model}; {REST}")

    def _tell_refused(self, model: str, failure: ModelCallFailed) -> None:
        self.is_refused = True
        logger.warning("batch_refused", model=model, code=failure.code)
        self.tell(
            f"{model} took no batch ({_words(failure)}); nothing of it is asked or paid. Try "
            "`ai-psychiatrist doctor`, or smaller batches (BATCH_MOST_CALLS), then --resume"
        )


def _words(failure: ModelCallFailed) -> str:
    status = "" if failure.http_status is None else f", HTTP status {failure.http_status}"
    return f"{failure.code.value}{status}"
