"""Runs in the database: their units are in its queue, and any process may do them."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from pydantic import TypeAdapter

from ai_psychiatrist.agents.contracts.contract import shipped_contract
from ai_psychiatrist.agents.prompts.tasks import tasks_in
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    InputError,
    StoreUnusable,
)
from ai_psychiatrist.domain.failures import FailureCategory
from ai_psychiatrist.evaluation.pricing.plan import RunPlan
from ai_psychiatrist.evaluation.pricing.prices import GivenPrice, PriceList
from ai_psychiatrist.evaluation.pricing.spending import CallPrices
from ai_psychiatrist.evaluation.runs.cost_file import read_cost
from ai_psychiatrist.evaluation.runs.provenance import changes_of, gone_on_with, mode_of
from ai_psychiatrist.evaluation.runs.run import (
    EvaluationOptions,
    OnUnit,
    RunState,
    RunTally,
    RunTools,
    run_session,
    state_of,
    write_files,
)
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder, json_bytes
from ai_psychiatrist.evaluation.runs.served_models import ServedModels, served_in, served_together
from ai_psychiatrist.evaluation.runs.unit import (
    ASSESSMENT_STEP,
    FinishedUnit,
    UnitSource,
    UnitTools,
    failed_unit,
    made_unit,
    open_unit,
    record_unit,
    source_in,
)
from ai_psychiatrist.infrastructure.digests import using_installation_key
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.tasks import patiently
from ai_psychiatrist.interface.deciding import made_with
from ai_psychiatrist.jobs.engine import Engine
from ai_psychiatrist.pipelines.run_folder import PROMPT_KEY
from ai_psychiatrist.store.jobs import MOST_TAKEN, JobRef
from ai_psychiatrist.store.queue import Takes
from ai_psychiatrist.store.run_places import RECORD_NAME
from ai_psychiatrist.store.run_records import StepCounts
from ai_psychiatrist.store.run_writer import RunWriter
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.store.tenant_runs import TenantRuns
from ai_psychiatrist.wiring import Services
from ai_psychiatrist.wiring.jobs import tending

logger = get_logger(__name__)

T = TypeVar("T")

_PLAN: Final = "plan.json"
"""What the run was planned to take, for who has no dataset."""
_LOOK_SECONDS: Final = 0.5
_MOST_REASON: Final = 160
"""What a line of the log takes."""
_OF_DATASET: Final = (
    "schema_version",
    "dataset",
    "shard",
    "missing_shards",
    "certificates",
    "variant",
    "repeat",
)
"""Parts of a record that a process without the dataset takes as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPlan:
    """What a run is planned to take, with the prices that were given by hand."""

    plan: RunPlan
    given: Mapping[str, GivenPrice]


_KEPT_PLAN: Final = TypeAdapter(KeptPlan)


def collected(runs: TenantRuns, ledger: RunStore, folder: RunFolder) -> RunState:
    """Bring the files in the folder of a run up to date, and return where the run stands."""
    run = ledger.rows.run
    record, kept = runs.file(run, RECORD_NAME), runs.file(run, _PLAN)
    if record is not None:
        folder.restore({RECORD_NAME: record})
    prices = None
    if kept is not None:
        plan = _KEPT_PLAN.validate_json(kept)
        listed = PriceList(addresses=_addresses(folder.require_run()), given=plan.given)
        prices = CallPrices(prices=listed, plan=plan.plan)
    # First: what is told then is in the files, whatever workers do meanwhile.
    waiting, running = runs.progress(run)
    state = state_of(folder, ledger, served_in(folder))
    write_files(folder, ledger, prices, ceiling=None)
    cost = read_cost(folder)
    return replace(state, cost=cost, queued_units=waiting, running_units=running)


def _addresses(record: Mapping[str, object]) -> dict[str, str | None]:
    known = record.get("addresses")
    found = known if isinstance(known, Mapping) else {}
    return {model: str(places[0]) for model, places in found.items() if places}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRun:
    """A run in the database, as the command that made it and those that ask about it have it."""

    services: Services
    runs: TenantRuns
    ledger: RunStore
    folder: RunFolder

    async def session(
        self,
        tools: RunTools,
        options: EvaluationOptions,
        tally: RunTally,
        watched: Callable[[], AbstractContextManager[OnUnit]],
        *,
        is_detached: bool,
    ) -> RunState:
        """Put what is left to be done into the queue, and unless it is detached do it.

        Workers help. Returns where the run then stands.
        """
        if tools.prices is not None:
            plan = KeptPlan(plan=tools.prices.plan, given=options.prices)
            content = {_PLAN: _KEPT_PLAN.dump_json(plan)}
            await asyncio.to_thread(self.runs.keep_files, self._run, content)
        assess = self._enqueued if is_detached else self._assessed
        with watched() as on_unit:
            state = await run_session(
                tools, self.folder, options, tally=tally, on_unit=on_unit, assess=assess
            )
        found = await asyncio.to_thread(collected, self.runs, self.ledger, self.folder)
        return replace(found, paid_calls=state.paid_calls)

    @property
    def _run(self) -> str:
        return self.ledger.rows.run

    async def _enqueued(
        self, tools: RunTools, options: EvaluationOptions, _: RunTally, __: OnUnit
    ) -> None:
        await asyncio.to_thread(self._enqueue, tools, options)

    def _enqueue(self, tools: RunTools, options: EvaluationOptions) -> None:
        left = self.ledger.queue(
            ASSESSMENT_STEP, tools.limits, includes_failed=options.retries_failed
        )
        numbers = self.ledger.units.numbers()
        units = [numbers[one.unit_id] for one in left]
        self.runs.enqueue(self._run, units, asked_by=f"run:{self._run}")

    async def _assessed(
        self, tools: RunTools, options: EvaluationOptions, tally: RunTally, on_unit: OnUnit
    ) -> None:
        """Do the run's units, and return when none is left; workers may do some of them.

        Where this is broken off, what waits is taken from the workers as well.
        """
        await asyncio.to_thread(self._enqueue, tools, options)
        stores, run = self.services.stores, self._run
        per_tenant = self.services.settings.jobs.per_tenant
        work = UnitWork(services=self.services)

        async def claim() -> JobRef | None:
            return await stores.claim(per_tenant=per_tenant, takes=Takes(only_run=run))

        engine = Engine(claim=claim, work=work, concurrency=options.concurrency)
        made, before = await self._patient(self.ledger.calls.made), await self._seen()
        try:
            async with tending(stores, engine), engine.running():
                while before.is_left:
                    await asyncio.sleep(_LOOK_SECONDS)
                    before = _told(before, await self._seen(), tally, on_unit)
                    if run in work.left or tally.has_reached(options.max_failures):
                        await self._patient(partial(self.runs.withdraw, run))
        finally:
            with suppress(StoreUnusable):
                # What was claimed, and not begun.
                await stores.take_back(())
                if before.is_left:
                    await asyncio.to_thread(self.runs.withdraw, run)
        tally.paid_calls += await self._patient(self.ledger.calls.made) - made

    async def _seen(self) -> "_Seen":
        # What is left first: a unit that ends in between is told of the next time.
        left = await self._patient(partial(self.runs.progress, self._run))
        counts = await self._patient(partial(self.ledger.counts, ASSESSMENT_STEP))
        return _Seen(counts=counts, is_left=any(left))

    async def _patient(self, ask: Callable[[], T]) -> T:
        """Ask the database, which may be away for a while."""
        patience = self.services.stores.place.patience_seconds
        return await patiently(partial(asyncio.to_thread, ask), patience)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """How far a run is at one moment."""

    counts: StepCounts
    is_left: bool
    """Whether units of it are in the queue."""


def _ended(seen: _Seen) -> dict[str | None, int]:
    """Return how many units ended at each stage, `None` for those that are complete."""
    ended: dict[str | None, int] = {None: seen.counts.valid}
    return ended | dict(seen.counts.by_stage)


def _told(before: _Seen, seen: _Seen, tally: RunTally, on_unit: OnUnit) -> _Seen:
    """Report units that have ended since the last call, and return the progress of the run."""
    for stage, count in _ended(seen).items():
        for _ in range(count - _ended(before).get(stage, 0)):
            on_unit(stage)
            tally.finished += 1
            tally.failed += stage is not None
    return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenRun:
    """A run whose units this process does."""

    changes: int
    runs: TenantRuns
    ledger: RunStore
    tools: UnitTools
    writer: RunWriter
    key: bytes = field(repr=False)
    """Of the digests of its prompts."""


@dataclass(slots=True, kw_only=True)
class UnitWork:
    """Does units of runs: the `jobs.engine.Work` of an engine, many at once.

    It is to be called where the services are active.
    """

    services: Services
    left: set[str] = field(default_factory=set)
    """Runs whose units this process leaves to others, because it would make them otherwise."""
    _open: dict[str, _OpenRun] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, job: JobRef) -> None:
        """Do a unit to its end."""
        stores = self.services.stores
        runner = stores.runner
        runs = await stores.ask(job.tenant, lambda store: store.runs)
        try:
            opened = await self._opened(job, runs)
            if opened is None or self._is_served_otherwise(job, opened):
                await asyncio.to_thread(runs.put_back, job, runner)
                return
            with using_installation_key(opened.key):
                await self._made(opened, job, runner)
        except asyncio.CancelledError:
            with suppress(StoreUnusable):
                await asyncio.to_thread(runs.put_back, job, runner)
            raise

    async def _made(self, opened: _OpenRun, job: JobRef, runner: str) -> None:
        ledger, writer, tools = opened.ledger, opened.writer, opened.tools
        patience = self.services.stores.place.patience_seconds
        unit_id = await asyncio.to_thread(ledger.units.id_of, job.unit or 0)
        calls = await asyncio.to_thread(open_unit, ledger, unit_id, writer)
        calls.patience_seconds = patience
        if job.taken >= MOST_TAKEN:
            # Its process died each time.
            category = FailureCategory.STAGE_SKIPPED
            unit: FinishedUnit | None = failed_unit(calls, tools.scoring, category, "process_died")
        else:
            unit = await made_unit(tools, calls)

        def record() -> None:
            # Of a unit that others had taken meanwhile nothing is written twice.
            if unit is not None and opened.runs.end(job, runner):
                record_unit(ledger, unit)

        await patiently(lambda: writer.write(record), patience)

    def _is_served_otherwise(self, job: JobRef, opened: _OpenRun) -> bool:
        served = opened.tools.served
        if job.run is None or served is None or not served.changed:
            return False
        self.left.add(job.run)
        logger.warning(
            "run_left_to_others", name=job.run, reason="; ".join(served.changed)[:_MOST_REASON]
        )
        return True

    async def _opened(self, job: JobRef, runs: TenantRuns) -> _OpenRun | None:
        """Return the run, `None` for one that this process would make otherwise."""
        run = job.run or ""
        async with self._opening:
            content = await asyncio.to_thread(runs.file, run, RECORD_NAME)
            record = json.loads(content or b"{}")
            opened = self._open.get(run)
            if opened is None or opened.changes != len(changes_of(record)):
                try:
                    opened = self._open[run] = await self._open_anew(run, runs, record)
                except (ArtifactMismatch, InputError) as error:
                    self.left.add(run)
                    logger.warning(
                        "run_left_to_others", name=job.run, reason=str(error)[:_MOST_REASON]
                    )
                    return None
            return opened

    async def _open_anew(
        self, run: str, runs: TenantRuns, record: Mapping[str, object]
    ) -> _OpenRun:
        """Open a run; raises `ArtifactMismatch` where this process would make it otherwise."""
        services = self.services
        mode = AssessmentMode(mode_of(record) or AssessmentMode.ZERO_SHOT)
        scoring = await services.scoring(mode, ablates=bool(record.get("ablates")))
        files = await asyncio.to_thread(runs.files, run)
        changes = len(changes_of(record))
        prompts = f"changes/{changes}/prompts.toml" if changes else "prompts.toml"
        tasks = tasks_in(files[prompts], Path(prompts))
        now = {name: record[name] for name in _OF_DATASET if name in record}
        gone_on_with(record, now | await made_with(services, scoring, tasks), accepts_changed=False)
        ledger = await asyncio.to_thread(runs.open, run, Path())
        plan = _KEPT_PLAN.validate_json(files[_PLAN]).plan if _PLAN in files else None
        contract = shipped_contract()

        def keep(seen: Mapping[str, object]) -> None:
            runs.change_file(run, RECORD_NAME, partial(_with_served, seen))

        return _OpenRun(
            changes=changes,
            runs=runs,
            ledger=ledger,
            writer=RunWriter(ledger),
            key=bytes.fromhex(ledger.about[PROMPT_KEY]),
            tools=UnitTools(
                assessor=replace(
                    services.assessor,
                    tasks=tasks,
                    is_first_ahead=plan is not None and plan.is_first_ahead,
                ),
                read=partial(_source, ledger),
                scoring=scoring,
                deadline_seconds=contract.deadline_seconds,
                changes=changes,
                served=ServedModels(record, keep),
            ),
        )


def _source(ledger: RunStore, unit_id: str) -> UnitSource:
    content = ledger.units.source(unit_id)
    if content is None:
        raise InputError("the unit has no transcript that can be read", field="unit_id")
    return source_in(content)


def _with_served(seen: Mapping[str, object], record: bytes | None) -> bytes:
    return json_bytes(served_together(json.loads(record or b"{}"), seen))
