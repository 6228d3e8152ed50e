"""What a run will take, before anything is paid: units, calls, tokens, and their price."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Final

from ai_psychiatrist.evaluation.pricing.prices import PriceList, total_of
from ai_psychiatrist.evaluation.pricing.steps import ASSUMED, Choices, Step, steps_of
from ai_psychiatrist.evaluation.pricing.tokens import (
    ESTIMATE,
    LEAST_CACHED_TOKENS,
    CallTokens,
    summed,
)
from ai_psychiatrist.llm.providers import ANTHROPIC, provider_of

MOST_MEASURED: Final = 2000
"""Transcripts; of more than these, so many are read, spread over all, and stand for the rest."""
_TOLD_TO_CACHE: Final = frozenset({ANTHROPIC})
"""What is put into their cache is paid for as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The transcripts of a run."""

    units: int
    unreadable: int
    """Those of the measured ones that cannot be read, and cost no call."""
    tokens: Sequence[float]
    """Of each that was measured, with the marks around it."""

    @property
    def weight(self) -> float:
        """How many readable units each measured one stands for."""
        read = len(self.tokens) + self.unreadable
        return self.units / read if read else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """What one agent asks one model in a whole run, or all agents ask it."""

    agent: str | None
    """`None` for all of them."""
    model: str
    calls: float
    tokens: CallTokens
    live_usd: Decimal | None
    batch_usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What a run will take, by agent and model."""

    units: int
    measured: int
    unreadable: int
    least_calls: int
    expected_calls: float
    most_calls: int
    is_first_ahead: bool
    by_agent: tuple[PlannedCalls, ...]
    price_sources: Mapping[str, str | None]
    """Model → where its price is from; `None` where none is known."""

    @property
    def by_model(self) -> list[PlannedCalls]:
        """What each model is asked by all agents."""
        return _merged([replace(one, agent=None) for one in self.by_agent])

    @property
    def tokens(self) -> CallTokens:
        """Of all models."""
        return summed(one.tokens for one in self.by_agent)

    @property
    def cache_share(self) -> float:
        """Part of the tokens in that is found in a cache, 0-1, where calls are made live."""
        tokens = self.tokens
        return tokens.cache_read / tokens.input if tokens.input else 0.0

    @property
    def live_usd(self) -> Decimal | None:
        """Of all models, `None` where one has no price."""
        return total_of(one.live_usd for one in self.by_agent)

    @property
    def batch_usd(self) -> Decimal | None:
        """The same by batch interfaces."""
        return total_of(one.batch_usd for one in self.by_agent)

    def as_json(self) -> dict[str, object]:
        """Return all of it; money in USD, `null` where no price is known."""
        return {
            "units": self.units,
            "transcripts": {"measured": self.measured, "unreadable": self.unreadable},
            "calls": {
                "least": self.least_calls,
                "expected": round(self.expected_calls),
                "most": self.most_calls,
            },
            "tokens": asdict(self.tokens),
            "cache_share": round(self.cache_share, 4),
            "first_call_ahead": self.is_first_ahead,
            "live_usd": usd_number(self.live_usd),
            "batch_usd": usd_number(self.batch_usd),
            "by_model": [
                {
                    "model": one.model,
                    "calls": round(one.calls),
                    "tokens": asdict(one.tokens),
                    "price": self.price_sources[one.model],
                    "live_usd": usd_number(one.live_usd),
                    "batch_usd": usd_number(one.batch_usd),
                }
                for one in self.by_model
            ],
            "by_agent": [
                {
                    "agent": one.agent,
                    "model": one.model,
                    "calls": round(one.calls),
                    "tokens": asdict(one.tokens),
                    "live_usd": usd_number(one.live_usd),
                    "batch_usd": usd_number(one.batch_usd),
                }
                for one in self.by_agent
            ],
            "estimate": [ESTIMATE, ASSUMED],
        }


def usd_number(usd: Decimal | None) -> float | None:
    """Return an amount for JSON, to a millionth of a dollar."""
    return None if usd is None else float(round(usd, 6))


def plan_run(
    measured: Measured, choices: Choices, prices: PriceList, *, is_first_ahead: bool
) -> RunPlan:
    """Return what a run over such transcripts will take.

    `is_first_ahead`: whether a unit's first call goes alone where the provider caches prefixes.
    """
    steps = steps_of(choices)
    weight = measured.weight
    readable = round(len(measured.tokens) * weight)
    by_agent = []
    for step in steps:
        cold = _cold(steps, step.model, is_first_ahead=is_first_ahead)
        by_agent.append(_planned(step, measured, prices, is_cold=step in cold))
    return RunPlan(
        units=measured.units,
        measured=len(measured.tokens) + measured.unreadable,
        unreadable=measured.unreadable,
        least_calls=readable * sum(step.least for step in steps),
        expected_calls=readable * sum(step.expected for step in steps),
        most_calls=readable * choices.max_calls,
        is_first_ahead=is_first_ahead,
        by_agent=tuple(_merged(by_agent)),
        price_sources={step.model: prices.source(step.model) for step in steps},
    )


def together(plans: Sequence[RunPlan]) -> RunPlan:
    """Return the plan of one run or several over the same units, of the same models."""
    first = plans[0]
    return replace(
        first,
        units=sum(plan.units for plan in plans),
        least_calls=sum(plan.least_calls for plan in plans),
        expected_calls=sum(plan.expected_calls for plan in plans),
        most_calls=sum(plan.most_calls for plan in plans),
        by_agent=tuple(_merged([one for plan in plans for one in plan.by_agent])),
    )


def _cold(steps: Sequence[Step], model: str, *, is_first_ahead: bool) -> list[Step]:
    """Return the steps whose first call finds nothing in the cache of a model.

    Those are the ones that begin at the same time, or the first alone where it goes ahead.
    """
    asked = [step for step in steps if step.model == model]
    if is_first_ahead:
        return asked[:1]
    beginning = [step for step in asked if step.is_first]
    return beginning or [step for step in asked if step.is_judge] or asked[:1]


def _planned(step: Step, measured: Measured, prices: PriceList, *, is_cold: bool) -> PlannedCalls:
    weight = measured.weight
    provider = provider_of(step.model)
    is_cached = provider is not None and provider.caches_prefixes
    found = max(step.expected - is_cold, 0.0) if is_cached else 0.0
    total, cached = sum(measured.tokens), sum(_cacheable(measured.tokens))
    units = len(measured.tokens)
    calls = step.expected * units * weight
    sent = step.expected * weight * (total + units * step.beside_tokens)
    is_told = provider_of(step.model) in _TOLD_TO_CACHE
    tokens = CallTokens(
        input=round(sent),
        output=round(calls * step.reply_tokens),
        cache_read=round(found * weight * cached),
        cache_write=round((step.expected - found) * weight * cached) if is_told else 0,
    )
    return PlannedCalls(
        agent=step.agent,
        model=step.model,
        calls=calls,
        tokens=tokens,
        live_usd=price_of_calls(prices, step.model, tokens, calls),
        batch_usd=price_of_calls(
            prices,
            step.model,
            CallTokens(input=tokens.input, output=tokens.output),
            calls,
            is_batch=True,
        ),
    )


def price_of_calls(
    prices: PriceList, model: str, tokens: CallTokens, calls: float, *, is_batch: bool = False
) -> Decimal | None:
    """Return the price of calls together; of each it depends on its own length."""
    if not calls:
        return Decimal(0) if prices.source(model) else None
    mean = CallTokens(
        input=round(tokens.input / calls),
        output=round(tokens.output / calls),
        cache_read=round(tokens.cache_read / calls),
        cache_write=round(tokens.cache_write / calls),
    )
    usd = prices.usd(model, mean, is_batch=is_batch)
    return None if usd is None else usd * Decimal(str(calls))


def _cacheable(tokens: Sequence[float]) -> list[float]:
    return [one for one in tokens if one >= LEAST_CACHED_TOKENS]


def _merged(planned: Sequence[PlannedCalls]) -> list[PlannedCalls]:
    """Return one row for each agent and model."""
    rows: dict[tuple[str | None, str], list[PlannedCalls]] = defaultdict(list)
    for one in planned:
        rows[one.agent, one.model].append(one)
    return [
        PlannedCalls(
            agent=agent,
            model=model,
            calls=sum(one.calls for one in ones),
            tokens=summed(one.tokens for one in ones),
            live_usd=total_of(one.live_usd for one in ones),
            batch_usd=total_of(one.batch_usd for one in ones),
        )
        for (agent, model), ones in rows.items()
    ]
