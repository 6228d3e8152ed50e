"""Take every unit through the steps, so that a run can be stopped anywhere and gone on with."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ai_psychiatrist.infrastructure.tasks import work_together
from ai_psychiatrist.ledger.ledger_writer import LedgerWriter
from ai_psychiatrist.ledger.recheck.accumulated_context import AccumulatedContexts
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.ledger.store.records import AttemptRecord
from ai_psychiatrist.llm.calls import CallBudget
from ai_psychiatrist.pipelines.results import write_results
from ai_psychiatrist.pipelines.run_folder import following_steps
from ai_psychiatrist.pipelines.step_turn import RunnableStep, open_turn
from ai_psychiatrist.validation.config.pipeline import PipelineConfig

OnUnit = Callable[[str | None], None]
"""Is told of each unit that goes no further: its failure stage, `None` when all steps are valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineOptions:
    """How much is done at once, and when to stop."""

    concurrency: int = 8
    """Units under way at the same time."""
    max_calls: int | None = None
    """Most model calls of the whole run, earlier sessions included."""
    retries_failed: bool = False
    """Whether units that a model failed are done anew, where attempts are left."""
    first_units: int = 100
    """A step at which so many units have failed and none is valid ends the run."""
    not_run: Sequence[str] = ()
    """What of the pipeline is left out, for the counts."""


@dataclass(slots=True, kw_only=True)
class Stop:
    """Why a run stops before all is done."""

    hit_max_calls: bool = False
    barren_step: str | None = None
    """None of whose first units is valid."""

    @property
    def is_due(self) -> bool:
        """Whether no further step is to be begun."""
        return self.hit_max_calls or self.barren_step is not None


async def run_units(
    ledger: Ledger,
    config: PipelineConfig,
    steps: Sequence[RunnableStep],
    options: PipelineOptions,
    *,
    on_unit: OnUnit,
) -> Stop:
    """Do what is still to be done, a unit's steps one after the other; units do not wait.

    Cancelling stops the calls under way; what has finished is kept, and the result files are
    written however it ends. Errors of the ledger end the run.
    """
    places = [
        (unit.unit_id, number)
        for number, step in enumerate(steps)
        for unit in ledger.queue(
            step.name, config.retry, includes_failed=options.retries_failed and step.asks_models
        )
    ]
    contexts, writer = AccumulatedContexts.of(ledger, config), LedgerWriter(ledger)
    session = _Session(contexts, steps, options, writer, on_unit)
    try:
        work = partial(session.work, iter(places))
        await work_together(min(options.concurrency, len(places)), work)
    finally:
        await writer.aclose()
        write_results(ledger, config, not_run=options.not_run)
    return session.stop


class _Session:
    def __init__(
        self,
        contexts: AccumulatedContexts,
        steps: Sequence[RunnableStep],
        options: PipelineOptions,
        writer: LedgerWriter,
        on_unit: OnUnit,
    ) -> None:
        ledger = contexts.ledger
        most = sys.maxsize if options.max_calls is None else options.max_calls
        self.stop = Stop()
        self._contexts = contexts
        self._steps = steps
        self._first_units = options.first_units
        self._writer = writer
        self._on_unit = on_unit
        self._budget = CallBudget(most - ledger.calls.made())
        by_step = ledger.counts_by_step()
        self._following = following_steps(ledger.steps)
        self._valid = Counter({step: counts.valid for step, counts in by_step.items()})
        self._failed: Counter[str] = Counter()
        if not options.retries_failed:
            self._failed.update({step: counts.failed for step, counts in by_step.items()})

    async def work(self, places: Iterator[tuple[str, int]]) -> None:
        """Take units until there are none left or the run stops."""
        for unit_id, number in places:
            if self.stop.is_due:
                return
            await self._go_on(unit_id, number)

    async def _go_on(self, unit_id: str, number: int) -> None:
        """Take a unit from one step to where it goes no further."""
        stage: str | None = None
        for step in self._steps[number:]:
            if self.stop.is_due:
                return
            turn = await self._writer.between_writes(
                partial(open_turn, self._contexts, unit_id, step.name)
            )
            attempts = await step.take(turn, self._writer, self._budget)
            if attempts is None:
                self.stop.hit_max_calls = True
                return
            await self._writer.write(partial(self._record, attempts))
            stage = attempts[-1].stage
            self._count(step.name, stage)
            if stage is not None:
                break
        self._on_unit(stage)

    def _record(self, attempts: Sequence[AttemptRecord]) -> None:
        ledger, last = self._contexts.ledger, attempts[-1]
        ledger.record(attempts)
        following = self._following.get(last.step)
        if last.stage is None and following is not None:
            ledger.request(last.unit_id, following)

    def _count(self, step: str, stage: str | None) -> None:
        if stage is None:
            self._valid[step] += 1
            return
        self._failed[step] += 1
        if not self._valid[step] and self._failed[step] >= self._first_units:
            self.stop.barren_step = step
