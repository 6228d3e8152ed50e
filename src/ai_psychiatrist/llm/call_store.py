"""Where the model calls of an assessment are kept, so that none is paid for twice."""

import json
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeAlias

from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import Attempt
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.infrastructure.digests import keyed_digest

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

    async def keep(self, call: ModelCall) -> None:
        """Keep a call; once this returns it outlives the process."""
        ...

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        ...


def call_digest(*sent: object) -> str:
    """Return the digest of everything that a call sends."""
    return keyed_digest(json.dumps(sent, sort_keys=True, default=str), length=_DIGEST_DIGITS)


CallResult: TypeAlias = ModelResponse | ModelCallFailed
"""What a call gave: a response, or why there is none."""


def with_result(call: ModelCall, result: CallResult) -> ModelCall:
    """Return a call with what it gave, in the form in which it is kept."""
    if isinstance(result, ModelCallFailed):
        return replace(call, code=result.code, http_status=result.http_status)
    return replace(
        call,
        # The library's own JSON has no form for half a character, which a reply may hold.
        reply=json.dumps(ModelMessagesTypeAdapter.dump_python([result], mode="json")),
        is_cut_off=result.finish_reason == "length",
        input_tokens=credible_tokens(result.usage.input_tokens),
        output_tokens=credible_tokens(result.usage.output_tokens),
    )


def result_of(kept: ModelCall) -> CallResult:
    """Return what a kept call gave when it was made."""
    if kept.code is not None:
        return ModelCallFailed(kept.code, http_status=kept.http_status)
    (message,) = ModelMessagesTypeAdapter.validate_python(json.loads(kept.reply or "[]"))
    if not isinstance(message, ModelResponse):
        msg = "what was kept is no response"
        raise TypeError(msg)
    return message


def credible_tokens(count: int) -> int | None:
    """Return a count of tokens, `None` for none and for one that no model has.

    Backends report what they like.
    """
    return count if 0 < count <= _MOST_TOKENS else None
