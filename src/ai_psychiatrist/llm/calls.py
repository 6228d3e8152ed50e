"""The model calls of one assessment: their limit, their storage and their record."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeAlias

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import Attempt, FailureCode
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.telemetry.work import AgentWork, CallWork
from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.llm.providers import GOOGLE, OPENAI_CHAT, provider_of
from ai_psychiatrist.llm.replies import ChatReply, credible_tokens

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

CallResult: TypeAlias = ChatReply | ModelCallFailed
"""What a call gave: a reply, or why there is none."""

DEFAULT_MAX_CALLS: Final = 60
_DIGEST_DIGITS: Final = 64
_FINISH_REASONS: Final = frozenset({"stop", "length", "content_filter", "tool_call", "error"})
_NAMED_OTHERWISE: Final = {OPENAI_CHAT.name: "openai", GOOGLE.name: "gcp.gemini"}
"""As the conventions of OpenTelemetry call a provider, where that is not our name for it."""
_OTHER: Final = "_OTHER"
_VERSION: Final = re.compile(r"(?:[-@:.]?(?:\d+|latest))*")


class CallBudget:
    """Calls that may be made; a part of them can be set aside for one purpose."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def spend(self) -> None:
        """Take one call; raises `ModelCallFailed` when none is left."""
        if self.left <= 0:
            raise ModelCallFailed(FailureCode.CALL_BUDGET_SPENT)
        self.left -= 1

    def give_back(self) -> None:
        """Put one call back that was taken and is made again."""
        self.left += 1

    def set_aside(self, calls: int) -> "CallBudget":
        """Move so many calls, or what is left, into a budget of their own."""
        taken = max(0, min(calls, self.left))
        self.left -= taken
        return CallBudget(taken)

    @contextmanager
    def shared(self, count: int) -> Iterator[list["CallBudget"]]:
        """Divide all that is left for the block, so that no part depends on how fast others are.

        The first parts are one call larger where it has to be; what is not spent comes back.
        """
        parts = [self.set_aside(-(-self.left // remaining)) for remaining in range(count, 0, -1)]
        try:
            yield parts
        finally:
            for part in parts:
                self.take_back(part)

    def take_back(self, other: "CallBudget") -> None:
        """Take over what is left of another budget."""
        self.left += other.left
        other.left = 0


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
    """Keeps the calls of one assessment, so that none is paid for twice."""

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Return a call that was made before."""
        ...

    def admitted(self) -> AbstractAsyncContextManager[None]:
        """Let a call be made that was not made before, and kept; entered when it is to be sent."""
        return nullcontext()

    async def keep(self, call: ModelCall) -> None:
        """Keep a call; once this returns it outlives the process."""
        ...

    def judged(self, judgement: Judgement) -> None:
        """Note what became of a reply."""
        ...


def call_digest(*sent: object) -> str:
    """Return the digest of everything that a call sends."""
    return keyed_digest(json.dumps(sent, sort_keys=True, default=str), length=_DIGEST_DIGITS)


def with_result(call: ModelCall, result: CallResult) -> ModelCall:
    """Return a call with what it gave, in the JSON that Pydantic AI has for messages."""
    if isinstance(result, ModelCallFailed):
        return replace(call, code=result.code, http_status=result.http_status)
    from pydantic_ai.messages import ModelMessagesTypeAdapter  # noqa: PLC0415  half a second

    response = result.response or _response_of(result)
    return replace(
        call,
        # The library's own JSON has no form for half a character, which a reply may hold.
        reply=json.dumps(ModelMessagesTypeAdapter.dump_python([response], mode="json")),
        is_cut_off=result.is_cut_off,
        input_tokens=credible_tokens(result.input_tokens),
        output_tokens=credible_tokens(result.output_tokens),
        cache_read_tokens=credible_tokens(result.cache_read_tokens),
        cache_write_tokens=credible_tokens(result.cache_write_tokens),
    )


def result_of(kept: ModelCall) -> CallResult:
    """Return what a kept call gave when it was made."""
    if kept.code is not None:
        return ModelCallFailed(kept.code, http_status=kept.http_status)
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse  # noqa: PLC0415

    (message,) = ModelMessagesTypeAdapter.validate_python(json.loads(kept.reply or "[]"))
    if not isinstance(message, ModelResponse):
        msg = "what was kept is no response"
        raise TypeError(msg)
    return ChatReply.of(message)


def _response_of(reply: ChatReply) -> "ModelResponse":
    from pydantic_ai.messages import ModelResponse, TextPart  # noqa: PLC0415
    from pydantic_ai.usage import RequestUsage  # noqa: PLC0415

    return ModelResponse(
        parts=[TextPart(reply.text)],
        usage=RequestUsage(
            input_tokens=reply.input_tokens or 0,
            output_tokens=reply.output_tokens or 0,
            cache_read_tokens=reply.cache_read_tokens or 0,
            cache_write_tokens=reply.cache_write_tokens or 0,
        ),
        finish_reason="length" if reply.is_cut_off else "stop",
    )


class FirstCallAhead:
    """Holds the calls of one assessment back until the first one to their model has ended.

    Providers keep a prefix once a reply to it has begun. Calls that come before pay for all of it.
    """

    def __init__(self) -> None:
        self._ended: dict[str, asyncio.Event] = {}

    @asynccontextmanager
    async def turn(self, endpoint: ModelEndpoint) -> AsyncIterator[None]:
        """Let the model's first call go ahead; the others start when it has ended, in any way."""
        if not endpoint.caches_prefixes:
            yield
            return
        first = self._ended.get(endpoint.name)
        if first is not None:
            await first.wait()
            yield
            return
        ended = self._ended[endpoint.name] = asyncio.Event()
        try:
            yield
        finally:
            ended.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecorder:
    """What the calls of one assessment or turn share, whichever agent makes them."""

    budget: CallBudget = field(default_factory=lambda: CallBudget(DEFAULT_MAX_CALLS))
    store: CallStore | None = None
    """Where calls are kept and found again; without one nothing is kept."""
    attempts: list[Attempt] = field(default_factory=list)
    """In the order in which they ended."""
    deadline: float | None = None
    """When the work ends whatever has come, in the time of the event loop."""
    paused: Callable[[], AbstractContextManager[None]] = nullcontext
    """Has the time of the work stand still while a call waits for its turn at the backend."""
    ahead: FirstCallAhead | None = None
    """Lets the first call to a model go alone; `None` where all go as they come."""
    other_hosts: set[str] = field(default_factory=set)
    """Where words were sent by other ways than attempts, such as to an embedder."""
    made: Counter[str] = field(default_factory=Counter, repr=False)
    """How often each call was made, by its digest."""
    asked: Counter[str] = field(default_factory=Counter, repr=False)
    """How often each agent was asked for an output."""

    @classmethod
    def of(cls, max_calls: int = DEFAULT_MAX_CALLS, *, store: CallStore | None = None) -> Self:
        """Return an empty recorder with a budget of so many calls."""
        return cls(budget=CallBudget(max_calls), store=store)

    def has_time_for(self, seconds: float) -> bool:
        """Return whether the deadline is further away than so many seconds."""
        return self.deadline is None or asyncio.get_running_loop().time() + seconds < self.deadline


def agent_work(agent: str, chain: FallbackChain, attempts: Sequence[Attempt]) -> AgentWork:
    """Return an agent's run as it begins. `attempts`: the list that its calls are added to."""
    provider = _provider(chain[0]) if chain else _OTHER
    return AgentWork(agent=agent, provider=provider, attempts=attempts)


def call_work(agent: str, endpoint: ModelEndpoint) -> CallWork:
    """Return a call as it begins."""
    is_prefixed = provider_of(endpoint.name) is not None
    return CallWork(
        agent=agent,
        model=endpoint.name,
        provider=_provider(endpoint),
        requested=endpoint.name.partition(":")[2] if is_prefixed else endpoint.name,
        is_local=endpoint.is_local,
    )


def note_result(work: CallWork, result: CallResult) -> None:
    """Write down what a call gave; of its words nothing."""
    if isinstance(result, ModelCallFailed):
        work.error, work.http_status = result.code, result.http_status
        return
    work.input_tokens = credible_tokens(result.input_tokens)
    work.output_tokens = credible_tokens(result.output_tokens)
    work.cache_read_tokens = credible_tokens(result.cache_read_tokens) or 0
    response = result.response
    if response is None:
        work.finish_reason = "length" if result.is_cut_off else "stop"
        return
    work.answered_by = _like_requested(response.model_name, work.requested)
    if response.finish_reason in _FINISH_REASONS:
        work.finish_reason = response.finish_reason


def _provider(endpoint: ModelEndpoint) -> str:
    if endpoint.is_local:
        return endpoint.name
    provider = provider_of(endpoint.name)
    return _OTHER if provider is None else _NAMED_OTHERWISE.get(provider.name, provider.name)


def _like_requested(answered_by: object, requested: str) -> str | None:
    """Return the name of a model that a server tells, if it is what was asked for, or a version.

    A server can send any text as a name.
    """
    if not isinstance(answered_by, str) or not answered_by.startswith(requested):
        return None
    return answered_by if _VERSION.fullmatch(answered_by.removeprefix(requested)) else None
