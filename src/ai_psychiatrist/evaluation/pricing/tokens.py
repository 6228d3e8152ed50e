"""How many tokens a call has: an estimate from the bytes that are sent, and of usual replies."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

BYTES_PER_TOKEN: Final = 4.0
"""Of UTF-8, as in few-shot scoring: near to what tokenizers make of English."""
LEAST_CACHED_TOKENS: Final = 1024
"""Shorter prefixes are kept by no provider; some ask for more."""

ESTIMATE: Final = (
    "tokens are estimated: one for four bytes of UTF-8 that are sent, and a usual length for each "
    "reply; a run of a few units (--limit) shows how far off that is for these models"
)

REPLY_TOKENS: Final = {
    "qualitative": 900,
    "evidence": 500,
    "quantitative": 900,
    "judge": 120,
    "judges": 400,
    "meta_review": 180,
    "danger": 150,
    "ablation": 900,
    "rescoring": 900,
    "belief_tokens": 1,
    "belief_decision": 100,
}
"""Of a reply without thinking; models that think write more, which is paid as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTokens:
    """The tokens of one call, or the sum of some."""

    input: int
    """Those that were found in a cache, or put there, are among them."""
    output: int
    cache_read: int = 0
    cache_write: int = 0


def summed(tokens: Iterable[CallTokens]) -> CallTokens:
    """Return the tokens of calls together."""
    ones = list(tokens)
    return CallTokens(
        input=sum(one.input for one in ones),
        output=sum(one.output for one in ones),
        cache_read=sum(one.cache_read for one in ones),
        cache_write=sum(one.cache_write for one in ones),
    )


def tokens_of(text: str) -> float:
    """Return about how many tokens a text has."""
    return len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN


def possible_tokens(*, sent: int, written: int, cache_read: int, cache_write: int) -> CallTokens:
    """Return tokens of which those of the cache are among those in, as whatever backend told."""
    read = min(cache_read, sent)
    return CallTokens(
        input=sent, output=written, cache_read=read, cache_write=min(cache_write, sent - read)
    )
