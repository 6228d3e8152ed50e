"""Where the model calls of an assessment are kept, so that none is paid for twice."""

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import Attempt
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.llm.reply_reading import Reply

_DIGEST_DIGITS: Final = 64
_MOST_TOKENS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What became of one call of an agent."""

    attempt: Attempt
    round: int
    """How often the agent was asked for an output before, in the same assessment."""
    text: str | None = field(repr=False)
    """The reply as it came; `None` when there was none."""
    output: dict[str, object] | None = field(repr=False)
    """The accepted output."""
    feedback: str | None = field(repr=False)
    """What the model was told about a rejected reply."""


class CallStore(Protocol):
    """Keeps the calls of one assessment."""

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before."""
        ...

    def admitted(self) -> AbstractAsyncContextManager[None]:
        """Let a call be made that was not made before, and kept; entered when it is to be sent."""
        ...

    async def keep(self, call: ModelCall) -> None:
        """Keep a call; once this returns it outlives the process."""
        ...

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        ...


def call_digest(*sent: object) -> str:
    """Return the digest of everything that a call sends."""
    return keyed_digest(json.dumps(sent, sort_keys=True, default=str), length=_DIGEST_DIGITS)


CallResult: TypeAlias = "Reply | ModelCallFailed"
"""What a call gave: a response, or why there is none."""


def credible_tokens(count: int | None) -> int | None:
    """Return a count of tokens, `None` for none and for one that no model has.

    Backends report what they like.
    """
    return count if count and 0 < count <= _MOST_TOKENS else None
