"""What a run over a dataset may still spend: the prices of its models, and its ceiling."""

from collections.abc import Sequence
from decimal import Decimal

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.pricing.prices import PriceList
from ai_psychiatrist.evaluation.pricing.spending import CallPrices, CostLimit, total_usd, used_calls
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.store.run_places import RunPlace
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.wiring import Services


def price_list(services: Services, options: EvaluationOptions) -> PriceList:
    """Return the prices of the models of a run.

    Raises `InputError` for a price of a model that it does not ask, and, where there is a ceiling,
    for models that have none.
    """
    asked = list(dict.fromkeys(one for chain in services.agent_models.values() for one in chain))
    strangers = sorted(options.prices.keys() - set(asked))
    if strangers:
        msg = f"--price names {', '.join(strangers)}, but the run asks {', '.join(asked)}"
        raise InputError(msg, field="--price")
    prices = PriceList(addresses=services.connections.addresses, given=options.prices)
    unpriced = [] if options.max_cost_usd is None else prices.unpriced(asked)
    if unpriced:
        msg = (
            f"no price is known of {', '.join(unpriced)}, so that a ceiling cannot be kept; give "
            f"one in USD per million tokens in and out, such as --price {unpriced[0]}=0.10/0.40, "
            "or leave --max-cost out"
        )
        raise InputError(msg, field="--max-cost")
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
        msg = "no price is known of calls that were made before, so that a ceiling cannot be kept"
        raise InputError(msg, field="--max-cost")
    return usd
