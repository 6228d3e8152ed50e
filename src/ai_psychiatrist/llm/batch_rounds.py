"""A run in rounds: each unit as far as it comes, what it asks for in batches, and on with replies.

In every round a unit runs from its start with the replies that are kept; one for which nothing is
pending has ended. Each round brings a unit at least one further reply, or spends one of its tries
(`BATCH_TRIES`), and of calls it has a bound of its own, so that rounds come to an end: at that
bound a call fails as it would in a live run.
"""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.model_call import BatchAnswer
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.batches import (
    BATCH_CALL,
    BatchCall,
    BatchModels,
    BatchNotTaken,
    BatchVanished,
    EncodedCall,
)
from ai_psychiatrist.llm.settings import BatchSettings
from ai_psychiatrist.store.run_batches import BatchEvent, BatchRequestRow, BatchRow, SubmittedCall
from ai_psychiatrist.store.runs import RunStore

logger = get_logger(__name__)

_ID_DIGITS: Final = 40
_LONGER: Final = 1.5
"""How much longer each wait is than the one before it."""
_MOST_WAIT_SECONDS: Final = 900.0
_SHORT_LOOKS: Final = 3
"""How often results that are missing are looked for again."""
_MOST_BYTES: Final = 64 << 20
"""Of one batch; they are held in memory while it is submitted."""
_REST: Final = (
    "their prompts hold what people said, and rest at the provider until the results are collected "
    "and deleted there, or expire"
)

Tell: TypeAlias = Callable[[str], None]
"""Says a line to whoever runs the command; it holds counts, ids and codes alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """How calls are submitted, and whether the command waits for them."""

    models: BatchModels
    settings: BatchSettings
    tell: Tell
    waits: bool = False
    hands_in_again: bool = False
    """Whether calls are submitted anew whose batch is not known any more."""

    def rounds(self, ledger: RunStore, *, asks_on: bool = False) -> "Rounds":
        """Return the rounds of one session of a run. `asks_on`: as `Rounds` has it."""
        return Rounds(ledger, self, asks_on=asks_on)


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


class Rounds:
    """One session of a run whose calls are answered by batches."""

    def __init__(self, ledger: RunStore, options: BatchOptions, *, asks_on: bool = False) -> None:
        """`asks_on`: whether a later session submits calls again that batches left unanswered."""
        self.queue = BatchQueue(options.models, options.settings)
        self.tries, self.asks_on = options.settings.tries, asks_on
        self.collected: set[str] = set()
        """Ids of the calls whose batch ended in this session."""
        self.is_closed = False
        """Whether no further batch is submitted in this session, such as after a refused one."""
        self._ledger, self._options = ledger, options
        self._models, self._tell = options.models, options.tell

    async def run(self, work: Callable[[], Awaitable[object]]) -> int:
        """Go on until all units are done, or wait for batches that are not ready.

        `work`: takes the units that have no call in a batch as far as they come; one with such a
        call would ask for the same once more. Returns how many calls wait for their batch.
        """
        first_seconds = self._options.settings.poll_seconds
        waiting, seconds = 0, first_seconds
        while True:
            await self._poll()
            await work()
            await self._submit_all(self.queue.all())
            before, waiting = waiting, await asyncio.to_thread(self._ledger.batches.waiting_calls)
            if not waiting or not self._options.waits or self.is_closed:
                return waiting
            seconds = first_seconds if waiting != before else seconds
            self._tell(f"{waiting} calls wait for their batch; looked at in {seconds:.0f} s")
            await asyncio.sleep(seconds)
            seconds = min(seconds * _LONGER, _MOST_WAIT_SECONDS)

    def of_unit(self, unit_id: str, attempt: int) -> "UnitBatches":
        """Return what batches hold of an attempt at a unit."""
        submitted: defaultdict[tuple[str, int], list[SubmittedCall]] = defaultdict(list)
        last_id = None
        for one in self._ledger.batches.of_unit(unit_id, attempt):
            submitted[one.digest, one.occurrence].append(one)
            last_id = one.custom_id
        return UnitBatches(
            rounds=self, unit_id=unit_id, attempt=attempt, submitted=submitted, last_id=last_id
        )

    async def submit_full(self) -> None:
        """Submit what fills batches."""
        await self._submit_all(self.queue.full())

    async def _submit_all(self, batches: Sequence[Sequence[QueuedCall]]) -> None:
        for batch in batches:
            if not self.is_closed:
                await self._submit(batch)

    async def _submit(self, batch: Sequence[QueuedCall]) -> None:
        """Note what is about to be submitted, submit it, and keep its handle."""
        first, book = batch[0].call, self._ledger.batches
        number = await asyncio.to_thread(
            book.intend, first.model, first.group, [one.row for one in batch]
        )
        try:
            handle = await self._models.submit(first.model, [one.call for one in batch])
        except BatchNotTaken as refused:
            await asyncio.to_thread(book.note, number, BatchEvent.REFUSED)
            self.is_closed = True
            logger.warning("batch_refused", model=first.model, code=refused.failure.code)
            self._tell(
                f"{first.model} took no batch ({_words(refused.failure)}); nothing of it is asked "
                "or paid. Try `ai-psychiatrist doctor`, or smaller batches (BATCH_MOST_CALLS), "
                "then --resume"
            )
            return
        except ModelCallFailed as failure:
            # It stays in the book without a handle, and is looked for when the run goes on.
            self.is_closed = True
            self._tell(
                f"whether {first.model} took batch {number} is not known ({_words(failure)}): "
                "continue with --resume, which looks for it there before anything is asked again"
            )
            return
        await asyncio.to_thread(book.note, number, BatchEvent.SUBMITTED, handle=handle)
        logger.info("batch_handed_in", model=first.model, count=len(batch))
        self._tell(f"submitted batch {number}: {len(batch)} calls to {first.model}; {_REST}")

    async def _poll(self) -> None:
        """Ask after every batch that is waited for, and collect those that have ended."""
        for batch in await asyncio.to_thread(self._ledger.batches.waited_for):
            try:
                await self._look_at(batch)
            except BatchVanished:
                await self._vanished(batch)
            except ModelCallFailed as failure:
                self._tell(
                    f"batch {batch.number} of {batch.model} cannot be looked at now "
                    f"({failure.code.value}); nothing of it is lost"
                )

    async def _look_at(self, batch: BatchRow) -> None:
        handle = batch.handle or await self._found_again(batch)
        if handle is None:
            return
        status = await self._models.status(batch.model, handle)
        if not status.has_ended:
            return
        answers = await self._models.answers(batch.model, status.handle)
        if await self._keep(batch, answers):
            await self._models.forget(batch.model, status.handle)

    async def _keep(self, batch: BatchRow, answers: Sequence[BatchAnswer]) -> bool:
        """Keep what came; returns whether no more of the batch is waited for."""
        book = self._ledger.batches
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
        if is_over:
            self.collected |= units
        self._tell_results(batch, best.values(), missing=len(units) - len(best), unknown=unknown)
        if not is_over:
            self._tell(f"  batch {batch.number} is looked at again before they count as lost")
        logger.info("batch_collected", model=batch.model, count=len(best))
        return is_over

    def _tell_results(
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
        self._tell(f"collected batch {batch.number}: {replies} replies{others}")

    async def _found_again(self, batch: BatchRow) -> str | None:
        """Return the lost handle of a batch from the provider's list, `None` if it is not there."""
        book = self._ledger.batches
        calls = await asyncio.to_thread(book.of_batch, batch.number)
        others = await asyncio.to_thread(book.all)
        found = await self._models.find(
            batch.model,
            group=batch.group,
            since=batch.recorded_at,
            ids=[one.custom_id for one in calls],
            known=[one.handle for one in others if one.handle is not None],
        )
        if found is not None and len(found) == 1:
            await asyncio.to_thread(book.note, batch.number, BatchEvent.SUBMITTED, handle=found[0])
            self._tell(f"batch {batch.number}, whose handle was lost, is at {batch.model}")
            return found[0]
        if found == []:
            await asyncio.to_thread(book.note, batch.number, BatchEvent.NOT_THERE)
            self._tell(f"batch {batch.number} never reached {batch.model}: it is submitted again")
        elif self._options.hands_in_again:
            await asyncio.to_thread(book.note, batch.number, BatchEvent.GIVEN_UP)
        else:
            when = batch.recorded_at.strftime("%Y-%m-%d %H:%M UTC")
            self._tell(
                f"batch {batch.number} ({batch.calls} calls) may have been submitted to "
                f"{batch.model} at {when}, where it cannot be identified. Look at the "
                "provider's list of batches; --resume --hand-in-again makes its calls again, which "
                "are paid twice if it was"
            )
        return None

    async def _vanished(self, batch: BatchRow) -> None:
        if self._options.hands_in_again:
            book = self._ledger.batches
            await asyncio.to_thread(book.note, batch.number, BatchEvent.GIVEN_UP)
            self._tell(f"batch {batch.number} is gone from {batch.model}: it is submitted again")
        else:
            self._tell(
                f"{batch.model} no longer has batch {batch.number} ({batch.calls} calls). Check "
                "that the key is of the account that submitted it; --resume --hand-in-again makes "
                "its calls again, which are paid twice if it was made"
            )


@dataclass(slots=True, kw_only=True)
class UnitBatches:
    """What batches hold of one attempt at a unit, and its calls for the next one."""

    rounds: Rounds
    unit_id: str
    attempt: int
    submitted: Mapping[tuple[str, int], Sequence[SubmittedCall]]
    """By digest and occurrence, in the order of submission."""
    last_id: str | None
    """Of the last one of all."""
    given: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How many answers of each call were given already: they were not worth keeping."""
    pending: int = 0
    """How many calls the next batch has to answer; until then the unit has not ended."""

    @property
    def submissions(self) -> int:
        """How often calls of the attempt were in a batch."""
        return sum(map(len, self.submitted.values()))

    def expect(self, digest: str, occurrence: int) -> BatchCall:
        """Tell the model what batches know of a call: the next that the running task sends.

        A call that is asked for once more gets its next answer: the last one reached no model.
        """
        before = self.submitted.get((digest, occurrence), ())
        answers = [
            one.answer for one in before if one.answer is not None and one.answer.body is not None
        ]
        left = answers[self.given[digest, occurrence] :]
        self.given[digest, occurrence] += 1
        is_given_up = (
            not left
            and sum(one.counts for one in before) >= self.rounds.tries
            and not (self.rounds.asks_on and self._is_asked_on(before[-1].custom_id))
        )
        # An id that tells a provider nothing, and that no other submission has.
        known = json.dumps([self.unit_id, self.attempt, digest, occurrence])
        row = BatchRequestRow(
            custom_id=f"{keyed_digest(known, length=_ID_DIGITS)}-{len(before)}",
            unit_id=self.unit_id,
            attempt=self.attempt,
            digest=digest,
            occurrence=occurrence,
        )
        call = BatchCall(
            custom_id=row.custom_id,
            # The last answer says more of a call that is given up than that it was.
            answer=next(iter(left or (answers[-1:] if is_given_up else [])), None),
            is_submitted=bool(before),
            is_given_up=is_given_up,
            note=partial(self._note, row),
        )
        BATCH_CALL.set(call)
        return call

    def _is_asked_on(self, custom_id: str) -> bool:
        """Return whether an earlier session ended with this submission: no call followed it."""
        return custom_id == self.last_id and custom_id not in self.rounds.collected

    def _note(self, row: BatchRequestRow, call: EncodedCall) -> None:
        self.pending += 1
        self.rounds.queue.note(row, call)


def _words(failure: ModelCallFailed) -> str:
    status = "" if failure.http_status is None else f", HTTP status {failure.http_status}"
    return f"{failure.code.value}{status}"
