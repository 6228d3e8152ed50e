"""What a run has used so far, from its ledger: all sessions together, whatever became of units."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import NamedTuple

from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.evaluation.pricing.plan import RunPlan, price_of_calls, usd_number
from ai_psychiatrist.evaluation.pricing.prices import PriceList, total_of
from ai_psychiatrist.evaluation.pricing.tokens import CallTokens, possible_tokens, summed
from ai_psychiatrist.store.run_records import CallUsage

_LEAST_ERROR_STATUS = 400


class Caller(NamedTuple):
    """Who was asked by whom."""

    agent: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedCalls:
    """What one agent's calls to one model used."""

    caller: Caller
    calls: int
    refused: int
    """Answered with an error, or never made by a batch, and free."""
    uncounted: int
    """Of which the backend did not tell the tokens in and out; priced as they were planned."""
    tokens: CallTokens
    usd: Decimal | None
    """`None` where no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPrices:
    """The prices of calls, those without a count by what was planned of them."""

    prices: PriceList
    plan: RunPlan

    def of_call(self, call: ModelCall) -> Decimal | None:
        """Return the price of one call that was made live, `None` where none is known."""
        if call.http_status is not None and call.http_status >= _LEAST_ERROR_STATUS:
            return Decimal(0)
        if call.input_tokens is None or call.output_tokens is None:
            return self.planned(Caller(call.agent, call.model))
        tokens = possible_tokens(
            sent=call.input_tokens,
            written=call.output_tokens,
            cache_read=call.cache_read_tokens or 0,
            cache_write=call.cache_write_tokens or 0,
        )
        return self.prices.usd(call.model, tokens)

    def planned(self, caller: Caller, *, is_batch: bool = False) -> Decimal | None:
        """Return the mean price of a caller's calls as planned; of others, that of all calls."""
        rows = [one for one in self.plan.by_agent if one.agent == caller.agent]
        rows = rows or list(self.plan.by_agent)
        calls = sum(one.calls for one in rows)
        tokens = CallTokens(
            input=sum(one.tokens.input for one in rows),
            output=sum(one.tokens.output for one in rows),
        )
        usd = price_of_calls(self.prices, caller.model, tokens, calls, is_batch=is_batch)
        return usd if usd is None or not calls else usd / Decimal(str(calls))

    def of_usage(self, one: CallUsage) -> Decimal | None:
        """Return the price of calls of about one length, `None` where none is known."""
        is_batch, caller = bool(one.is_batch), Caller(one.agent, one.model)
        usd = price_of_calls(self.prices, one.model, _tokens([one]), one.counted, is_batch=is_batch)
        uncounted = _uncounted(one)
        if not uncounted or usd is None:
            return usd
        mean = self.planned(caller, is_batch=is_batch)
        return None if mean is None else usd + mean * uncounted


def used_calls(usage: Iterable[CallUsage], prices: CallPrices) -> list[UsedCalls]:
    """Return what each agent's calls to each model used, in the order of their names."""
    rows: Mapping[Caller, list[CallUsage]] = defaultdict(list)
    for one in usage:
        rows[Caller(one.agent, one.model)].append(one)
    return [_used(caller, rows[caller], prices) for caller in sorted(rows)]


def _used(caller: Caller, rows: list[CallUsage], prices: CallPrices) -> UsedCalls:
    return UsedCalls(
        caller=caller,
        calls=sum(one.calls for one in rows),
        refused=sum(one.refused for one in rows),
        uncounted=sum(map(_uncounted, rows)),
        tokens=_tokens(rows),
        usd=total_of(map(prices.of_usage, rows)),
    )


def _uncounted(one: CallUsage) -> int:
    return max(one.calls - one.counted - one.refused, 0)


def _tokens(rows: list[CallUsage]) -> CallTokens:
    return possible_tokens(
        sent=sum(one.input for one in rows),
        written=sum(one.output for one in rows),
        cache_read=sum(one.cache_read for one in rows),
        cache_write=sum(one.cache_write for one in rows),
    )


def total_usd(used: Iterable[UsedCalls]) -> Decimal | None:
    """Return the price of all calls, `None` where a model has none."""
    return total_of(one.usd for one in used)


def used_as_json(used: list[UsedCalls]) -> dict[str, object]:
    """Return calls, tokens and money in USD, `null` where no price is known."""
    tokens = summed(one.tokens for one in used)
    return {
        "calls": sum(one.calls for one in used),
        "calls_refused": sum(one.refused for one in used),
        "calls_without_tokens": sum(one.uncounted for one in used),
        "tokens": asdict(tokens),
        "cache_share": round(tokens.cache_read / tokens.input, 4) if tokens.input else 0.0,
        "usd": usd_number(total_usd(used)),
        "by_agent": [
            {
                "agent": one.caller.agent,
                "model": one.caller.model,
                "calls": one.calls,
                "calls_refused": one.refused,
                "calls_without_tokens": one.uncounted,
                "tokens": asdict(one.tokens),
                "usd": usd_number(one.usd),
            }
            for one in used
        ],
    }
