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
from ai_psychiatrist.pipelines.export import export_run
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun
from ai_psychiatrist.pipelines.run_folder import (
    RESULTS_FOLDER,
    SEED,
    SUMMARY_NAME,
    PipelineRequest,
    begun_limits,
    retried_units,
)
from ai_psychiatrist.pipelines.unit_step import Step, UnitStep
from ai_psychiatrist.store.run_records import CurrentRow, StepCounts
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.config.pipeline import PipelineConfig
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import BatchOptions, Rounds

OnStep: TypeAlias = Callable[[str, str | None], None]
"""Called when a unit has ended at a step: its name, and the failure stage or `None`."""

Watch: TypeAlias = Callable[[Mapping[str, StepCounts]], AbstractContextManager[OnStep]]
"""Shows where the units are, step by step, while a block runs."""

_PRETTY: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSummary(StepCounts):
    """Where the units of one step are, and what was noted about their last answers."""

    warnings: Mapping[str, int]
    """Rule → how often it warns."""
    coercions: int
    """Values that were read from another type or spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """Where the units of a run are; holds no words of theirs."""

    units: StepCounts
    """As wholes: valid at the last step, failed at any."""
    steps: Mapping[str, StepSummary]
    model_calls: int
    """Those that reached a model."""
    not_run: Sequence[str]
    """What of the pipeline is left out, in words."""
    stopped_at: str | None
    """The step at which units have failed and none is valid."""

    @property
    def unbalanced(self) -> list[str]:
        """Steps of which a unit is in no place, or in two; empty unless something is broken."""
        return [name for name, one in self.steps.items() if not one.balances]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a session of a run ended."""

    summary: RunSummary
    left: Counter[str]
    """Failure code or HTTP status → units that are undecided because their last call ended so."""
    waiting_calls: int
    """Calls in batches whose results are not there yet."""


async def run_units(
    ledger: RunStore,
    request: PipelineRequest,
    steps: Sequence[Step],
    *,
    watch: Watch,
    batch: "BatchOptions | None" = None,
) -> RunEnd:
    """Do what is still to be done, a unit's steps one after the other; units do not wait.

    `batch`: how calls are submitted where batches answer them. The run stops at a step at which the
    first `chunk_size` units have failed and none is valid, and where so many units in a row have
    reached no model. Cancelling stops the calls under way; what has finished is kept, and the
    result files are written however it ends. Errors of the ledger end the run.
    """
    rounds = None if batch is None else batch.rounds(ledger, asks_on=True)
    waiting = 0 if rounds is None else ledger.batches.unkept().total()
    most = sys.maxsize if request.max_calls is None else request.max_calls
    session = _Session(
        run=PipelineRun(store=ledger, config=request.config),
        steps=steps,
        begun=begun_limits(ledger),
        retried=retried_units(ledger),
        concurrency=request.concurrency,
        writer=RunWriter(ledger),
        budget=CallBudget(most - ledger.calls.made() - waiting),
        watch=watch,
        rounds=rounds,
    )
    try:
        await (session.take() if rounds is None else rounds.run(session.take))
    finally:
        await session.writer.aclose()
        waiting_calls = 0 if rounds is None else ledger.batches.waiting_calls()
        summary = write_results(session.run, is_waiting=waiting_calls > 0)
    return RunEnd(summary=summary, left=session.left, waiting_calls=waiting_calls)


def write_results(run: PipelineRun, *, is_waiting: bool = False) -> RunSummary:
    """Write valid units, failures and queue of each step, and the summary, which is returned.

    `is_waiting`: whether a batch may still give a valid unit. Raises `InputError` when they cannot
    be written.
    """
    store = run.store
    exports = export_run(run, store.folder / RESULTS_FOLDER, steps=store.steps)
    counts = store.counts_by_step()
    by_stage = sum((Counter(one.by_stage) for one in counts.values()), Counter[str]())
    barren = [name for name, one in counts.items() if one.failed and not one.valid]
    summary = RunSummary(
        units=StepCounts(
            requested=counts[store.steps[0]].requested,
            valid=counts[store.steps[-1]].valid,
            failed=by_stage.total(),
            pending=sum(one.pending for one in counts.values()),
            by_stage=dict(by_stage),
        ),
        steps={
            step: StepSummary(
                **asdict(counts[step]), warnings=one.warnings, coercions=one.coercions
            )
            for step, one in exports.items()
        },
        model_calls=store.calls.made(),
        not_run=_left_out(run.config),
        stopped_at=None if is_waiting else next(iter(barren), None),
    )
    with writing_to(store.folder, field="--out"):
        write_whole(store.folder / SUMMARY_NAME, [orjson.dumps(asdict(summary), option=_PRETTY)])
    return summary


def _left_out(config: PipelineConfig) -> list[str]:
    """Return what of a pipeline a run does not do, in words."""
    steps = [f"step {step.name} (scope run)" for step in config.steps if step.scope == "run"]
    scripts = config.file.post_process
    return [*steps, f"post_process ({len(scripts)})"] if isinstance(scripts, list) else steps


@dataclass(slots=True, kw_only=True)
class _Session:
    """One session of a run, from its start to where nothing more can be done."""

    run: PipelineRun
    steps: Sequence[Step]
    begun: RetryLimits
    """The limits that the run began with."""
    retried: Mapping[str, Mapping[str, int]]
    """Step → unit that is to be asked again → its newest attempt before."""
    concurrency: int
    writer: RunWriter
    budget: CallBudget
    watch: Watch
    rounds: "Rounds | None"
    """Answers the calls by batches; `None` where models are asked live."""
    tallies: dict[str, Counter[bool]] = field(default_factory=dict)
    """By step how many units are valid there (`True`) and how many failed."""
    noted: set[str] = field(default_factory=set)
    """Units that have a call for the next batch."""
    ended: set[str] = field(default_factory=set)
    """Units that go no further in this session."""
    left: Counter[str] = field(default_factory=Counter)
    """Why units are left undecided; each is among those that ended."""
    unreached: int = 0
    """Units in a row whose calls reached no model."""
    is_over: bool = False
    """Whether no further step is to be begun."""

    @property
    def chunk(self) -> int:
        """How many units may fail at a step before the first one is valid there."""
        return self.run.config.file.processing.chunk_size

    async def take(self) -> None:
        """Take the units that are left, and wait for no batch, as far as they come."""
        self.noted.clear()
        while not self.is_over and (due := await asyncio.to_thread(self._due)):
            each = iter(due)
            with self.watch(self.run.store.counts_by_step()) as on_step:
                work = partial(self._work, each, on_step)
                await work_together(min(self.concurrency, len(due)), work)

    def _due(self) -> list[tuple[str, int]]:
        """Count where the units are, and return those to take, each with the number of its step.

        By batches all of a round is paid before any answer comes: as in a live run, `chunk_size`
        units are to show first that one can be valid.
        """
        ledger, due = self.run.store, list[tuple[str, int]]()
        skipped, asked = self.ended | self.noted, set(self.noted)
        if self.rounds is not None:
            skipped |= ledger.batches.waiting_units()
            asked |= ledger.batches.unkept().keys()
        for number, step in enumerate(self.steps):
            counts, (pending, again) = ledger.counts(step.name), self._queue(step)
            queue = [*pending, *again]
            # Failed units that are asked again count when they fail again.
            failed = counts.failed - len(again)
            self.tallies[step.name] = Counter({True: counts.valid, False: failed})
            room = len(queue)
            if self.rounds is not None and step.models and not counts.valid:
                room = self.chunk - failed - len(asked.intersection(queue))
            for unit in queue:
                room -= unit not in asked
                if unit not in skipped and (unit in asked or room >= 0):
                    due.append((unit, number))
        return due

    def _queue(self, step: Step) -> tuple[list[str], list[str]]:
        """Return the units that a step is pending for, and the failed ones to be asked again.

        These are the ones that `--retry-failed` was given for, and those that have used up what the
        run began with and have attempts left now.
        """
        ledger, limits = self.run.store, self.run.config.retry
        pending = ledger.queue(step.name, limits, includes_failed=False)
        again: list[str] = []
        if step.models and self.retried.get(step.name):
            rows = ledger.current(step.name, is_failed=True)
            again += [row.record.unit_id for row in rows if self._is_retried(row)]
        if limits != self.begun and step.models:
            had_attempts = {*pending, *ledger.queue(step.name, self.begun)}
            more = ledger.queue(step.name, limits)
            again += [unit.unit_id for unit in more if unit not in had_attempts]
        again = [unit for unit in dict.fromkeys(again) if unit not in self.ended]
        return [unit.unit_id for unit in pending], again

    def _is_retried(self, row: CurrentRow) -> bool:
        marked = self.retried.get(row.record.step, {})
        return marked.get(row.record.unit_id) == row.newest_attempt

    async def _work(self, due: Iterator[tuple[str, int]], on_step: OnStep) -> None:
        for unit_id, number in due:
            # By batches the next step waits for the next count of how many may be asked there.
            end = len(self.steps) if self.rounds is None else number + 1
            for step in self.steps[number:end]:
                if self.is_over or not await self._take(unit_id, step, on_step):
                    break

    async def _take(self, unit_id: str, step: Step, on_step: OnStep) -> bool:
        """Take a unit through a step; returns whether it is valid there and goes on."""
        work = await asyncio.to_thread(self._open, unit_id, step)
        with suppress(Pending):
            await step.answer(work)
        if self.rounds is not None and work.batches is not None and work.batches.pending:
            self.noted.add(unit_id)
            await self.rounds.submit_full()
            return False
        if work.left_for:
            self.ended.add(unit_id)
            self.left[work.left_for] += 1
            self.unreached += 1
            is_spent = work.left_for == FailureCode.CALL_BUDGET_SPENT
            self.is_over |= self.rounds is None and (is_spent or self.unreached >= self.chunk)
            return False
        await self.writer.write(partial(self.run.record, work.records))
        stage, tally = work.records[-1].stage, self.tallies[step.name]
        tally[stage is None] += 1
        if step.models:
            self.unreached = 0
        if stage is not None:
            self.ended.add(unit_id)
        on_step(step.name, stage)
        is_barren = not tally[True] and tally[False] >= self.chunk
        if self.rounds is None:
            self.is_over |= is_barren
        else:
            # What batches have answered is paid, and looked at all the same.
            self.rounds.is_closed |= is_barren
        return stage is None

    def _open(self, unit_id: str, step: Step) -> UnitStep:
        ledger, limits = self.run.store, self.run.config.retry
        row = ledger.last(unit_id, step.name)
        attempt = 1 if row is None else row.newest_attempt + 1
        calls = ledger.calls.of_attempt(unit_id, attempt)
        if row is not None and not self._is_retried(row):
            limits = RetryLimits(
                provider_attempts=limits.provider_attempts - row.provider_failures,
                validation_attempts=limits.validation_attempts - row.other_failures,
            )
        return UnitStep(
            unit_id=unit_id,
            step=step,
            context=self.run.context(unit_id, step.name) or b"{}",
            seed=int(ledger.about.get(SEED, 0)),
            limits=limits,
            writer=self.writer,
            budget=self.budget,
            attempt=attempt,
            calls=[call for call in calls if call.agent == step.name],
            batches=None if self.rounds is None else self.rounds.of_unit(unit_id, attempt),
        )
