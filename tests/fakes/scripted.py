"""Models and chat clients that reply from a script, for tests without a server."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import EndpointOptions, FallbackChain, ModelEndpoint
from ai_psychiatrist.llm.recording_model import WholePromptModel
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.llm.settings import (
    ModelCallSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
)

Scripted: TypeAlias = str | ModelResponse | BaseException
"""What one call does; the last of a script is used again and again."""

USAGE = RequestUsage(input_tokens=100, output_tokens=10)


def response(text: str, **more: object) -> ModelResponse:
    """Return a response of one text."""
    return ModelResponse(parts=[TextPart(text)], usage=USAGE, **more)  # type: ignore[arg-type]


def tool_call(name: str, arguments: object) -> ModelResponse:
    """Return a response that calls a tool; `arguments`: an object, or text as a model wrote it."""
    args = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ModelResponse(parts=[ToolCallPart(name, args)], usage=USAGE)


@dataclass
class ScriptedModel:
    """A Pydantic AI model that replies from a script and keeps what it was sent."""

    replies: Sequence[Scripted]
    sent: list[list[ModelMessage]] = field(default_factory=list)
    offered: list[AgentInfo] = field(default_factory=list)
    """The tools and the output mode of each call."""

    @property
    def model(self) -> FunctionModel:
        """The model to run agents with."""
        return FunctionModel(self._reply, model_name="scripted")

    @property
    def prompts(self) -> list[str]:
        """The text of the first request of each call."""
        return [_text(messages[0]) for messages in self.sent]

    @property
    def feedback(self) -> list[str]:
        """What each call says about the reply before it, empty for a first call."""
        return [_text(messages[-1]) if len(messages) > 1 else "" for messages in self.sent]

    async def _reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(list(messages))
        self.offered.append(info)
        reply = self.replies[min(len(self.sent), len(self.replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return response(reply) if isinstance(reply, str) else reply


@dataclass
class ScriptedChat:
    """A plain chat client that replies from a script and keeps what it was sent."""

    replies: Sequence[str | ChatReply | BaseException]
    model: str = "scripted-chat"
    prompts: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:
        """Give the next reply of the script."""
        self.prompts.append(user_prompt)
        self.systems.append(system_prompt)
        reply = self.replies[min(len(self.prompts), len(self.replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        return ChatReply(text=reply) if isinstance(reply, str) else reply


def route(
    model: ScriptedModel | None = None,
    chat: ScriptedChat | None = None,
    *,
    name: str = "scripted",
    max_reply_bytes: int = 1_048_576,
    num_ctx: int | None = None,
) -> ModelEndpoint:
    """Build one link of a chain."""
    agent_model = None if model is None else WholePromptModel(model.model, num_ctx)
    return ModelEndpoint(
        name=name,
        agent_model=agent_model,
        chat=chat,
        timeout_seconds=5,
        max_reply_bytes=max_reply_bytes,
    )


_ASKING = UserPromptPart | RetryPromptPart | ToolReturnPart


def _text(message: ModelMessage) -> str:
    parts = (part for part in message.parts if isinstance(part, _ASKING))
    return "\n".join(str(part.content) for part in parts)


@asynccontextmanager
async def served_chain(
    server_url: str, *, num_ctx: int | None = None
) -> AsyncIterator[FallbackChain]:
    """Connect to one model of a fake server over Ollama's wires; both paths can be taken."""
    connections = ModelConnections(
        EndpointOptions(
            models=ModelCallSettings(),
            openai=OpenAISettings(),
            ollama=OllamaSettings(host=server_url, timeout_seconds=5, num_ctx=num_ctx),
            pydantic_ai=PydanticAISettings(),
        )
    )
    try:
        yield connections.chain("ollama:fake-model")
    finally:
        await connections.aclose()
