"""A run in rounds: each unit as far as it comes, what it asks for in batches, and on with replies.

In every round a unit runs from its start with the replies that are kept; one for which nothing is
pending has ended. Each round brings a unit at least one further reply, or spends one of its tries
(`BATCH_TRIES`), and of calls it has a budget, so that rounds come to an end: at that bound a call
fails as it would in a live run.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.evaluation.batches.polling import Polling
from ai_psychiatrist.evaluation.batches.submission import BatchQueue, Submission, Tell
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, OnUnit, RunTally, RunTools
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.session import RunState, run_session, run_state
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.runs.start import BY_BATCHES
from ai_psychiatrist.evaluation.runs.unit_calls import UnitCalls, open_unit
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.llm.batches import BATCH_CALL, BatchCall, BatchModels, EncodedCall
from ai_psychiatrist.llm.settings import BatchSettings
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.errors import LedgerUnusable
from ai_psychiatrist.store.run_batches import BatchRequestRow, SubmittedCall
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore

_ID_DIGITS: Final = 40
_LONGER: Final = 1.5
"""How much longer each wait is than the one before it."""
_MOST_WAIT_SECONDS: Final = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """How calls are submitted, and whether the command waits for them."""

    models: BatchModels
    settings: BatchSettings
    tell: Tell
    waits: bool = False
    hands_in_again: bool = False


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """One run that is made in rounds."""

    tools: RunTools
    folder: RunFolder
    options: EvaluationOptions
    batch: BatchOptions
    tally: RunTally
    watch: Callable[[], AbstractContextManager[OnUnit]]
    """Shows what becomes of units during a round."""

    async def run(self) -> RunState:
        """Go on until all units are done, or wait for batches that are not ready.

        Raises `InputError` for a run that keeps no replies.
        """
        ledger, batch = self.tools.ledger, self.batch
        if not ledger.keeps_raw:
            msg = "--batch needs the replies that it collects: leave out --no-raw"
            raise InputError(msg, field="--no-raw")
        polling = Polling(
            ledger=ledger,
            models=batch.models,
            tell=batch.tell,
            hands_in_again=batch.hands_in_again,
        )
        submission = Submission(
            ledger=ledger,
            models=batch.models,
            queue=BatchQueue(batch.models, batch.settings),
            tell=batch.tell,
        )
        before, seconds = self.tally.paid_calls, batch.settings.poll_seconds
        while True:
            await polling.poll()
            if units := await asyncio.to_thread(self._ready):
                await self._round(units, submission)
                seconds = batch.settings.poll_seconds
            waiting = await asyncio.to_thread(ledger.batches.waiting_calls)
            is_over = submission.is_refused or self.tools.is_served_otherwise
            if not waiting or not batch.waits or is_over:
                break
            batch.tell(f"{waiting} calls wait for their batch; looked at in {seconds:.0f} s")
            await asyncio.sleep(seconds)
            seconds = min(seconds * _LONGER, _MOST_WAIT_SECONDS)
        paid = self.tally.paid_calls - before
        return replace(run_state(self.tools, self.folder, paid_calls=paid), waiting_calls=waiting)

    def _ready(self) -> frozenset[str]:
        """Return the units that are still to be done and have no call in a batch.

        A unit with one has to wait for it: run now, it would ask for the same once more.
        """
        ledger = self.tools.ledger
        queued = ledger.queue(
            ASSESSMENT_STEP, self.tools.limits, includes_failed=self.options.retries_failed
        )
        return frozenset(unit.unit_id for unit in queued) - ledger.batches.waiting_units()

    async def _round(self, units: frozenset[str], submission: Submission) -> None:
        tools = replace(
            self.tools,
            only=units,
            opened=partial(self._opened, submission.queue),
            on_pending=submission.submit_full,
            # Of the hours until a reply comes no deadline of an assessment says anything.
            deadline_seconds=None,
        )
        with self.watch() as on_unit:
            await run_session(tools, self.folder, self.options, tally=self.tally, on_unit=on_unit)
        if not tools.is_served_otherwise:
            await submission.submit_all()

    def _opened(
        self, queue: BatchQueue, ledger: RunStore, unit_id: str, writer: RunWriter
    ) -> UnitCalls:
        calls = open_unit(ledger, unit_id, writer)
        submitted: defaultdict[tuple[str, int], list[SubmittedCall]] = defaultdict(list)
        for one in ledger.batches.of_unit(unit_id, calls.attempt):
            submitted[one.digest, one.occurrence].append(one)
        return _BatchedCalls(
            unit_id=unit_id,
            attempt=calls.attempt,
            writer=writer,
            known=calls.known,
            submitted=submitted,
            tries=self.batch.settings.tries,
            queue=queue,
        )


@dataclass(slots=True, kw_only=True)
class _BatchedCalls(UnitCalls):
    """The store of one attempt at a unit whose calls are answered from batches."""

    submitted: Mapping[tuple[str, int], Sequence[SubmittedCall]]
    """By digest and occurrence, in the order of submission."""
    tries: int
    """How often a call is submitted that batches leave unanswered."""
    queue: BatchQueue

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before, or tell the model what batches know of it."""
        kept = self.known.get((digest, occurrence))
        if kept is None:
            # What this task sends next is the call that it looks for here.
            BATCH_CALL.set(self._in_batches(digest, occurrence))
        return kept

    def _in_batches(self, digest: str, occurrence: int) -> BatchCall:
        before = self.submitted.get((digest, occurrence), ())
        # An id that tells a provider nothing, and that no other submission has.
        known = json.dumps([self.unit_id, self.attempt, digest, occurrence])
        row = BatchRequestRow(
            custom_id=f"{keyed_digest(known, length=_ID_DIGITS)}-{len(before)}",
            unit_id=self.unit_id,
            attempt=self.attempt,
            digest=digest,
            occurrence=occurrence,
        )
        answers = (one.answer for one in before if one.answer and one.answer.body is not None)
        return BatchCall(
            custom_id=row.custom_id,
            answer=next(answers, None),
            is_given_up=sum(one.counts for one in before) >= self.tries,
            note=partial(self._note, row),
        )

    def _note(self, row: BatchRequestRow, call: EncodedCall) -> None:
        self.pending += 1
        self.queue.note(row, call)


def was_made_by_batches(folder: Path, cipher: Cipher | None) -> bool:
    """Return whether a folder holds a run, or runs, that were begun or gone on with by batches."""
    return any(
        _holds_batches(path, cipher)
        for path in (folder, *(run.path for run in RunFolder(folder).inside()))
    )


def _holds_batches(folder: Path, cipher: Cipher | None) -> bool:
    # A ledger of an earlier version, and one that is none, hold no batches.
    with (
        suppress(InputError, LedgerUnusable),
        RunStore.open(folder, cipher=cipher, is_read_only=True) as ledger,
    ):
        # A run may have been killed before its first batch.
        return BY_BATCHES in ledger.about or bool(ledger.batches.all())
    return False
