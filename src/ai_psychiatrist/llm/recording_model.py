"""The border to Pydantic AI's models: every request is recorded, and can be replayed."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Final

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import CallPath, FailureCode
from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.llm.agent_calls import AgentCalls, Call
from ai_psychiatrist.llm.control_tokens import without_control_tokens
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.replies import (
    ChatReply,
    OutputMode,
    OutputTool,
    read_reply,
)

MAX_QUOTED_BACK_CHARACTERS: Final = 8_000
"""How much of a rejected reply the model is shown again when it is asked once more."""
_WORDS_PER_TOKEN: Final = 2
_SMALLEST_WINDOW_TOKENS: Final = 256


class RecordingModel(WrapperModel):
    """A model whose calls are recorded; made for one agent run.

    The run asks for text and gets text, whatever the form that goes out: the schema is put into the
    request here, and what the model wrote under it is taken out again.
    """

    def __init__(
        self,
        endpoint: ModelEndpoint,
        model: Model,
        calls: AgentCalls,
        *,
        mode: OutputMode = OutputMode.TEXT,
        tool: OutputTool | None = None,
    ) -> None:
        super().__init__(model)
        self._endpoint = endpoint
        self._calls = calls
        self._mode = mode
        self._tool = tool

    def prepare_messages(
        self,
        messages: list[ModelMessage],
        model_request_parameters: ModelRequestParameters | None = None,  # noqa: ARG002
    ) -> list[ModelMessage]:
        """Leave out what a second try does not need.

        The library's own preparation is left out, too: these messages hold nothing that it has to
        translate, and it would search all of the transcript for marks like its own, and comment on
        those, once a call on the event loop.
        """
        return last_exchange(messages)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send a request until it is answered; raises `ModelCallFailed` when it never is."""
        endpoint, mode, tool = self._endpoint, self._mode, self._tool
        parameters = _with_schema(model_request_parameters, mode, tool)

        async def send() -> ChatReply:
            return ChatReply.of(await self.wrapped.request(messages, model_settings, parameters))

        reading = await self._calls.make(
            Call(
                endpoint=endpoint,
                path=CallPath.AGENT,
                asked_for=lambda: (
                    endpoint.name,
                    CallPath.AGENT,
                    _texts(messages),
                    dict(model_settings or {}),
                    None if tool is None else asdict(tool),
                    mode,
                ),
                messages=lambda: tuple(sent_messages(messages)),
                send=send,
                read=lambda reply: read_reply(
                    reply, mode=mode, tool=tool, max_bytes=endpoint.max_reply_bytes
                ),
            )
        )
        # A blank stands for a reply without words, so that it, too, reaches the extractor.
        return ModelResponse(parts=[TextPart(reading.text or " ")])


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
    """Return what is sent; marks for a provider's cache are none of it."""
    return [
        [getattr(message, "instructions", None), *([p.part_kind, _words(p)] for p in message.parts)]
        for message in messages
    ]


def _words(part: object) -> str:
    """Return what the model reads of a part that holds texts and cache marks alone."""
    content = getattr(part, "content", "")
    if isinstance(part, UserPromptPart) and not isinstance(content, str):
        return "".join(piece for piece in content if isinstance(piece, str))
    return str(content)


def sent_messages(messages: Sequence[ModelMessage]) -> Iterator[RequestMessage]:
    """Yield the messages as a model reads them: instructions once, though each request has them.

    Raises `NotImplementedError` for other parts: agents here converse in texts, and send no tool
    call back.
    """
    instructions = getattr(messages[0], "instructions", None)
    if instructions:
        yield RequestMessage("system", instructions)
    for message in messages:
        if isinstance(message, ModelResponse):
            yield RequestMessage("assistant", message.text or "")
            continue
        for part in message.parts:
            if not isinstance(part, UserPromptPart | SystemPromptPart):
                msg = f"no message for a part of kind {part.part_kind!r}"
                raise NotImplementedError(msg)
            is_user = isinstance(part, UserPromptPart)
            yield RequestMessage("user" if is_user else "system", _words(part))


def last_exchange(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Keep the task, the last reply and the feedback on it, in the user's voice.

    Earlier rejected replies would only fill the context window, and a long one is cut: the model
    needs to know what was wrong, not to read all of it again. A reply without words is left out:
    providers take no empty message. The library would frame feedback in tags of its own and, for
    some models, explain them ahead of the instructions: a second try would then share no prefix
    with the first.
    """
    if len(messages) < 3:
        return messages
    task, reply, feedback = messages[0], messages[-2], messages[-1]
    if not (
        isinstance(task, ModelRequest)
        and isinstance(reply, ModelResponse)
        and isinstance(feedback, ModelRequest)
    ):
        return messages
    asked = [_in_users_voice(part) for part in feedback.parts]
    shown = (reply.text or "")[:MAX_QUOTED_BACK_CHARACTERS]
    if not shown.strip():
        return [replace(task, parts=[*task.parts, *asked])]
    # What has no bytes in UTF-8 becomes question marks, or the request could not be sent. And a
    # transcript can have a model write the tokens that begin a turn.
    sendable = without_control_tokens(shown.encode("utf-8", "replace").decode("utf-8"))
    return [task, ModelResponse(parts=[TextPart(sendable)]), replace(feedback, parts=asked)]


def _in_users_voice(part: ModelRequestPart) -> ModelRequestPart:
    if part.part_kind == "retry-feedback" and isinstance(part.content, str):
        words = f"That reply was not accepted. {part.content}"
        return UserPromptPart(content=words, timestamp=part.timestamp)
    return part


class WholePromptModel(WrapperModel):
    """Fails a call whose prompt was cut on its way to the model, instead of believing the reply.

    The server's count of tokens shows it. A token spans at most one word in all common
    vocabularies, and less than two on average in those that join words; runs of white space are
    none, and Chinese has more tokens than words. A server that once counted as many tokens as a
    prompt needs has room for it: when it then counts fewer, it leaves out those that it had in its
    cache.
    """

    def __init__(self, wrapped: Model, num_ctx: int | None = None) -> None:
        """`num_ctx`: size of the model's window in tokens, where it is known."""
        super().__init__(wrapped)
        self._num_ctx = num_ctx
        self._most_tokens = 0

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send one request; raises `ModelCallFailed` when its prompt was cut."""
        response = await super().request(messages, model_settings, model_request_parameters)
        if self._cuts(messages, response.usage.input_tokens):
            raise ModelCallFailed(FailureCode.CONTEXT_TRUNCATED)
        return response

    def _cuts(self, messages: Sequence[ModelMessage], input_tokens: int) -> bool:
        """Return whether a prompt was cut of which so many tokens came; 0 say nothing."""
        if self._num_ctx is not None and input_tokens >= self._num_ctx - 1:
            return True
        self._most_tokens = max(self._most_tokens, input_tokens)
        if input_tokens < _SMALLEST_WINDOW_TOKENS:
            return False
        sent = list(sent_messages(messages))
        # To count the words copies the prompt; no two of them share a character.
        most_words = sum((len(one.text) + 1) // 2 for one in sent)
        if self._most_tokens >= most_words // _WORDS_PER_TOKEN:
            return False
        words = sum(len(one.text.split()) for one in sent)
        return self._most_tokens < words // _WORDS_PER_TOKEN
