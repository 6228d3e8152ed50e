"""The border to Pydantic AI's models: every request is bounded, timed, counted and typed."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Final

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import CallPath, FailureCode
from ai_psychiatrist.llm.account import CallAccount, Reply
from ai_psychiatrist.llm.call_failures import failure_code
from ai_psychiatrist.llm.call_store import (
    KeptReply,
    agent_call_digest,
    kept_response,
    response_of,
)
from ai_psychiatrist.llm.last_exchange import (
    in_users_voice,
    last_exchange,
    shortened,
    with_last_reply,
)
from ai_psychiatrist.llm.output_mode import OutputMode, OutputTool
from ai_psychiatrist.llm.reply_reading import is_well_formed, read_reply
from ai_psychiatrist.llm.retries import TransportRetries
from ai_psychiatrist.llm.routes import ModelRoute

NO_RETRIES: Final = TransportRetries()


class ObservedModel(WrapperModel):
    """A model whose calls are written into an account; made for one agent run."""

    def __init__(
        self,
        route: ModelRoute,
        account: CallAccount,
        *,
        mode: OutputMode = OutputMode.TEXT,
        tool: OutputTool | None = None,
        transport: TransportRetries = NO_RETRIES,
    ) -> None:
        if route.agent_model is None:
            msg = f"model {route.name!r} has no Pydantic AI model"
            raise ValueError(msg)
        super().__init__(route.agent_model)
        self._route = route
        self._account = account
        self._mode = mode
        self._tool = tool
        self._transport = transport
        self._shown: str | None = None

    def prepare_messages(
        self,
        messages: list[ModelMessage],
        model_request_parameters: ModelRequestParameters | None = None,
    ) -> list[ModelMessage]:
        """Ask again in the user's voice.

        The library would frame feedback in tags of its own and, for some models, explain them ahead
        of the instructions: a second try would then share no prefix with the first.
        """
        plain = [
            message
            if isinstance(message, ModelResponse)
            else replace(message, parts=[in_users_voice(part) for part in message.parts])
            for message in messages
        ]
        return super().prepare_messages(plain, model_request_parameters)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send a request until it is answered; raises `ModelCallFailed` when it never is."""
        sent = last_exchange(messages)
        if self._shown is not None:
            sent = with_last_reply(sent, self._shown)
        call = partial(self._call, sent, model_settings, model_request_parameters)
        return await self._transport.run(call)

    async def _call(
        self,
        sent: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        wait_seconds: float,
    ) -> ModelResponse:
        route = self._route
        request = self._account.identify(
            route.name,
            CallPath.AGENT,
            lambda: agent_call_digest(
                self._account.agent, route.name, sent, model_settings, model_request_parameters
            ),
        )
        kept = await self._account.recall(request)
        if kept is not None:
            return self._replay(kept)
        await self._transport.pause(wait_seconds)
        async with route.slot():
            started = self._account.begin(route.name, CallPath.AGENT)
            try:
                async with asyncio.timeout(route.timeout_seconds):
                    response = await self.wrapped.request(
                        sent, model_settings, model_request_parameters
                    )
                if not is_well_formed(response):
                    raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
            except asyncio.CancelledError:
                self._account.failed(started, FailureCode.DEADLINE_EXCEEDED)
                raise
            except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
                code = failure_code(error)
                await self._account.keep_failure(request, started, code)
                self._account.failed(started, code)
                raise ModelCallFailed(code) from None
        await self._account.keep(request, started, partial(kept_response, response))
        return self._observe(started, response)

    def _replay(self, kept: KeptReply) -> ModelResponse:
        """Do with a kept call what was done when it was made."""
        started = self._account.begin(self._route.name, CallPath.AGENT)
        if kept.code is not None:
            self._account.failed(started, kept.code)
            raise ModelCallFailed(kept.code)
        return self._observe(started, response_of(kept))

    def _observe(self, started: float, response: ModelResponse) -> ModelResponse:
        reading = read_reply(response, self._mode, self._tool)
        self._shown = reading.shown
        size = len(reading.text.encode("utf-8", "replace"))
        is_too_large = size > self._route.max_reply_bytes
        usage = response.usage
        self._account.replied(
            started,
            Reply(
                characters=len(reading.text),
                is_too_large=is_too_large,
                is_cut_off=response.finish_reason == "length",
                input_tokens=usage.input_tokens or None,
                output_tokens=usage.output_tokens or None,
                text=reading.text,
                refusal=reading.refusal,
            ),
        )
        # Pydantic AI would look the price of each named model up in the lists of all providers,
        # which takes as long as the other checks together; the account knows the name anyway.
        response.model_name = None
        if reading.parts is not None:
            return replace(response, parts=list(reading.parts))
        return shortened(response) if is_too_large else response
