"""A Pydantic AI model and a plain chat client that reply with whatever is drawn."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRequestTimeout,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.llm.replies import ChatReply
from tests.fakes.exchange import Message
from tests.fakes.wires import read_prompt
from tests.fuzz.hostile import CANARY
from tests.fuzz.replies import Form, FuzzReply, Question, draw_reply

CHAIN = ("fuzz-large", "fuzz-small")
_REPLY_BYTES = {"fuzz-large": 1_048_576, "fuzz-small": 16_384}
_CALL_SECONDS = 0.05
_HANG_SECONDS = 30.0

ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: ModelHTTPError(400, CANARY, body={"error": CANARY}),
    lambda: ModelHTTPError(413, CANARY, body=f"context length {CANARY}"),
    lambda: ModelHTTPError(429, CANARY, body=None),
    lambda: ModelHTTPError(500, CANARY, body="\ud800"),
    lambda: ModelAPIError(CANARY, CANARY),
    lambda: ModelConnectionError(CANARY, CANARY),
    lambda: ModelRequestTimeout(CANARY, 1.0),
    lambda: ContentFilterError(CANARY),
    lambda: UnexpectedModelBehavior(CANARY, CANARY),
    lambda: TimeoutError(CANARY),
    lambda: ConnectionResetError(CANARY),
    lambda: IndexError(CANARY),
    lambda: KeyError(CANARY),
    lambda: ValueError(CANARY),
    lambda: RecursionError(CANARY),
    lambda: UnicodeEncodeError("utf-8", CANARY, 0, 1, CANARY),
    lambda: AssertionError(CANARY),
    lambda: ModelCallFailed(FailureCode.BACKEND_ERROR),
)


@dataclass(slots=True)
class Session:
    """The calls of one assessment: how they are answered, and what was answered."""

    seed: int
    hostility: float
    may_hang: bool = False
    kinds: Counter[str] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)
    own_error: Exception | None = None
    """A defect in the drawing of replies."""
    _calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def call_count(self) -> int:
        """How many calls arrived."""
        return self._calls.total()

    def answer(self, caller: str, prompt: str) -> tuple[Random, FuzzReply]:
        """Draw the reply to the next call of this caller with this task.

        The order in which tasks arrive does not matter, so a seed always gives the same replies.
        """
        read = read_prompt((Message(role="user", content=prompt),))
        self._calls[caller, read.task] += 1
        draw = Random(f"{self.seed}/{caller}/{read.task}/{self._calls[caller, read.task]}")  # noqa: S311
        question = Question(
            task=read.task,
            transcript=read.transcript,
            boundary=read.boundary,
            prompt=prompt,
            may_hang=self.may_hang,
        )
        try:
            reply = draw_reply(draw, question, hostility=self.hostility)
        except Exception as error:
            # The program under test would take it for a misbehaving backend.
            self.own_error = error
            raise
        self.kinds[reply.kind] += 1
        self.texts.append(reply.text)
        return draw, reply


session: ContextVar[Session] = ContextVar("session")
"""The assessment that is under way."""


class FuzzModel(Model):
    """Replies through Pydantic AI."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def model_name(self) -> str:
        """The name under which results show it."""
        return self._name

    @property
    def system(self) -> str:
        """The provider's name."""
        return "fuzz"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,  # noqa: ARG002  fixed by the library
        model_request_parameters: ModelRequestParameters,  # noqa: ARG002
    ) -> ModelResponse:
        """Do what is drawn."""
        draw, reply = session.get().answer(f"{self._name}/agent", _prompt(messages[0]))
        await _misbehave(draw, reply)
        return ModelResponse(
            parts=_parts(reply),
            usage=RequestUsage(input_tokens=reply.tokens, output_tokens=reply.tokens),
            model_name=CANARY,
            finish_reason=reply.finish,
        )


@dataclass(frozen=True, slots=True)
class FuzzChat:
    """Replies to plain calls."""

    model: str

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:  # noqa: ARG002
        """Do what is drawn."""
        draw, reply = session.get().answer(f"{self.model}/plain", user_prompt)
        await _misbehave(draw, reply)
        is_null = reply.form in {"null", "nothing"}
        return ChatReply(
            text=None if is_null else reply.text,  # type: ignore[arg-type]
            is_cut_off=reply.finish == "length",
            input_tokens=reply.tokens,
            output_tokens=reply.tokens,
        )


class FuzzConnections(ModelConnections):
    """Serves every agent by the same two models."""

    def chain(self, name: str) -> FallbackChain:
        """Return both models, each to be reached in both ways; some are given little time."""
        return tuple(
            ModelEndpoint(
                name=model,
                agent_model=FuzzModel(model),
                chat=FuzzChat(model),
                timeout_seconds=_CALL_SECONDS if name == "hanging" else 5.0,
                max_reply_bytes=_REPLY_BYTES[model],
            )
            for model in CHAIN
        )


def _prompt(message: ModelMessage) -> str:
    parts = message.parts if isinstance(message, ModelRequest) else []
    return "".join(str(part.content) for part in parts if isinstance(part, UserPromptPart))


async def _misbehave(draw: Random, reply: FuzzReply) -> None:
    if reply.form == "error":
        raise draw.choice(ERRORS)()
    if reply.form == "hang":
        await asyncio.sleep(_HANG_SECONDS)


def _parts(reply: FuzzReply) -> list[ModelResponsePart]:
    text, half = reply.text, len(reply.text) // 2
    forms: dict[Form, list[ModelResponsePart]] = {
        "nothing": [],
        "null": [TextPart(content=None)],  # type: ignore[arg-type]
        "parts": [TextPart(text[:half]), TextPart(""), TextPart(text[half:])],
        "thought": [ThinkingPart(f"{CANARY} {text}"), TextPart(text)],
        "thought_alone": [ThinkingPart(text)],
        "tool_call": [ToolCallPart(CANARY, {"text": text}), ToolCallPart("", text)],
        "tool_call_and_text": [TextPart(text), ToolCallPart("final_result", text)],
    }
    return forms.get(reply.form, [TextPart(text)])
