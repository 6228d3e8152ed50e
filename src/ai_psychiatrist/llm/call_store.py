"""Where the model calls of an assessment are kept, so that none is paid for twice."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.failures import Attempt, CallPath, FailureCode
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.llm.chat import ChatReply

_DIGEST_DIGITS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """Which call it is: the same one again has an equal request."""

    agent: str
    model: str
    path: CallPath
    digest: str
    """Keyed digest of everything that is sent: texts, sampling, output contract."""
    occurrence: int
    """0 for the first call of this digest in an assessment, then one more each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReply:
    """What a call gave: a reply or the code of its failure."""

    content: str | None = field(default=None, repr=False)
    """JSON of a response on the agent path, of the reply's text on the plain one."""
    code: FailureCode | None = None
    is_cut_off: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_ms: float = 0.0


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

    async def recall(self, request: CallRequest) -> KeptReply | None:
        """Return what a call gave when it was made before."""
        ...

    async def keep(self, request: CallRequest, reply: KeptReply) -> None:
        """Keep what a call gave; once this returns it outlives the process."""
        ...

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        ...


class Occurrences:
    """Counts how often each call was made and each agent was asked."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._rounds: Counter[str] = Counter()

    def of_call(self, digest: str) -> int:
        """Return how often a call was made before, and count this one."""
        self._calls[digest] += 1
        return self._calls[digest] - 1

    def of_agent(self, agent: str) -> int:
        """Return how often an agent was asked before, and count this time."""
        self._rounds[agent] += 1
        return self._rounds[agent] - 1


def agent_call_digest(
    agent: str,
    model: str,
    messages: Sequence[ModelMessage],
    settings: ModelSettings | None,
    parameters: ModelRequestParameters,
) -> str:
    """Return the digest of a request through Pydantic AI."""
    texts = [
        (part.part_kind, str(getattr(part, "content", "") or getattr(part, "args", "")))
        for message in messages
        for part in message.parts
    ]
    tools = [(tool.name, tool.parameters_json_schema) for tool in parameters.output_tools]
    instructions = [getattr(message, "instructions", None) for message in messages[:1]]
    sent = [agent, model, instructions, texts, dict(settings or {}), tools, parameters.output_mode]
    return _digest(sent)


def plain_call_digest(agent: str, model: str, system: str, user: str, temperature: float) -> str:
    """Return the digest of a plain chat call."""
    return _digest([agent, model, system, user, temperature])


def _digest(sent: Sequence[object]) -> str:
    text = json.dumps(sent, sort_keys=True, default=str)
    return keyed_digest(text, length=_DIGEST_DIGITS)


def kept_response(response: ModelResponse, duration_ms: float) -> KeptReply:
    """Return a response of the agent path in the form in which it is kept."""
    return KeptReply(
        # The library's own JSON has no form for half a character, which a reply may hold.
        content=json.dumps(ModelMessagesTypeAdapter.dump_python([response], mode="json")),
        is_cut_off=response.finish_reason == "length",
        input_tokens=response.usage.input_tokens or None,
        output_tokens=response.usage.output_tokens or None,
        duration_ms=duration_ms,
    )


def response_of(kept: KeptReply) -> ModelResponse:
    """Return a kept response as it came."""
    (message,) = ModelMessagesTypeAdapter.validate_python(json.loads(kept.content or "[]"))
    if not isinstance(message, ModelResponse):
        msg = "what was kept is no response"
        raise TypeError(msg)
    return message


def kept_chat_reply(reply: ChatReply, duration_ms: float) -> KeptReply:
    """Return a reply of the plain path in the form in which it is kept."""
    return KeptReply(
        content=json.dumps(reply.text),
        is_cut_off=reply.is_cut_off,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        duration_ms=duration_ms,
    )


def chat_reply_of(kept: KeptReply) -> ChatReply:
    """Return a kept reply of the plain path as it came."""
    return ChatReply(
        text=json.loads(kept.content or '""'),
        is_cut_off=kept.is_cut_off,
        input_tokens=kept.input_tokens,
        output_tokens=kept.output_tokens,
    )
