"""Get an agent's output from the first model that gives an acceptable reply.

For each model of the chain: an agent run that asks again when a reply is rejected, then one plain
chat call with the same extractor, then the next model. A dead or slow backend is not asked twice,
unless the agent's transport is told to try again.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic

from pydantic_ai import Agent
from pydantic_ai.exceptions import ContentFilterError, UnexpectedModelBehavior, UserError
from pydantic_ai.messages import UserContent
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import AgentFailed, ModelCallFailed
from ai_psychiatrist.domain.failures import (
    Attempt,
    CallPath,
    FailureCategory,
    FailureCode,
    FailureSeverity,
)
from ai_psychiatrist.infrastructure.failure_log import record_failure
from ai_psychiatrist.llm.account import CallAccount, Reply, Review
from ai_psychiatrist.llm.agent import create_agent
from ai_psychiatrist.llm.call_failures import failure_code
from ai_psychiatrist.llm.call_log import CallLog
from ai_psychiatrist.llm.call_store import (
    KeptReply,
    chat_reply_of,
    kept_chat_reply,
    plain_call_digest,
)
from ai_psychiatrist.llm.chat import ChatReply, SimpleChatClient
from ai_psychiatrist.llm.definition import AgentDefinition, OutputT
from ai_psychiatrist.llm.observed_model import NO_RETRIES, ObservedModel
from ai_psychiatrist.llm.output_mode import OutputMode, OutputModeSetting
from ai_psychiatrist.llm.prompt import Prompt, ending_with
from ai_psychiatrist.llm.provider_settings import provider_settings, user_content
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.llm.retries import TransportRetries
from ai_psychiatrist.llm.routes import ModelChain, ModelRoute
from ai_psychiatrist.llm.settings import PydanticAISettings

_NEXT_MODEL_AT_ONCE: Final = frozenset(
    {
        FailureCode.CONNECTION_FAILED,
        FailureCode.TIMED_OUT,
        FailureCode.RATE_LIMITED,
        FailureCode.NOT_AUTHORISED,
        FailureCode.MODEL_NOT_FOUND,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[OutputT]):
    """An agent's output or the reason why there is none, and every attempt either way."""

    output: OutputT | None
    failure: FailureCode | None
    attempts: tuple[Attempt, ...]
    rejection: ReplyRejected | None = None
    """Why the last rejected reply was refused, when there is no output."""

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
        agent: Agent[CallAccount, OutputT],
        chain: ModelChain,
        settings: PydanticAISettings,
        *,
        temperature: float = 0.0,
        output_mode: OutputModeSetting = "auto",
        transport: TransportRetries = NO_RETRIES,
    ) -> None:
        """`agent`: takes the reply as text. `output_mode`: for a definition with a schema."""
        self.definition = definition
        self.chain = chain
        self._agents = {OutputMode.TEXT: agent}
        self._settings = settings
        self._temperature = temperature
        self._output_mode = output_mode
        self._transport = transport
        for mode in {self._mode(route) for route in chain} - {OutputMode.TEXT}:
            self._agents[mode] = create_agent(definition, retries=settings.retries, mode=mode)

    def _mode(self, route: ModelRoute) -> OutputMode:
        if self.definition.tool is None or route.agent_model is None:
            return OutputMode.TEXT
        if self._output_mode != "auto":
            return OutputMode(self._output_mode)
        return OutputMode.TOOL if route.takes_tools else OutputMode.TEXT

    async def run(
        self, prompt: Prompt, calls: CallLog, *, review: Review | None = None
    ) -> Outcome[OutputT]:
        """Ask the models in order; never raises for what a model or its backend does.

        `review` sees each output before it is accepted, and may have the model asked again.
        """
        account = CallAccount(self.definition.name, prompt, calls, review)
        failure = FailureCode.MISSING_INPUT
        for route in self.chain:
            try:
                output = await self._ask(route, prompt, account)
            except ModelCallFailed as error:
                failure = error.code
                if failure is FailureCode.CALL_BUDGET_SPENT:
                    break
            else:
                return Outcome(output=output, failure=None, attempts=tuple(account.attempts))
        self._record(failure)
        return Outcome(
            output=None,
            failure=failure,
            attempts=tuple(account.attempts),
            rejection=account.last_rejection,
        )

    def _record(self, failure: FailureCode) -> None:
        record_failure(
            FailureCategory.AGENT_FAILED,
            FailureSeverity.ERROR,
            "No model of the chain gave an acceptable reply.",
            stage=self.definition.name,
            code=failure,
        )

    async def _ask(self, route: ModelRoute, prompt: Prompt, account: CallAccount) -> OutputT:
        if route.agent_model is None or not self._settings.enabled:
            return await self._ask_plainly(route, prompt, account)
        try:
            return await self._ask_agent(route, route.agent_model, prompt, account)
        except ModelCallFailed as error:
            is_final = error.code in _NEXT_MODEL_AT_ONCE | {FailureCode.CALL_BUDGET_SPENT}
            if is_final or route.chat is None or self._transport.is_spent_on(error.code):
                raise
        return await self._ask_plainly(route, prompt, account)

    async def _ask_agent(
        self, route: ModelRoute, model: Model, prompt: Prompt, account: CallAccount
    ) -> OutputT:
        mode, tool = self._mode(route), self.definition.tool
        content: str | Sequence[UserContent] = prompt.user
        settings = ModelSettings(temperature=self._temperature)
        if tool is not None:
            asked = ending_with(prompt, tool.ending(mode))
            content = user_content(model, asked)
            settings = provider_settings(model, asked, tool, mode, self._temperature)
        observed = ObservedModel(route, account, mode=mode, tool=tool, transport=self._transport)
        try:
            result = await self._agents[mode].run(
                content, model=observed, deps=account, model_settings=settings
            )
        except ContentFilterError:
            account.finish()
            raise ModelCallFailed(FailureCode.CONTENT_FILTERED) from None
        except UnexpectedModelBehavior:
            account.finish()
            raise ModelCallFailed(FailureCode.OUTPUT_REJECTED) from None
        except UserError:
            # A model that cannot do what was asked, such as a schema of its own.
            account.finish()
            raise ModelCallFailed(FailureCode.REQUEST_REFUSED) from None
        return result.output

    async def _ask_plainly(
        self, route: ModelRoute, prompt: Prompt, account: CallAccount
    ) -> OutputT:
        if route.chat is None:
            raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
        if self.definition.tool is not None:
            prompt = ending_with(prompt, self.definition.tool.ending(OutputMode.TEXT))
        call = partial(self._chat, route, route.chat, prompt, account)
        reply = await self._transport.run(call)
        try:
            return await account.judge(self.definition.extract, reply.text)
        except ReplyRejected:
            raise ModelCallFailed(FailureCode.OUTPUT_REJECTED) from None

    async def _chat(
        self,
        route: ModelRoute,
        chat: SimpleChatClient,
        prompt: Prompt,
        account: CallAccount,
        wait_seconds: float,
    ) -> ChatReply:
        request = account.identify(
            route.name,
            CallPath.PLAIN,
            lambda: plain_call_digest(
                account.agent, route.name, prompt.system, prompt.user, self._temperature
            ),
        )
        kept = await account.recall(request)
        if kept is not None:
            return self._replay(route, kept, account)
        await self._transport.pause(wait_seconds)
        async with route.slot():
            started = account.begin(route.name, CallPath.PLAIN)
            try:
                async with asyncio.timeout(route.timeout_seconds):
                    reply = await chat.simple_chat(prompt.user, system_prompt=prompt.system)
                observed = _observed(reply, route)
            except asyncio.CancelledError:
                account.failed(started, FailureCode.DEADLINE_EXCEEDED)
                raise
            except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
                code = failure_code(error)
                await account.keep_failure(request, started, code)
                account.failed(started, code)
                raise ModelCallFailed(code) from None
        await account.keep(request, started, partial(kept_chat_reply, reply))
        account.replied(started, observed)
        return reply

    def _replay(self, route: ModelRoute, kept: KeptReply, account: CallAccount) -> ChatReply:
        """Do with a kept call what was done when it was made."""
        started = account.begin(route.name, CallPath.PLAIN)
        if kept.code is not None:
            account.failed(started, kept.code)
            raise ModelCallFailed(kept.code)
        reply = chat_reply_of(kept)
        account.replied(started, _observed(reply, route))
        return reply


def _observed(reply: ChatReply, route: ModelRoute) -> Reply:
    return Reply(
        characters=len(reply.text),
        is_too_large=len(reply.text.encode("utf-8", "replace")) > route.max_reply_bytes,
        is_cut_off=reply.is_cut_off,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
    )
