"""Get an agent's output from the first model that gives an acceptable reply.

For each model of the chain: an agent run that asks again when a reply is rejected, then one plain
chat call with the same extractor, then the next model. A dead or slow backend is not asked twice,
unless its retries say so; one that is busy is waited for. Where no model gives such a reply, what
is valid of the refused ones stands, for the agents that can do with parts.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, TypeAlias

from ai_psychiatrist.domain.errors import AgentFailed, ModelCallFailed
from ai_psychiatrist.domain.failures import (
    Attempt,
    CallPath,
    FailureCategory,
    FailureCode,
    FailureSeverity,
)
from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.infrastructure.logging import get_logger, record_failure
from ai_psychiatrist.llm.agent_calls import AgentCalls, Call, Review
from ai_psychiatrist.llm.calls import CallRecorder
from ai_psychiatrist.llm.definition import AgentDefinition, OutputT, Prompt, asking_in
from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.llm.replies import (
    ChatReply,
    OnKept,
    OutputMode,
    PartialOutput,
    ReplyRejected,
    SimpleChatClient,
    read_reply,
)
from ai_psychiatrist.llm.settings import OutputModeSetting, PydanticAISettings

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model

logger = get_logger(__name__)

DEFAULT_RETRIES: Final = 3
NO_PLAIN_CALL: Final = frozenset(
    {
        FailureCode.CONNECTION_FAILED,
        FailureCode.TIMED_OUT,
        FailureCode.RATE_LIMITED,
        FailureCode.NOT_AUTHORISED,
        FailureCode.MODEL_NOT_FOUND,
        FailureCode.MODEL_TOO_LARGE,
        FailureCode.CALL_BUDGET_SPENT,
    }
)
"""After these the plain path would only meet the same again."""

ReplyAgent: TypeAlias = "Agent[AgentCalls | None, OutputT]"
"""An agent without a model, whose calls are recorded where it is given calls to record them in."""


def create_agent(
    definition: AgentDefinition[OutputT], *, retries: int = DEFAULT_RETRIES
) -> "ReplyAgent[OutputT]":
    """Return an agent without a model: each run names its own."""
    # Half a second that models of this process do without.
    from ai_psychiatrist.llm.pydantic_agent import reply_agent  # noqa: PLC0415

    return reply_agent(definition, retries=retries)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutcome(Generic[OutputT]):
    """An agent's output or the reason why there is none, and every attempt either way."""

    output: OutputT | None
    failure: FailureCode | None
    attempts: tuple[Attempt, ...]
    rejection: ReplyRejected | None = None
    """Why the last rejected reply was refused, when there is no output."""
    kept: PartialOutput | None = None
    """What is valid of the replies that were refused for their form."""

    def required(self, agent: str) -> OutputT:
        """Return the output; raises `AgentFailed` when there is none."""
        if self.output is None:
            raise AgentFailed(agent, self.failure or FailureCode.OUTPUT_REJECTED)
        return self.output


class AgentRunner(Generic[OutputT]):
    """Runs one agent over a chain of models; built once and used for every assessment."""

    def __init__(
        self,
        definition: AgentDefinition[OutputT],
        create_agent: "Callable[[], ReplyAgent[OutputT]]",
        chain: FallbackChain,
        settings: PydanticAISettings,
        *,
        temperature: float | None = 0.0,
        max_tokens: int | None = None,
        output_mode: OutputModeSetting = "auto",
        no_plain_call_after: frozenset[FailureCode] = NO_PLAIN_CALL,
    ) -> None:
        """`create_agent`: makes the agent when the first model needs one.

        `output_mode`: how a schema goes out that no task puts into words; others as each endpoint
        has it.

        `max_tokens`: longest reply of the agent path, where it is not to be the models' own.
        `no_plain_call_after`: failures after which the next model is asked at once.
        """
        self.definition = definition
        self.chain = chain
        self._create_agent = create_agent
        self._settings = settings
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._output_mode = output_mode
        self._no_plain_call_after = no_plain_call_after

    @cached_property
    def _agent(self) -> "ReplyAgent[OutputT]":
        return self._create_agent()

    @property
    def most_calls(self) -> int:
        """How many calls one output may cost, those to busy servers apart."""
        return len(self.chain) * (self._settings.retries + 2)

    async def run(
        self,
        prompt: Prompt,
        recorder: CallRecorder,
        *,
        review: Review | None = None,
        on_kept: OnKept | None = None,
    ) -> AgentOutcome[OutputT]:
        """Ask the models in order; never raises for what a model or its backend does.

        `review` sees each output before it is accepted, and may have the model asked again.
        `on_kept` gets what is valid of refused replies, for a caller that is broken off after them.
        """
        calls = AgentCalls(self.definition.name, recorder, review=review, on_kept=on_kept)
        with calls.as_one_run(self.chain) as work:
            outcome = await self._asked(prompt, calls)
            work.error = outcome.failure
        return outcome

    async def _asked(self, prompt: Prompt, calls: AgentCalls) -> AgentOutcome[OutputT]:
        failure = ModelCallFailed(FailureCode.MISSING_INPUT)
        for endpoint in self.chain:
            try:
                output = await self._ask(endpoint, prompt, calls)
            except ModelCallFailed as error:
                # Without its frames, this one among them, which hold the reply.
                failure = error.with_traceback(None)
                if failure.code is FailureCode.CALL_BUDGET_SPENT:
                    break
            except Exception as error:  # noqa: BLE001  whatever it is, other agents go on
                logger.error("agent_failed_unexpectedly", error_type=type(error).__name__)
                failure = ModelCallFailed(FailureCode.INTERNAL_ERROR)
                calls.close(FailureCode.INTERNAL_ERROR)
            else:
                return AgentOutcome(
                    output=output, failure=None, attempts=tuple(calls.attempts), kept=calls.kept
                )
            finally:
                calls.close(FailureCode.DEADLINE_EXCEEDED)
        self._record(failure, calls)
        return AgentOutcome(
            output=None,
            failure=failure.code,
            attempts=tuple(calls.attempts),
            rejection=calls.last_rejection,
            kept=calls.kept,
        )

    def _record(self, failure: ModelCallFailed, calls: AgentCalls) -> None:
        if calls.kept is not None:
            record_failure(
                FailureCategory.PARTIAL_REPLY,
                FailureSeverity.WARNING,
                "No reply was accepted as a whole: what could be read of a refused one stands.",
                stage=self.definition.name,
                code=failure.code,
                model=calls.kept_of,
                unread_count=calls.kept.unread_count,
                lost_count=calls.kept.lost_count,
            )
            return
        status = {} if failure.http_status is None else {"http_status": failure.http_status}
        record_failure(
            FailureCategory.AGENT_FAILED,
            FailureSeverity.ERROR,
            "No model of the chain gave an acceptable reply.",
            stage=self.definition.name,
            code=failure.code,
            **status,
        )

    async def _ask(self, endpoint: ModelEndpoint, prompt: Prompt, calls: AgentCalls) -> OutputT:
        is_agent = endpoint.agent_model is not None or endpoint.is_local
        if not is_agent or not self._settings.enabled:
            return await self._ask_plainly(endpoint, prompt, calls)
        try:
            if endpoint.agent_model is None:
                tries = self._settings.retries + 1
                return await self._ask_plainly(endpoint, prompt, calls, CallPath.AGENT, tries)
            return await self._ask_agent(endpoint, endpoint.agent_model, prompt, calls)
        except ModelCallFailed as error:
            is_spent = endpoint.retries.is_spent_on(error)
            if error.code in self._no_plain_call_after or is_spent or endpoint.chat is None:
                raise
        return await self._ask_plainly(endpoint, prompt, calls)

    async def _ask_agent(
        self, endpoint: ModelEndpoint, model: "Model", prompt: Prompt, calls: AgentCalls
    ) -> OutputT:
        # Loaded with the model already; models of this process do without.
        from ai_psychiatrist.llm.pydantic_agent import run_agent  # noqa: PLC0415

        return await run_agent(
            self._agent,
            model,
            prompt,
            calls,
            endpoint=endpoint,
            mode=self._mode(endpoint),
            tool=self.definition.tool,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
        )

    def _mode(self, endpoint: ModelEndpoint) -> OutputMode:
        if self.definition.tool is None:
            return OutputMode.TEXT
        if self.definition.tool.text_format:
            return endpoint.output_mode
        if self._output_mode != "auto":
            return OutputMode(self._output_mode)
        return OutputMode.TOOL if endpoint.takes_tools else OutputMode.TEXT

    async def _ask_plainly(
        self,
        endpoint: ModelEndpoint,
        prompt: Prompt,
        calls: AgentCalls,
        path: CallPath = CallPath.PLAIN,
        tries: int = 1,
    ) -> OutputT:
        chat = endpoint.chat
        if chat is None:
            raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
        if self.definition.tool is not None:
            prompt = asking_in(OutputMode.TEXT, prompt, self.definition.tool)
        calls.prompt_digest = prompt.digest
        asked_for = (endpoint.name, path, prompt.system, prompt.user, self._temperature)
        call = Call(
            endpoint=endpoint,
            path=path,
            asked_for=lambda: asked_for,
            messages=lambda: (
                RequestMessage("system", prompt.system),
                RequestMessage("user", prompt.user),
            ),
            send=lambda: _chat(chat, prompt),
            read=lambda reply: read_reply(reply, max_bytes=endpoint.max_reply_bytes),
        )
        for _ in range(tries):
            reading = await calls.make(call)
            with suppress(ReplyRejected):
                return await calls.judge(
                    self.definition.extract, reading.text, self.definition.parts
                )
        raise ModelCallFailed(FailureCode.OUTPUT_REJECTED)


async def _chat(chat: SimpleChatClient, prompt: Prompt) -> ChatReply:
    reply = await chat.simple_chat(prompt.user, system_prompt=prompt.system)
    if isinstance(reply, str):
        return ChatReply(text=reply)
    # A client of another's making may pass a backend's null on.
    if not isinstance(getattr(reply, "text", None), str):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    return reply
