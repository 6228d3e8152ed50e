"""The border to Pydantic AI's models: every request goes through the account of its agent."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial

# What the library does for its own judges; it has no public name.
from pydantic_ai._framing import second_model_prompt
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import CallPath, FailureCode
from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.llm.agent_calls import AgentCalls, Call
from ai_psychiatrist.llm.call_store import call_digest
from ai_psychiatrist.llm.last_exchange import last_exchange
from ai_psychiatrist.llm.output_mode import OutputMode, OutputTool
from ai_psychiatrist.llm.reply_reading import read_reply
from ai_psychiatrist.llm.routes import ModelRoute
from ai_psychiatrist.llm.user_text import user_text


class AccountedModel(WrapperModel):
    """A model whose calls are written into an account; made for one agent run.

    The run asks for text and gets text, whatever the form that goes out: the schema is put into the
    request here, and what the model wrote under it is taken out again.
    """

    def __init__(
        self,
        route: ModelRoute,
        calls: AgentCalls,
        *,
        mode: OutputMode = OutputMode.TEXT,
        tool: OutputTool | None = None,
    ) -> None:
        if route.agent_model is None:
            msg = f"model {route.name!r} has no Pydantic AI model"
            raise ValueError(msg)
        super().__init__(route.agent_model)
        self._route = route
        self._calls = calls
        self._mode = mode
        self._tool = tool

    def prepare_messages(
        self,
        messages: list[ModelMessage],
        model_request_parameters: ModelRequestParameters | None = None,
    ) -> list[ModelMessage]:
        """Leave out what a second try does not need.

        Nor is the transcript searched for the library's own marks: it is data to this model, and
        the search normalises all of it on the event loop, once a call.
        """
        with second_model_prompt():
            return super().prepare_messages(last_exchange(messages), model_request_parameters)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send a request until it is answered; raises `ModelCallFailed` when it never is."""
        route, mode, tool = self._route, self._mode, self._tool
        parameters = _with_schema(model_request_parameters, mode, tool)
        reading = await self._calls.make(
            Call(
                route=route,
                path=CallPath.AGENT,
                digest=lambda: call_digest(
                    route.name,
                    CallPath.AGENT,
                    _texts(messages),
                    dict(model_settings or {}),
                    None if tool is None else asdict(tool),
                    mode,
                ),
                messages=lambda: tuple(_sent(messages)),
                send=lambda: self._send(messages, model_settings, parameters),
                read=partial(read_reply, mode=mode, tool=tool, max_bytes=route.max_reply_bytes),
            )
        )
        # A blank stands for a reply without words, so that it, too, reaches the extractor.
        return ModelResponse(parts=[TextPart(reading.text or " ")])

    async def _send(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await self.wrapped.request(messages, model_settings, parameters)
        if response.finish_reason == "content_filter":
            raise ModelCallFailed(FailureCode.CONTENT_FILTERED)
        return response


def _with_schema(
    parameters: ModelRequestParameters, mode: OutputMode, tool: OutputTool | None
) -> ModelRequestParameters:
    if tool is None or mode is OutputMode.TEXT:
        return parameters
    schema = dict(tool.schema)
    if mode is OutputMode.NATIVE:
        wanted = OutputObjectDefinition(
            json_schema=schema, name=tool.name, description=tool.description
        )
        return replace(parameters, output_mode="native", output_object=wanted)
    only_tool = ToolDefinition(
        name=tool.name,
        description=tool.description,
        parameters_json_schema=schema,
        kind="output",
    )
    return replace(
        parameters, output_mode="tool", output_tools=[only_tool], allow_text_output=False
    )


def _texts(messages: Sequence[ModelMessage]) -> list[object]:
    return [
        [
            getattr(message, "instructions", None),
            *([part.part_kind, _words(part)] for part in message.parts),
        ]
        for message in messages
    ]


def _words(part: object) -> str:
    """Return what is sent; marks for a provider's cache are none of it."""
    if isinstance(part, UserPromptPart):
        return user_text(part)
    return str(getattr(part, "content", ""))


def _sent(messages: Sequence[ModelMessage]) -> Iterator[RequestMessage]:
    """Yield what `prepare_messages` left, in the order in which a model reads it."""
    instructions = getattr(messages[0], "instructions", None)
    if instructions:
        yield RequestMessage("system", instructions)
    for message in messages:
        if isinstance(message, ModelResponse):
            yield RequestMessage("assistant", message.text or "")
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                yield RequestMessage("user", user_text(part))
