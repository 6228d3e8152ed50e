"""Take every unit through the steps, so that a run can be stopped anywhere and resumed."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import orjson

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.infrastructure.private_files import write_whole, writing_to
from ai_psychiatrist.infrastructure.tasks import Pending, work_together
from ai_psychiatrist.llm.calls import CallBudget
from ai_psychiatrist.pipelines.export import ExportChoices, export_run
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun
from ai_psychiatrist.pipelines.run_folder import (
    SEED,
    PipelineRequest,
    begun_pipeline,
    schemas_of,
)
from ai_psychiatrist.pipelines.turn import Step, Turn
from ai_psychiatrist.store.run_records import QueuedUnit, StepCounts
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import PipelineConfig
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import BatchOptions, Rounds

OnUnit = Callable[[str | None], None]
"""Is told of each unit that goes no further: its failure stage, `None` when all steps are valid."""

Watch: TypeAlias = Callable[[StepCounts], AbstractContextManager[OnUnit]]
"""Given where the units are as wholes, shows what becomes of them while a block runs."""

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
    ledger: RunStore,
    request: PipelineRequest,
    steps: Sequence[Step],
    *,
    watch: Watch,
    batch: "BatchOptions | None" = None,
) -> Counter[str]:
    """Do what is still to be done, a unit's steps one after the other; units do not wait.

    `batch`: how calls are submitted where batches answer them. Returns failure code or HTTP status
    → units that nothing was decided about because their last call ended so. The run stops at a step
    at which the first `chunk_size` units have failed and none is valid, and where so many units in
    a row have reached no model. Cancelling stops the calls under way; what has finished is kept,
    and the result files are written however it ends. Errors of the ledger end the run.
    """
    rounds = None if batch is None else batch.rounds(ledger, asks_on=True)
    most = sys.maxsize if request.max_calls is None else request.max_calls
    made = ledger.calls.made()
    if rounds is not None:
        made += sum(ledger.batches.unkept().values())
    session = _Session(
        run=PipelineRun(store=ledger, config=request.config),
        steps=steps,
        request=request,
        begun=begun_pipeline(ledger.folder).retry,
        writer=RunWriter(ledger),
        budget=CallBudget(most - made),
        watch=watch,
        rounds=rounds,
    )
    try:
        await (session.take() if rounds is None else rounds.run(session.take))
    finally:
        await session.writer.aclose()
        write_results(session.run)
    return Counter(session.left.values())


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


def write_results(run: PipelineRun) -> None:
    """Write valid units, failures and queue of each step, and the counts, which hold no words.

    Raises `InputError` when they cannot be written.
    """
    store = run.store
    choices = ExportChoices(schemas=schemas_of(run.config))
    export_run(run, store.folder / _RESULTS_FOLDER, steps=store.steps, choices=choices)
    summary = {**asdict(counts_of(store)), "not_run": left_out(run.config)}
    with writing_to(store.folder, field="--out"):
        write_whole(store.folder / SUMMARY_NAME, [orjson.dumps(summary, option=_PRETTY)])


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
    run: PipelineRun
    steps: Sequence[Step]
    request: PipelineRequest
    begun: RetryLimits
    """The limits that the run began with."""
    writer: RunWriter
    budget: CallBudget
    watch: Watch
    rounds: "Rounds | None"
    """Answers the calls by batches; `None` where models are asked live."""
    valid: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    """Units by step."""
    asked: dict[str, set[str]] = field(default_factory=dict)
    """By step those that have a call in a batch, and have not ended there."""
    noted: set[str] = field(default_factory=set)
    """Units that have a call for the next batch."""
    held: set[str] = field(default_factory=set)
    """Steps before which units were held back until one is valid there."""
    over: set[str] = field(default_factory=set)
    """Units that failed in this session."""
    left: dict[str, str] = field(default_factory=dict)
    """Units that nothing was decided about, and why."""
    unreached: int = 0
    """Units in a row whose calls reached no model."""
    is_over: bool = False
    """Whether no further step is to be begun."""

    async def take(self) -> None:
        """Take the units that are left, and wait for no batch, as far as they come."""
        self.noted.clear()
        while places := await asyncio.to_thread(self._places):
            self.held.clear()
            each = iter(places)
            with self.watch(counts_of(self.run.store).units) as on_unit:
                work = partial(self._work, each, on_unit)
                await work_together(min(self.request.concurrency, len(places)), work)
            if not any(self.valid[name] for name in self.held):
                return

    def _places(self) -> list[tuple[str, int]]:
        """Count where the units are, and return those to take, each with the number of its step."""
        ledger, places = self.run.store, list[tuple[str, int]]()
        asked, skipped = set(self.noted), self.noted | self.left.keys()
        if self.rounds is not None:
            asked |= ledger.batches.unkept().keys()
            skipped |= ledger.batches.waiting_units()
        for number, step in enumerate(self.steps):
            queue = [
                unit.unit_id
                for unit in _queue(ledger, step, self.request, self.begun)
                if unit.unit_id not in self.over
            ]
            counts = ledger.counts(step.name)
            self.valid[step.name] = counts.valid
            # Failed units that are asked again count when they fail again.
            self.failed[step.name] = counts.failed + counts.pending - len(queue)
            self.asked[step.name] = asked.intersection(queue)
            places += [(unit, number) for unit in queue if unit not in skipped]
        return places

    async def _work(self, places: Iterator[tuple[str, int]], on_unit: OnUnit) -> None:
        for unit_id, number in places:
            await self._take(unit_id, self.steps[number:], on_unit)

    async def _take(self, unit_id: str, steps: Sequence[Step], on_unit: OnUnit) -> None:
        """Take a unit from one step to where it goes no further."""
        stage: str | None = None
        for step in steps:
            if self.is_over or self._is_held(unit_id, step):
                return
            turn = await asyncio.to_thread(self._turn, unit_id, step)
            with suppress(Pending):
                await step.answer(turn)
            if turn.batches is not None and turn.batches.pending:
                self.asked[step.name].add(unit_id)
                self.noted.add(unit_id)
                await turn.batches.rounds.submit_full()
                return
            if not turn.left_for:
                await self.writer.write(partial(self.run.record, turn.records))
            self._count(turn)
            if turn.left_for:
                return
            stage = turn.records[-1].stage
            if stage is not None:
                break
        on_unit(stage)

    def _is_held(self, unit_id: str, step: Step) -> bool:
        """Return whether a unit is not asked yet: all of a round is paid before any answer comes.

        As in a live run `chunk_size` units are to show first that one can be valid.
        """
        asked = self.asked[step.name]
        if self.rounds is None or not step.models or self.valid[step.name] or unit_id in asked:
            return False
        if self.failed[step.name] + len(asked) < self.request.config.file.processing.chunk_size:
            return False
        self.held.add(step.name)
        return True

    def _turn(self, unit_id: str, step: Step) -> Turn:
        ledger = self.run.store
        row = ledger.last(unit_id, step.name)
        attempt = 1 if row is None else row.newest_attempt + 1
        calls = ledger.calls.of_attempt(unit_id, attempt)
        # Failed units that are asked again have all attempts once more.
        before = None if self.request.retries_failed else row
        return Turn(
            unit_id=unit_id,
            step=step,
            context=self.run.context(unit_id, step.name) or b"{}",
            seed=int(ledger.about.get(SEED, 0)),
            limits=self.request.config.retry,
            writer=self.writer,
            budget=self.budget,
            attempt=attempt,
            provider_failures=0 if before is None else before.provider_failures,
            other_failures=0 if before is None else before.other_failures,
            calls=[call for call in calls if call.agent == step.name],
            batches=None if self.rounds is None else self.rounds.of_unit(unit_id, attempt),
        )

    def _count(self, turn: Turn) -> None:
        step, most = turn.step, self.request.config.file.processing.chunk_size
        if turn.left_for:
            self.left[turn.unit_id] = turn.left_for
            self.unreached += 1
            is_spent = turn.left_for == FailureCode.CALL_BUDGET_SPENT
            self.is_over |= self.rounds is None and (is_spent or self.unreached >= most)
            return
        if step.models:
            self.unreached = 0
        self.asked[step.name].discard(turn.unit_id)
        if turn.records[-1].stage is None:
            self.valid[step.name] += 1
            return
        self.failed[step.name] += 1
        self.over.add(turn.unit_id)
        is_barren = not self.valid[step.name] and self.failed[step.name] >= most
        if self.rounds is None:
            self.is_over |= is_barren
        else:
            # What batches have answered is paid, and looked at all the same.
            self.rounds.is_closed |= is_barren
