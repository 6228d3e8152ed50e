"""Tokens of calls, and what they cost in USD: from the list of `genai-prices`, or given by hand.

The list is the one that is installed; nothing is fetched. A model that is not in it, and any model
on a server of one's own, has no price: that is unknown, and never 0.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final
from urllib.parse import urlsplit

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.llm.providers import ANTHROPIC, GOOGLE, OLLAMA, OPENAI, provider_of

_MILLION: Final = Decimal(1_000_000)
_LISTED: Final = frozenset({OPENAI, ANTHROPIC, GOOGLE})
_BATCH: Final = {"processing": "batch"}
_FIELD: Final = "--price"
_AMOUNT: Final = re.compile(r"\d{1,9}(?:\.\d{1,9})?")
GIVEN: Final = "given by hand"
IN_PROCESS: Final = "runs in this process"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTokens:
    """The tokens of one call, or the sum of some."""

    input: int
    """Those that were found in a cache, or put there, are among them."""
    output: int
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: "CallTokens") -> "CallTokens":
        """Return the tokens of both together."""
        return CallTokens(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
        )

    def mean(self, calls: float) -> "CallTokens":
        """Return those of one of so many calls, rounded."""
        return CallTokens(
            input=round(self.input / calls),
            output=round(self.output / calls),
            cache_read=round(self.cache_read / calls),
            cache_write=round(self.cache_write / calls),
        )

    @property
    def cache_share(self) -> float:
        """Part of the tokens in that is found in a cache, 0-1."""
        return self.cache_read / self.input if self.input else 0.0


def summed(tokens: Iterable[CallTokens]) -> CallTokens:
    """Return the tokens of calls together."""
    return sum(tokens, start=CallTokens(input=0, output=0))


def possible_tokens(*, sent: int, written: int, cache_read: int, cache_write: int) -> CallTokens:
    """Return tokens of which those of the cache are among those in, whatever a backend says."""
    read = min(cache_read, sent)
    return CallTokens(
        input=sent, output=written, cache_read=read, cache_write=min(cache_write, sent - read)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPrice:
    """What a model costs as it is given by hand, in USD per million tokens."""

    input_usd: Decimal
    output_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices of the models of a run."""

    addresses: Mapping[str, str | None]
    """Model → where it is served."""
    given: Mapping[str, GivenPrice] = field(default_factory=dict)
    """By model; they go before the list."""

    def usd(self, model: str, tokens: CallTokens, *, is_batch: bool = False) -> Decimal | None:
        """Return what a call costs, `None` where no price is known.

        `is_batch`: by the provider's batch interface; of a price given by hand none is known.
        """
        if model == BASELINE:
            return Decimal(0)
        given = self.given.get(model)
        if given is not None:
            spent = given.input_usd * tokens.input + given.output_usd * tokens.output
            return None if is_batch else spent / _MILLION
        return _listed_usd(model, self.addresses.get(model), tokens, is_batch=is_batch)

    def usd_of_calls(
        self, model: str, tokens: CallTokens, calls: float, *, is_batch: bool = False
    ) -> Decimal | None:
        """Return what calls cost together; of each it depends on its own length."""
        if not calls:
            return Decimal(0) if self.source(model) else None
        usd = self.usd(model, tokens.mean(calls), is_batch=is_batch)
        return None if usd is None else usd * Decimal(str(calls))

    def source(self, model: str) -> str | None:
        """Return where a model's price is from, `None` where there is none."""
        if model == BASELINE:
            return IN_PROCESS
        if model in self.given:
            return GIVEN
        if self.usd(model, CallTokens(input=1, output=1)) is None:
            return None
        from genai_prices import __version__  # noqa: PLC0415  most of a second

        return f"genai-prices {__version__}"

    def unpriced(self, models: Iterable[str]) -> list[str]:
        """Return the models without a price, each once."""
        return [model for model in dict.fromkeys(models) if self.source(model) is None]


def total_of(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum of amounts, `None` where one of them is not known."""
    total = Decimal(0)
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


def usd_number(usd: Decimal | None) -> float | None:
    """Return an amount for JSON, to a millionth of a dollar."""
    return None if usd is None else float(round(usd, 6))


def given_prices(texts: Iterable[str]) -> dict[str, GivenPrice]:
    """Read prices such as `ollama:gemma3=0.10/0.40`, USD per million tokens in and out.

    Raises `InputError` for one that is written otherwise, and for a model that is named twice.
    """
    prices: dict[str, GivenPrice] = {}
    for text in texts:
        model, _, amounts = text.rpartition("=")
        parts = amounts.split("/")
        if not model or len(parts) != 2 or not all(map(_AMOUNT.fullmatch, parts)):
            msg = (
                f"a price is given as MODEL=IN/OUT, in USD per million tokens, such as "
                f"ollama:gemma3=0.10/0.40, but not as {text!r}"
            )
            raise InputError(msg, field=_FIELD)
        if model in prices:
            raise InputError(f"the price of {model!r} is given more than once", field=_FIELD)
        prices[model] = GivenPrice(input_usd=Decimal(parts[0]), output_usd=Decimal(parts[1]))
    return prices


def _listed_usd(
    model: str, address: str | None, tokens: CallTokens, *, is_batch: bool
) -> Decimal | None:
    provider = provider_of(model)
    if provider is None or provider is OLLAMA:
        return None
    # Most of a second, which only those wait for who ask for prices.
    from genai_prices import Usage, calc_price  # noqa: PLC0415

    is_own = provider in _LISTED and _host(address) == _host(provider.default_url)
    usage = Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
    )
    name, context = model.partition(":")[2], _BATCH if is_batch else None
    try:
        if is_own:
            found = calc_price(usage, name, provider_id=provider.name, price_context=context)
        else:
            found = calc_price(usage, name, provider_api_url=address or "", price_context=context)
    except (LookupError, ValueError, InvalidOperation):
        return None
    return None if is_batch and not _has_batch_price(found.model) else found.total_price


def _has_batch_price(model: object) -> bool:
    variants = getattr(model, "price_variants", None) or ()
    return any(dict(variant.when) == _BATCH for variant in variants)


def _host(address: str | None) -> str | None:
    return urlsplit(address or "").hostname
