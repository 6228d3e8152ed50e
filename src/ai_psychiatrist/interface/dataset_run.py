"""A run over a dataset, new or resumed: what `evaluate run` and Python both do."""

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.contracts.contract import shipped_contract
from ai_psychiatrist.agents.prompts.tasks import TASKS
from ai_psychiatrist.assessment.parts import FULL, Part
from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode, ScoringOptions
from ai_psychiatrist.domain.errors import ArtifactMismatch, require
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.measuring import measure_run
from ai_psychiatrist.evaluation.pricing.spending import CallPrices
from ai_psychiatrist.evaluation.runs.provenance import changes_of, dataset_record
from ai_psychiatrist.evaluation.runs.run import (
    EvaluationOptions,
    OnUnit,
    RunState,
    RunTally,
    RunTools,
    run_in_rounds,
    run_session,
)
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.served_models import served_in
from ai_psychiatrist.evaluation.runs.start import (
    EvaluationRequest,
    StartOptions,
    open_run,
    refuse_overlap,
)
from ai_psychiatrist.evaluation.runs.unit import ASSESSMENT_STEP, unit_source
from ai_psychiatrist.evaluation.runs.units_file import text_digest
from ai_psychiatrist.evaluation.runs.variants import Variant
from ai_psychiatrist.infrastructure.private_files import make_subfolder, remove_drafts, write_whole
from ai_psychiatrist.interface.dataset_plan import (
    measured_units,
    planned_run,
    price_list,
    purse_of,
)
from ai_psychiatrist.interface.deciding import made_with
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.services.transcripts.rendering import rendered_for_models
from ai_psychiatrist.store.cipher import cipher_of
from ai_psychiatrist.store.run_places import (
    RECORD_NAME,
    DatabaseRuns,
    RunFiles,
    RunPlace,
    run_in_database,
)
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.wiring import Services
from ai_psychiatrist.wiring.records import database_runs

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batch_rounds import BatchOptions

Watch: TypeAlias = Callable[[int, int], AbstractContextManager[OnUnit]]
"""Told how many units are requested and how many are done already; gives what is told of each."""


class DatasetRunResult(Result):
    """Where a run stands; its folder holds the predictions, and what failed and why."""

    folder: Path
    requested: int
    """Units that the run was ever asked for."""
    valid: int
    """Those whose assessment is complete."""
    failed: int
    pending: int
    """Those still to be done, where too many have failed."""
    failed_at: dict[str, int]
    """Stage → failed units."""
    carrying_failures: int
    """Complete units of which a part went wrong on the way."""
    model_calls: int
    """Made now; those that were found in the run are not among them."""
    unreadable: int
    """Units without a transcript that can be read."""
    not_read: dict[str, int]
    """Why files or lines of the dataset are no units → how many."""

    @property
    def is_complete(self) -> bool:
        """Whether every unit is complete and nothing of the dataset was left out."""
        return self.valid == self.requested and not self.not_read

    def metrics(self, *, by: str | None = None) -> dict[str, object]:
        """Return the figures of the run, as `evaluate metrics --json` prints them.

        `by`: a column of the labels, such as `gender`, whose groups have figures of their own under
        `subgroups`. Writes `metrics.json` in the folder of the run. Needs the extra `evaluation`.
        Raises `InputError` for a column that is not there, and for damaged files of the run.
        """
        return measure_run(self.folder, by=by).as_json()


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRun:
    """Which run is wanted."""

    dataset: Dataset
    folder: RunFolder
    start: StartOptions
    options: EvaluationOptions
    mode: AssessmentMode | None = None
    """`None`: as the settings say."""
    variant: Variant | None = None
    parts: frozenset[Part] = FULL
    """Of an assessment, those that are made."""
    concerns_depression: bool | None = None
    """`False` for interviews in which no symptom should be found; `None` where nobody knows."""
    ablates: bool = False
    """Whether to score again with the evidence changed, to tell whether it drives the scores."""
    beside: Sequence[RunFolder] = ()
    """Other runs that the ceiling in money is for as well."""
    batch: "BatchOptions | None" = None
    """How calls are submitted to batch interfaces; `None` where models are asked live."""
    is_in_database: bool = False
    """Whether a new run is kept in the database; one that goes on is where it was begun."""
    is_detached: bool = False
    """Whether its units are left to the workers."""


async def evaluated(
    services: Services, wanted: DatasetRun, told: Callable[[int, int], None]
) -> DatasetRunResult:
    """Make the run, or go on with it; raises `ArtifactMismatch` where units are unaccounted for.

    `told`: after each unit, how many are done, and of how many.
    """

    @contextmanager
    def counting(requested: int, done: int) -> Iterator[OnUnit]:
        count = itertools.count(done + 1)
        yield lambda _: told(next(count), requested)

    state = await make_run(services, wanted, tally=RunTally(), watch=counting)
    if state.unbalanced_steps:
        steps = ", ".join(state.unbalanced_steps)
        raise ArtifactMismatch(f"the account does not balance at {steps}: keep the folder")
    account = state.counts
    return DatasetRunResult(
        folder=wanted.folder.path,
        requested=account.requested,
        valid=account.valid,
        failed=account.failed,
        pending=account.pending,
        failed_at=dict(account.by_stage),
        carrying_failures=state.failures.complete_units,
        model_calls=state.paid_calls,
        unreadable=state.unreadable,
        not_read=dict(state.not_read),
    )


async def make_run(
    services: Services, wanted: DatasetRun, *, tally: RunTally, watch: Watch
) -> RunState:
    """Assess what is still to be done of a run, and write its result files.

    `tally`: of all runs that one bound on failures is for. Digests are made with the run's own key
    from then on, so that services have to be active. Raises `InputError` and `ArtifactMismatch` as
    `open_run` does, `InputError` for a ceiling over batches or over models without a price, for a
    price of another model, and for batches of a run that keeps no replies, `ConfigurationError`
    for models without the batch interface that is wanted, `RequestConflict` for a mode whose
    references are missing, and `RunBusy` when another process works on the run.
    """
    if wanted.batch is not None:
        _refuse_batches(services, wanted, wanted.batch)
    place = await asyncio.to_thread(_place, services, wanted)
    if isinstance(place, DatabaseRuns):
        refuse_in_database(wanted)
        record = await asyncio.to_thread(place.record, wanted.folder.path)
        if record is not None and wanted.folder.run.exists():
            wanted.folder.restore({RECORD_NAME: record})
    prices = price_list(services, wanted.options)
    scoring = await services.scoring(wanted.mode, ablates=wanted.ablates)
    if scoring.mode.shows_references and services.references is not None:
        references = await services.references.open()
        await asyncio.to_thread(
            refuse_overlap, wanted.dataset, references.artefact.people.shared_with
        )
    request = await _request(services, wanted, scoring, place)
    folder = request.folder
    with folder.held(), open_run(request) as ledger:
        remove_drafts(folder.certificates)
        measured = await asyncio.to_thread(measured_units, wanted.dataset, wanted.start)
        plan = await asyncio.to_thread(
            planned_run, services, measured, prices, scoring=scoring, tasks=request.tasks
        )
        call_prices = CallPrices(prices=prices, plan=plan)
        tools = _tools(services, wanted, request, ledger, scoring=scoring, prices=call_prices)

        def watched() -> AbstractContextManager[OnUnit]:
            account = ledger.counts(ASSESSMENT_STEP)
            return watch(account.requested, account.valid + account.failed)

        if isinstance(place, DatabaseRuns):
            # The engine of jobs, which other runs do without.
            from ai_psychiatrist.interface.shared_run import SharedRun  # noqa: PLC0415

            shared = SharedRun(services=services, runs=place.runs, ledger=ledger, folder=folder)
            return await shared.session(
                tools, wanted.options, tally, watched, is_detached=wanted.is_detached
            )
        if wanted.batch is None:
            with watched() as on_unit:
                return await run_session(
                    tools, folder, wanted.options, tally=tally, on_unit=on_unit
                )
        return await run_in_rounds(
            tools, folder, wanted.options, batch=wanted.batch, tally=tally, watch=watched
        )


def _refuse_batches(services: Services, wanted: DatasetRun, batch: "BatchOptions") -> None:
    """Refuse what no run by batches can do."""
    asked = {name for chain in services.agent_models.values() for name in chain}
    batch.models.refuse_others(asked, local={BASELINE})
    # All of a round is submitted at once, before anything is known of what it costs.
    require(
        wanted.options.max_cost_usd is None,
        "--max-cost is for runs that ask models live; --plan says what a batch run costs",
        field="--max-cost",
    )
    require(
        wanted.start.keeps_raw,
        "--batch needs the replies that it collects: leave out --no-raw",
        field="--no-raw",
    )


def _tools(
    services: Services,
    wanted: DatasetRun,
    request: EvaluationRequest,
    ledger: RunStore,
    *,
    scoring: ScoringOptions,
    prices: CallPrices,
) -> RunTools:
    folder, contract = request.folder, request.contract
    return RunTools(
        dataset=request.dataset,
        read=partial(unit_source, request.dataset),
        ledger=ledger,
        assessor=replace(
            services.assessor,
            tasks=request.tasks,
            is_first_ahead=prices.plan.is_first_ahead,
        ),
        scoring=scoring,
        limits=contract.retry,
        parts=wanted.parts,
        deadline_seconds=contract.deadline_seconds,
        changes=len(changes_of(folder.require_run())),
        on_assessment=partial(_certify, services, folder) if wanted.start.certifies else None,
        served=served_in(folder),
        prices=prices,
        purse=purse_of(wanted.options, prices, ledger, beside=wanted.beside, place=request.place),
    )


def _certify(
    services: Services,
    folder: RunFolder,
    unit_id: str,
    transcript: Transcript,
    assessment: Assessment,
) -> None:
    """Write the certificate of a unit, over the one of an attempt before this."""
    name = text_digest(unit_id, rendered_for_models(transcript))
    certificate = services.certify(replace(assessment, assessment_id=name), transcript)
    make_subfolder(folder.certificates)
    write_whole(folder.certificates / f"{name}.json", [certificate.text.encode()])


def _place(services: Services, wanted: DatasetRun) -> RunPlace:
    """Return where a run is: as its folder says, or for a new one as is wanted."""
    is_there = run_in_database(wanted.folder.path) is not None
    if wanted.is_in_database or wanted.is_detached or is_there:
        return database_runs(services.stores)
    return RunFiles(cipher=cipher_of(services.settings.data.key_file))


def refuse_in_database(wanted: DatasetRun) -> None:
    """Refuse what a run whose units any process may do cannot have."""
    refused = {
        "--batch": wanted.batch is not None,
        "--max-cost": wanted.options.max_cost_usd is not None,
        "--certificates": wanted.start.certifies,
        "--max-failures": wanted.is_detached and wanted.options.max_failures is not None,
    }
    for option, is_given in refused.items():
        whose = "with --detach" if option == "--max-failures" else "of a run in the database"
        require(
            not is_given,
            f"{option} is not possible {whose}: leave it out, or make the run in its folder",
            field=option,
        )


async def _request(
    services: Services, wanted: DatasetRun, scoring: ScoringOptions, place: RunPlace
) -> EvaluationRequest:
    tasks = TASKS if wanted.variant is None else wanted.variant.tasks
    record = {
        **dataset_record(wanted.dataset, concerns_depression=wanted.concerns_depression),
        **({} if wanted.variant is None else wanted.variant.record),
        **await made_with(services, scoring, tasks),
    }
    if wanted.start.certifies:
        record["certificates"] = True
    if wanted.start.shard is not None:
        record["shard"] = str(wanted.start.shard)
    return EvaluationRequest(
        dataset=wanted.dataset,
        folder=wanted.folder,
        record=record,
        contract=shipped_contract(),
        variant=wanted.variant,
        options=wanted.start,
        is_by_batches=wanted.batch is not None,
        place=place,
    )
