"""Calls on their way into batches: grouped, cut to what a provider takes, and submitted."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.batches import BatchModels, BatchNotTaken, EncodedCall
from ai_psychiatrist.llm.settings import BatchSettings
from ai_psychiatrist.store.run_batches import BatchEvent, BatchRequestRow
from ai_psychiatrist.store.runs import RunStore

logger = get_logger(__name__)

_MOST_BYTES: Final = 64 << 20
"""Of one batch; they are held in memory while it is submitted."""

_REST: Final = (
    "their prompts hold what people said, and rest at the provider until the results are collected "
    "and deleted there, or expire"
)

Tell: TypeAlias = Callable[[str], None]
"""Says a line to whoever runs the command; it holds counts, ids and codes alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedCall:
    """A call that no batch holds yet."""

    call: EncodedCall
    row: BatchRequestRow


class BatchQueue:
    """Holds calls until they fill a batch."""

    def __init__(self, models: BatchModels, settings: BatchSettings) -> None:
        self._models = models
        self._settings = settings
        self._full: list[list[QueuedCall]] = []
        self._open: dict[tuple[str, str], list[QueuedCall]] = {}
        """By model and what else the calls of one batch share."""
        self._sizes: dict[tuple[str, str], int] = {}
        """Bytes of these."""

    def note(self, row: BatchRequestRow, call: EncodedCall) -> None:
        """Add a call."""
        key = call.model, call.group
        held, size = self._open.setdefault(key, []), self._sizes.get(key, 0)
        most_calls = min(self._settings.most_calls, self._models.most_calls(call.model))
        most_bytes = min(_MOST_BYTES, self._models.most_bytes(call.model) or _MOST_BYTES)
        # One that is too large by itself is for the provider to refuse.
        if held and (len(held) >= most_calls or size + call.size > most_bytes):
            self._full.append(held)
            held = self._open[key] = []
            size = 0
        held.append(QueuedCall(call=call, row=row))
        self._sizes[key] = size + call.size

    def full(self) -> list[list[QueuedCall]]:
        """Return the batches that the next call did not fit in, and forget their calls."""
        full, self._full = self._full, []
        return full

    def all(self) -> list[list[QueuedCall]]:
        """Return all that is held in batches, and forget it."""
        batches = [*self.full(), *self._open.values()]
        self._open, self._sizes = {}, {}
        return batches


@dataclass(slots=True, kw_only=True)
class Submission:
    """Submits the calls of one run, so that a batch that a provider took is never forgotten."""

    ledger: RunStore
    models: BatchModels
    queue: BatchQueue
    tell: Tell
    is_refused: bool = False
    """Whether a provider refused a batch in this session; no further one is submitted."""

    async def submit_full(self) -> None:
        """Submit what fills batches."""
        for batch in self.queue.full():
            await self._submit(batch)

    async def submit_all(self) -> None:
        """Submit all that is held."""
        for batch in self.queue.all():
            await self._submit(batch)

    async def _submit(self, batch: Sequence[QueuedCall]) -> None:
        """Note what is about to be submitted, submit it, and keep its handle."""
        if self.is_refused:
            return
        first, book = batch[0].call, self.ledger.batches
        number = await asyncio.to_thread(
            book.intend, first.model, first.group, [one.row for one in batch]
        )
        try:
            handle = await self.models.submit(first.model, [one.call for one in batch])
        except BatchNotTaken as refused:
            await asyncio.to_thread(book.note, number, BatchEvent.REFUSED)
            self.is_refused = True
            logger.warning("batch_refused", model=first.model, code=refused.failure.code)
            self.tell(
                f"{first.model} took no batch ({_words(refused.failure)}); nothing of it is asked "
                "or paid. Try `ai-psychiatrist doctor`, or smaller batches (BATCH_MOST_CALLS), "
                "then --resume"
            )
            return
        except ModelCallFailed as failure:
            # It stays in the book without a handle, and is looked for when the run goes on.
            self.is_refused = True
            self.tell(
                f"whether {first.model} took batch {number} is not known ({_words(failure)}): go "
                "on with --resume, which looks for it there before anything is asked again"
            )
            return
        await asyncio.to_thread(book.note, number, BatchEvent.SUBMITTED, handle=handle)
        logger.info("batch_handed_in", model=first.model, count=len(batch))
        self.tell(f"handed in batch {number}: {len(batch)} calls to {first.model}; {_REST}")


def _words(failure: ModelCallFailed) -> str:
    status = "" if failure.http_status is None else f", HTTP status {failure.http_status}"
    return f"{failure.code.value}{status}"
