"""A run over a dataset, begun or gone on with: what `evaluate run` and Python both do."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ai_psychiatrist.agents.baseline.model import BASELINE
from ai_psychiatrist.agents.contracts.contract import shipped_contract
from ai_psychiatrist.agents.prompts.digests import Tasks
from ai_psychiatrist.assessment.part import FULL, Part
from ai_psychiatrist.belief.settings import BeliefSettings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode, WantedScoring
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.pricing.prices import PriceList
from ai_psychiatrist.evaluation.pricing.used import CallPrices
from ai_psychiatrist.evaluation.runs.overlap import refuse_overlap
from ai_psychiatrist.evaluation.runs.provenance import changes_of, provenance
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, OnUnit, RunTally, RunTools
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.session import RunState, run_session
from ai_psychiatrist.evaluation.runs.stages import ASSESSMENT_STEP
from ai_psychiatrist.evaluation.runs.start import EvaluationRequest, StartOptions, open_run
from ai_psychiatrist.evaluation.runs.units_file import text_digest
from ai_psychiatrist.evaluation.runs.variants import Variant
from ai_psychiatrist.infrastructure.digests import plain_digest
from ai_psychiatrist.infrastructure.private_files import make_subfolder, remove_drafts, write_whole
from ai_psychiatrist.interface.dataset_plan import (
    measured_units,
    planned_run,
    price_list,
    purse_of,
    spent_usd,
)
from ai_psychiatrist.ledger.keys.cipher import Cipher, cipher_of
from ai_psychiatrist.ledger.store.ledger import Ledger
from ai_psychiatrist.proof.certificate import certificate_of
from ai_psychiatrist.proof.rule_set import rule_set_digest
from ai_psychiatrist.results.assessment import full_result
from ai_psychiatrist.results.frozen_table import FrozenTable
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.services.transcripts.rendering import rendered_for_models
from ai_psychiatrist.wiring import Services

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.batches.waves import BatchWishes

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
    failed_at: FrozenTable[str, int]
    """Stage → failed units."""
    carrying_failures: int
    """Complete units of which a part went wrong on the way."""
    model_calls: int
    """Made now; those that were found in the run are not among them."""
    unreadable: int
    """Units without a transcript that can be read."""
    not_read: FrozenTable[str, int]
    """Why files or lines of the dataset are no units → how many."""

    @property
    def is_complete(self) -> bool:
        """Whether every unit is complete and nothing of the dataset was left out."""
        return self.valid == self.requested and not self.not_read


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
    batch: "BatchWishes | None" = None
    """How calls are handed to batch interfaces; `None` where models are asked live."""


@contextmanager
def unwatched(requested: int, done: int) -> Iterator[OnUnit]:
    """Tell nobody."""
    del requested, done
    yield lambda _: None


async def make_run(
    services: Services, wanted: DatasetRun, *, tally: RunTally, watch: Watch = unwatched
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
        asked = {name for chain in services.agent_models.values() for name in chain}
        wanted.batch.models.refuse_others(asked, local={BASELINE})
        if wanted.options.max_cost_usd is not None:
            # All of a wave is handed in at once, before anything is known of what it costs.
            msg = "--max-cost is for runs that ask models live; --plan says what a batch run costs"
            raise InputError(msg, field="--max-cost")
        if not wanted.start.keeps_raw:
            msg = "--batch needs the replies that it collects: leave out --no-raw"
            raise InputError(msg, field="--no-raw")
    prices = price_list(services, wanted.options)
    scoring = await services.scoring(wanted.mode, ablates=wanted.ablates)
    if scoring.mode.shows_references and services.references is not None:
        references = await services.references.open()
        await asyncio.to_thread(refuse_overlap, wanted.dataset, references.people)
    request = _request(services, wanted, scoring)
    folder, contract = request.folder, request.contract
    with folder.held(), open_run(request) as ledger:
        remove_drafts(folder.certificates)
        call_prices = await _call_prices(services, wanted, prices, scoring, request.tasks)
        tools = RunTools(
            dataset=request.dataset,
            ledger=ledger,
            pipeline=replace(
                services.pipeline,
                tasks=request.tasks,
                is_first_ahead=services.settings.model.first_call_ahead != "never",
            ),
            scoring=scoring,
            limits=contract.retry,
            parts=wanted.parts,
            deadline_seconds=contract.deadline_seconds,
            changes=len(changes_of(folder.require_run())),
            on_assessment=partial(_certify, services, folder) if wanted.start.certifies else None,
            prices=call_prices,
            purse=purse_of(
                wanted.options,
                call_prices,
                ledger,
                spent_beside=_spent_beside(wanted, call_prices, request.cipher),
            ),
        )

        def watched() -> AbstractContextManager[OnUnit]:
            account = ledger.counts(ASSESSMENT_STEP)
            return watch(account.requested, account.valid + account.failed)

        if wanted.batch is not None:
            return await _in_waves(wanted, tools, folder, tally, watched)
        with watched() as on_unit:
            return await run_session(tools, folder, wanted.options, tally=tally, on_unit=on_unit)


async def _in_waves(
    wanted: DatasetRun,
    tools: RunTools,
    folder: RunFolder,
    tally: RunTally,
    watch: Callable[[], AbstractContextManager[OnUnit]],
) -> RunState:
    # Libraries of model servers, which a run of the baseline does without.
    from ai_psychiatrist.evaluation.batches.waves import Waves  # noqa: PLC0415

    if wanted.batch is None:
        msg = "no batches are wanted"
        raise ValueError(msg)
    waves = Waves(
        tools=tools,
        folder=folder,
        options=wanted.options,
        wishes=wanted.batch,
        tally=tally,
        watch=watch,
    )
    return await waves.run()


async def _call_prices(
    services: Services,
    wanted: DatasetRun,
    prices: PriceList,
    scoring: WantedScoring,
    tasks: Tasks,
) -> CallPrices:
    """Return what calls cost, with the plan that stands beside what is used."""

    def planned() -> CallPrices:
        measured = measured_units(wanted.dataset, wanted.start)
        plan = planned_run(services, measured, prices, scoring=scoring, tasks=tasks)
        return CallPrices(prices=prices, plan=plan)

    return await asyncio.to_thread(planned)


def _spent_beside(wanted: DatasetRun, prices: CallPrices, cipher: Cipher | None) -> Decimal:
    """Return what other runs have cost so far, where a ceiling is for them as well."""
    total = Decimal(0)
    if wanted.options.max_cost_usd is not None:
        for folder in wanted.beside:
            with Ledger.open(folder.path, cipher=cipher, is_read_only=True) as ledger:
                total += spent_usd(ledger, prices)
    return total


def _certify(services: Services, folder: RunFolder, unit_id: str, assessment: Assessment) -> None:
    """Write the certificate of a unit, over the one of an attempt before this."""
    name = text_digest(unit_id, rendered_for_models(assessment.transcript))
    result = full_result(assessment, about=services.about(name))
    certificate = certificate_of(result, assessment.transcript, signer=services.signer)
    make_subfolder(folder.certificates)
    write_whole(folder.certificates / f"{name}.json", [certificate.text.encode()])


def run_result(state: RunState, folder: RunFolder) -> DatasetRunResult:
    """Return where a run stands, in the form that callers get."""
    account = state.counts
    return DatasetRunResult(
        folder=folder.path,
        requested=account.requested,
        valid=account.valid,
        failed=account.failed,
        pending=account.pending,
        failed_at=dict(account.by_stage),
        carrying_failures=state.carried.units,
        model_calls=state.paid_calls,
        unreadable=state.unreadable,
        not_read=dict(state.not_read),
    )


def _request(services: Services, wanted: DatasetRun, scoring: WantedScoring) -> EvaluationRequest:
    contract = shipped_contract()
    record = provenance(
        wanted.dataset,
        mode=scoring.mode,
        references=_references_record(services, scoring),
        ablates=wanted.ablates,
        concerns_depression=wanted.concerns_depression,
        models=services.agent_models,
        variant=wanted.variant,
        contracts={"pipeline": contract.digest, "rules": rule_set_digest()},
        settings=deciding_settings(services.settings),
    )
    if wanted.start.certifies:
        record["certificates"] = True
    if wanted.start.shard is not None:
        record["shard"] = str(wanted.start.shard)
    return EvaluationRequest(
        dataset=wanted.dataset,
        folder=wanted.folder,
        record=record,
        contract=contract,
        variant=wanted.variant,
        options=wanted.start,
        is_by_batches=wanted.batch is not None,
        cipher=cipher_of(services.settings.ledger.key_file),
    )


def _believing(settings: BeliefSettings) -> dict[str, object]:
    """Return what decides on beliefs; the fit by its digest."""
    fit = None if settings.fit is None else plain_digest(settings.fit.read_text("utf-8"))
    kept = {"sources", "level", "rescorings", "temperature", "seed"}
    return {**settings.model_dump(mode="json", include=kept), "fit": fit}


def _references_record(services: Services, scoring: WantedScoring) -> dict[str, object] | None:
    """Return which references are shown and how they are chosen; `None` where none are."""
    if not scoring.mode.shows_references or services.references is None:
        return None
    settings = services.settings.references.model_dump(mode="json", exclude={"dir"})
    return {"digest": services.references.digest, **settings}


def deciding_settings(settings: Settings) -> dict[str, object]:
    """Return the settings that decide on a result; none of them is a secret."""
    return {
        "temperature": settings.model.temperature,
        "max_calls": settings.model.max_calls,
        "max_reply_bytes": settings.model.max_reply_bytes,
        "num_ctx": settings.ollama.num_ctx,
        "pydantic_ai": settings.pydantic_ai.model_dump(mode="json"),
        "quantitative": settings.quantitative.model_dump(mode="json"),
        "qualitative": settings.qualitative.model_dump(mode="json"),
        "feedback": settings.feedback.model_dump(mode="json"),
        # As it always was where it is left as it is, so that earlier runs can be gone on with.
        **({"judge": settings.judge.model_dump()} if settings.judge.is_together else {}),
        "belief": _believing(settings.belief),
        "transcript": settings.transcript.model_dump(mode="json"),
    }
