"""What a run over a dataset will take and cost, and what it may still spend."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from pydantic import SecretStr

from ai_psychiatrist.agents.prompts.tasks import Tasks
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.assessment import ScoringOptions
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.errors import InputError, require
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.evaluation.pricing.plan import (
    MOST_MEASURED,
    Choices,
    Measured,
    RunPlan,
    plan_run,
    tokens_of,
)
from ai_psychiatrist.evaluation.pricing.prices import PriceList
from ai_psychiatrist.evaluation.pricing.spending import CallPrices, CostLimit, total_usd, used_calls
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.start import StartOptions
from ai_psychiatrist.services.transcripts.rendering import rendered_for_models
from ai_psychiatrist.store.run_places import RunPlace
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.wiring import Services

_MARK_TOKENS: Final = 20
"""Of the marks around a transcript in a prompt."""


def measured_units(dataset: Dataset, start: StartOptions) -> Measured:
    """Measure the transcripts that a run would read, or an even sample of many.

    Raises `InputError` for a shard without any unit.
    """
    units = start.of(dataset.units)
    every = max(1, -(-len(units) // MOST_MEASURED))
    tokens, unreadable = [], 0
    for unit in units[::every]:
        try:
            text = rendered_for_models(dataset.transcript(unit.unit_id))
        except InputError:
            unreadable += 1
        else:
            tokens.append(tokens_of(text) + _MARK_TOKENS)
    return Measured(units=len(units), unreadable=unreadable, tokens=tokens)


def planned_run(
    services: Services,
    measured: Measured,
    prices: PriceList,
    *,
    scoring: ScoringOptions,
    tasks: Tasks,
) -> RunPlan:
    """Return what a run will take."""
    settings = services.settings
    rescores = BeliefSource.RESCORING in settings.belief.asked
    shown = settings.references.max_tokens * len(Item) if scoring.mode.shows_references else 0
    choices = Choices(
        models=services.agent_models,
        tasks=tasks,
        mode=scoring.mode,
        is_judged_together=settings.judge.is_together,
        is_refined=settings.feedback.enabled and settings.feedback.max_iterations > 0,
        ablates=scoring.ablates,
        rescorings=settings.belief.rescorings if rescores else 0,
        reference_tokens=shown,
        max_calls=settings.model.max_calls,
    )
    is_first_ahead = settings.model.first_call_ahead != "never"
    return plan_run(measured, choices, prices, is_first_ahead=is_first_ahead)


def for_planning(settings: Settings) -> Settings:
    """Return settings that a plan can be made with before there is any key."""
    unset, stand_in = SecretStr(""), SecretStr("not-needed-for-a-plan")
    groups = {
        name: group.model_copy(update={"api_key": stand_in})
        for name in ("openai", "anthropic", "google")
        if (group := getattr(settings, name)).api_key == unset
    }
    return settings.model_copy(update=groups)


def price_list(services: Services, options: EvaluationOptions) -> PriceList:
    """Return the prices of the models of a run.

    Raises `InputError` for a price of a model that it does not ask, and, where there is a ceiling,
    for models that have none.
    """
    asked = list(dict.fromkeys(one for chain in services.agent_models.values() for one in chain))
    strangers = sorted(options.prices.keys() - set(asked))
    problem = f"--price names {', '.join(strangers)}, but the run asks {', '.join(asked)}"
    require(not strangers, problem, field="--price")
    prices = PriceList(addresses=services.connections.addresses, given=options.prices)
    unpriced = [] if options.max_cost_usd is None else prices.unpriced(asked)
    if unpriced:
        raise InputError(
            f"no price is known of {', '.join(unpriced)}, so that a ceiling cannot be kept; give "
            f"one in USD per million tokens in and out, such as --price {unpriced[0]}=0.10/0.40, "
            "or leave --max-cost out",
            field="--max-cost",
        )
    return prices


def purse_of(
    options: EvaluationOptions,
    prices: CallPrices,
    ledger: RunStore,
    *,
    beside: Sequence[RunFolder],
    place: RunPlace,
) -> CostLimit | None:
    """Return what a run may still spend, `None` where there is no ceiling.

    `beside`: the other runs that the ceiling is for; `place`: where their ledgers are.
    """
    if options.max_cost_usd is None:
        return None
    plan = prices.plan
    planned = plan.live_usd or Decimal(0)
    readable = max(round(plan.units * (1 - plan.unreadable / max(plan.measured, 1))), 1)
    spent = _spent_usd(ledger, prices)
    for folder in beside:
        with place.open(folder.path) as other:
            spent += _spent_usd(other, prices)
    return CostLimit(
        ceiling=options.max_cost_usd, spent=spent, prices=prices, unit_usd=planned / readable
    )


def _spent_usd(ledger: RunStore, prices: CallPrices) -> Decimal:
    """Return what a run has cost; raises `InputError` where a model of it has no price."""
    usd = total_usd(used_calls(ledger.calls.usage(), prices))
    if usd is None:
        raise InputError(
            "no price is known of calls that were made before, so that a ceiling cannot be kept",
            field="--max-cost",
        )
    return usd
