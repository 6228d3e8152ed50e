"""One model call, from the request to what is kept of it."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ai_psychiatrist.domain.failures import CallPath, FailureCode


class RequestMessage(NamedTuple):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A call that was made and paid for, and what it gave: a reply or the code of its failure."""

    agent: str
    model: str
    path: CallPath
    digest: str
    """Keyed digest of everything that was sent: texts, sampling, output contract."""
    occurrence: int = 0
    """0 for the first call of this digest in an assessment, then one more each time."""
    sent: tuple[RequestMessage, ...] = field(default=(), repr=False)
    """Empty where the words are not known or not kept."""
    reply: str | None = field(default=None, repr=False)
    """JSON of the response as it came."""
    code: FailureCode | None = None
    http_status: int | None = None
    is_cut_off: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    """Of the tokens in, those that the provider found in its cache, where it says so."""
    cache_write_tokens: int | None = None
    """Of the tokens in, those that it put there."""
    duration_ms: float = 0.0
    hosts: tuple[str, ...] | None = None
    """Where its words were sent; `None` where that was not noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswer:
    """What a provider says of one call of a batch."""

    custom_id: str
    status: str
    """`succeeded`, `errored`, `expired` or `canceled`."""
    body: str | None = field(repr=False)
    """The provider's JSON of the reply or the error; `None` for a call that was not made."""
