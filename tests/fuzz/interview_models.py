"""A Pydantic AI model and a plain chat client that reply to interview agents with anything."""

import json
import re
from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random
from typing import Final

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    RetryPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.llm.replies import ChatReply
from tests.fakes.interview_replies import Brief, tool_of_schema
from tests.fakes.noted_agents import brief
from tests.fuzz.hostile import CANARY
from tests.fuzz.interview_replies import DrawnCall, Form, draw_call
from tests.fuzz.models import ERRORS

RATIONALE: Final = "umbrageous"
"""A made-up reason in which nothing outside the server may share."""
MODELS: Final = ("fuzz-large", "fuzz-small")
_REPLY_BYTES: Final = 100_000
_NUMBER: Final = re.compile(r":\s*(-?\d+)(?![\w.])")


@dataclass(slots=True, kw_only=True)
class InterviewSession:
    """The calls of one interview: how they are answered, and what was answered."""

    seed: int
    hostility: float
    kinds: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    """The whole numbers that replies gave as values."""
    own_error: Exception | None = None
    """A defect in the drawing of replies."""
    _calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def call_count(self) -> int:
        """How many calls arrived."""
        return self._calls.total()

    def answer(self, caller: str, tool: str, brief: Brief) -> tuple[Random, DrawnCall]:
        """Draw the reply to the next call of this caller with this tool."""
        self._calls[caller, tool] += 1
        draw = Random(f"{self.seed}/{caller}/{tool}/{self._calls[caller, tool]}")  # noqa: S311
        try:
            drawn = draw_call(draw, tool, brief, hostility=self.hostility)
        except Exception as error:
            # The program under test would take it for a misbehaving backend.
            self.own_error = error
            raise
        self.kinds[drawn.kind] += 1
        self.tools[tool] += 1
        self.texts.append(drawn.text)
        self.numbers.update(map(int, _NUMBER.findall(drawn.text)))
        return draw, drawn


session: ContextVar[InterviewSession] = ContextVar("interview session")
"""The interview that is under way."""


class InterviewFuzzModel(Model):
    """Replies through Pydantic AI."""

    def __init__(self, name: str) -> None:
        super().__init__(
            profile=ModelProfile(supports_json_schema_output=True, supports_tools=True)
        )
        self._name = name

    @property
    def model_name(self) -> str:
        """The name under which accounts show it."""
        return self._name

    @property
    def system(self) -> str:
        """The provider's name."""
        return "fuzz"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,  # noqa: ARG002  fixed by the library
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Do what is drawn."""
        tool = _tool(messages, model_request_parameters)
        draw, drawn = session.get().answer(f"{self._name}/agent", tool, brief.get())
        if drawn.form == "error":
            raise draw.choice(ERRORS)()
        is_call = bool(model_request_parameters.output_tools)
        return ModelResponse(
            parts=_called(draw, tool, drawn) if is_call else _written(drawn),
            usage=RequestUsage(input_tokens=drawn.tokens, output_tokens=drawn.tokens),
            model_name=CANARY,
            finish_reason=drawn.finish,
        )


@dataclass(frozen=True, slots=True)
class InterviewFuzzChat:
    """Replies to plain calls."""

    model: str

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:  # noqa: ARG002
        """Do what is drawn."""
        tool = tool_of_schema(user_prompt)
        draw, drawn = session.get().answer(f"{self.model}/plain", tool, brief.get())
        if drawn.form == "error":
            raise draw.choice(ERRORS)()
        is_null = drawn.form in {"null_text", "nothing"}
        return ChatReply(
            text=None if is_null else drawn.text,  # type: ignore[arg-type]
            is_cut_off=drawn.finish == "length",
            input_tokens=drawn.tokens,
            output_tokens=drawn.tokens,
        )


def fuzz_chain() -> FallbackChain:
    """Return two models, each to be reached in both ways."""
    return tuple(
        ModelEndpoint(
            name=name,
            agent_model=InterviewFuzzModel(name),
            chat=InterviewFuzzChat(name),
            timeout_seconds=5.0,
            max_reply_bytes=_REPLY_BYTES,
        )
        for name in MODELS
    )


def _tool(messages: list[ModelMessage], parameters: ModelRequestParameters) -> str:
    if parameters.output_tools:
        return parameters.output_tools[0].name
    if parameters.output_object is not None:
        return tool_of_schema(json.dumps(parameters.output_object.json_schema))
    return tool_of_schema(_asked(messages[0]))


def _asked(message: ModelMessage) -> str:
    parts = message.parts if isinstance(message, ModelRequest) else []
    asked = (part for part in parts if isinstance(part, UserPromptPart | RetryPromptPart))
    return "".join(str(part.content) for part in asked)


def _called(draw: Random, tool: str, drawn: DrawnCall) -> list[ModelResponsePart]:
    text, call = TextPart(drawn.text), ToolCallPart(tool, _arguments(draw, drawn))
    forms: dict[Form, list[ModelResponsePart]] = {
        **_WORDLESS,
        "prose": [text],
        "text_in_place_of_call": [text],
        "thought_alone": [ThinkingPart(drawn.text)],
        "other_tool": [ToolCallPart(draw.choice((CANARY, "", "final_result")), drawn.text)],
        "called_twice": [call, ToolCallPart(tool, drawn.text)],
        "called_beside_another": [ToolCallPart(CANARY, {"text": CANARY}), call],
        "arguments_as_text": [ToolCallPart(tool, json.dumps(drawn.text))],
        "text_and_call": [TextPart(CANARY), call],
        "thought_and_call": [ThinkingPart(CANARY), call],
    }
    return forms.get(drawn.form, [call])


def _written(drawn: DrawnCall) -> list[ModelResponsePart]:
    text, call = TextPart(drawn.text), ToolCallPart(CANARY, drawn.text)
    forms: dict[Form, list[ModelResponsePart]] = {
        **_WORDLESS,
        "thought_alone": [ThinkingPart(drawn.text)],
        "other_tool": [call],
        "called_twice": [call, call],
        "called_beside_another": [text, call],
        "thought_and_call": [ThinkingPart(CANARY), text],
    }
    return forms.get(drawn.form, [text])


_WORDLESS: Final[dict[Form, list[ModelResponsePart]]] = {
    "nothing": [],
    "null_text": [TextPart(content=None)],  # type: ignore[arg-type]
}


def _arguments(draw: Random, drawn: DrawnCall) -> str | dict[str, object]:
    """Return the arguments as text, or as an object where they are one: providers give either."""
    if draw.random() < 0.5:
        return drawn.text
    try:
        value = json.loads(drawn.text)
    except (ValueError, RecursionError):
        return drawn.text
    return value if isinstance(value, dict) else drawn.text
