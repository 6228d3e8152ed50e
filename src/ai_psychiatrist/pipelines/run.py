"""Take every unit through the steps, so that a run can be stopped anywhere and resumed."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Final

import orjson

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to
from ai_psychiatrist.infrastructure.tasks import work_together
from ai_psychiatrist.llm.calls import CallBudget
from ai_psychiatrist.pipelines.contexts import AccumulatedContexts
from ai_psychiatrist.pipelines.export import ExportChoices, export_run
from ai_psychiatrist.pipelines.run_folder import (
    SEED,
    PipelineRequest,
    accumulating,
    begun_pipeline,
    following_steps,
    schemas_of,
)
from ai_psychiatrist.pipelines.turn import Step, Turn
from ai_psychiatrist.store.run_records import AttemptRecord, QueuedUnit, StepCounts
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import PipelineConfig
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

OnUnit = Callable[[str | None], None]
"""Is told of each unit that goes no further: its failure stage, `None` when all steps are valid."""

SUMMARY_NAME: Final = "summary.json"
_RESULTS_FOLDER: Final = "export"
"""As `export` writes it."""
_PRETTY: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
_UNLIMITED: Final = RetryLimits(provider_attempts=sys.maxsize, validation_attempts=sys.maxsize)


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineCounts:
    """Where the units of a run are."""

    units: StepCounts
    """As wholes: valid at the last step, failed at any."""
    steps: Mapping[str, StepCounts]
    model_calls: int
    """Those that reached a model."""

    @property
    def unbalanced(self) -> list[str]:
        """Steps of which a unit is in no place, or in two; empty unless something is broken."""
        return [name for name, one in self.steps.items() if not one.balances]

    @property
    def barren(self) -> list[str]:
        """Steps at which units have failed and none is valid."""
        return [name for name, one in self.steps.items() if one.failed and not one.valid]


async def run_units(
    ledger: RunStore, request: PipelineRequest, steps: Sequence[Step], *, on_unit: OnUnit
) -> Counter[str]:
    """Do what is still to be done, a unit's steps one after the other; units do not wait.

    Returns failure code or HTTP status → units that nothing was decided about because their last
    call ended so. The run stops at a step at which the first `chunk_size` units have failed and
    none is valid, and where so many units in a row have reached no model. Cancelling stops the
    calls under way; what has finished is kept, and the result files are written however it ends.
    Errors of the ledger end the run.
    """
    most = sys.maxsize if request.max_calls is None else request.max_calls
    session = _Session(
        contexts=AccumulatedContexts.of(ledger, request.config),
        steps=steps,
        request=request,
        writer=RunWriter(ledger),
        budget=CallBudget(most - ledger.calls.made()),
        on_unit=on_unit,
    )
    begun, places = begun_pipeline(ledger.folder).retry, list[tuple[str, int]]()
    for number, step in enumerate(steps):
        queue, counts = _queue(ledger, step, request, begun), ledger.counts(step.name)
        places += [(unit.unit_id, number) for unit in queue]
        session.valid[step.name] = counts.valid
        # Failed units that are asked again count when they fail again.
        session.failed[step.name] = counts.failed + counts.pending - len(queue)
    try:
        work = partial(session.work, iter(places))
        await work_together(min(request.concurrency, len(places)), work)
    finally:
        await session.writer.aclose()
        write_results(ledger, request.config)
    return session.left


def counts_of(ledger: RunStore) -> PipelineCounts:
    """Count where the units are, at each step and as wholes."""
    steps = ledger.counts_by_step()
    by_stage = sum((Counter(one.by_stage) for one in steps.values()), Counter[str]())
    units = StepCounts(
        requested=steps[ledger.steps[0]].requested,
        valid=steps[ledger.steps[-1]].valid,
        failed=by_stage.total(),
        pending=sum(one.pending for one in steps.values()),
        by_stage=dict(by_stage),
    )
    return PipelineCounts(units=units, steps=steps, model_calls=ledger.calls.made())


def left_out(config: PipelineConfig) -> list[str]:
    """Return what of a pipeline a run does not do, in words for its account."""
    steps = [f"step {step.name} (scope run)" for step in config.steps if step.scope == "run"]
    scripts = config.file.post_process
    return [*steps, f"post_process ({len(scripts)})"] if isinstance(scripts, list) else steps


def write_results(ledger: RunStore, config: PipelineConfig) -> None:
    """Write valid units, failures and queue of each step, and the counts, which hold no words.

    Raises `InputError` when they cannot be written.
    """
    choices = ExportChoices(
        limits=config.retry, schemas=schemas_of(config), context_of=accumulating(ledger, config)
    )
    export_run(ledger, ledger.folder / _RESULTS_FOLDER, steps=ledger.steps, choices=choices)
    summary = {**asdict(counts_of(ledger)), "not_run": left_out(config)}
    with writing_to(ledger.folder, field="--out"):
        write_whole(ledger.folder / SUMMARY_NAME, [orjson.dumps(summary, option=_PRETTY)])


def _queue(
    ledger: RunStore, step: Step, request: PipelineRequest, begun: RetryLimits
) -> list[QueuedUnit]:
    """Return the units that a step is asked for; `begun`: the limits that the run began with.

    Of the failed ones that are all where that is wanted, else those that have used up what the run
    began with and have attempts left now.
    """
    limits = request.config.retry
    if request.retries_failed and step.models:
        return ledger.queue(step.name, _UNLIMITED)
    pending = ledger.queue(step.name, limits, includes_failed=False)
    if limits == begun or not step.models:
        return pending
    had_attempts = set(ledger.queue(step.name, begun))
    return pending + [one for one in ledger.queue(step.name, limits) if one not in had_attempts]


@dataclass(slots=True, kw_only=True)
class _Session:
    contexts: AccumulatedContexts
    steps: Sequence[Step]
    request: PipelineRequest
    writer: RunWriter
    budget: CallBudget
    on_unit: OnUnit
    valid: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    """Units by step."""
    left: Counter[str] = field(default_factory=Counter)
    unreached: int = 0
    """Units in a row whose calls reached no model."""
    is_over: bool = False
    """Whether no further step is to be begun."""

    async def work(self, places: Iterator[tuple[str, int]]) -> None:
        """Take units until there are none left or the run stops."""
        for unit_id, number in places:
            await self._take(unit_id, self.steps[number:])

    async def _take(self, unit_id: str, steps: Sequence[Step]) -> None:
        """Take a unit from one step to where it goes no further."""
        stage: str | None = None
        for step in steps:
            if self.is_over:
                return
            turn = await asyncio.to_thread(self._turn, unit_id, step)
            await step.answer(turn)
            if not turn.left_for:
                await self.writer.write(partial(self._record, turn.records))
            self._count(turn)
            if turn.left_for:
                return
            stage = turn.records[-1].stage
            if stage is not None:
                break
        self.on_unit(stage)

    def _turn(self, unit_id: str, step: Step) -> Turn:
        ledger = self.contexts.ledger
        row = ledger.last(unit_id, step.name)
        attempt = 1 if row is None else row.newest_attempt + 1
        calls = ledger.calls.of_attempt(unit_id, attempt)
        # Failed units that are asked again have all attempts once more.
        before = None if self.request.retries_failed else row
        return Turn(
            unit_id=unit_id,
            step=step,
            context=self.contexts.at(unit_id, step.name) or b"{}",
            seed=int(ledger.about.get(SEED, 0)),
            limits=self.request.config.retry,
            writer=self.writer,
            budget=self.budget,
            attempt=attempt,
            provider_failures=0 if before is None else before.provider_failures,
            other_failures=0 if before is None else before.other_failures,
            calls=[call for call in calls if call.agent == step.name],
        )

    def _record(self, attempts: Sequence[AttemptRecord]) -> None:
        ledger, last = self.contexts.ledger, attempts[-1]
        ledger.record(attempts)
        following = following_steps(ledger.steps).get(last.step)
        if last.stage is None and following is not None:
            ledger.request(last.unit_id, following)

    def _count(self, turn: Turn) -> None:
        step, most = turn.step, self.request.config.file.processing.chunk_size
        if turn.left_for:
            self.left[turn.left_for] += 1
            self.unreached += 1
            self.is_over |= turn.left_for == FailureCode.CALL_BUDGET_SPENT or self.unreached >= most
            return
        if step.models:
            self.unreached = 0
        counter = self.valid if turn.records[-1].stage is None else self.failed
        counter[step.name] += 1
        self.is_over |= not self.valid[step.name] and self.failed[step.name] >= most
