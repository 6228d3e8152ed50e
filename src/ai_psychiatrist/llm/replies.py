"""Replies of models: what a plain client gives, how a reply is read, accepted or rejected."""

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from ai_psychiatrist.domain.errors import ModelCallFailed, OutputRejected
from ai_psychiatrist.domain.failures import FailureCode, RejectionCode
from ai_psychiatrist.validation.reply.json_decoder import NotJson, decode
from ai_psychiatrist.validation.reply.limits import STRICT_LIMITS
from ai_psychiatrist.validation.reply.thinking import without_thinking

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ModelResponsePart, ToolCallPart

_MOST_TOKENS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The text a model replied with, and what the backend said about it."""

    text: str = field(repr=False)
    is_cut_off: bool = False
    """Whether the backend stopped the reply at a length limit."""
    input_tokens: int | None = None
    """What the backend counted, those of its cache among them; `None` where it counts nothing."""
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    is_only_thinking: bool = False
    """Whether the model thought, and wrote no answer."""
    response: "ModelResponse | None" = field(default=None, repr=False, compare=False)
    """As the library gave it; `None` from a plain client, which tells no more than the above."""

    @classmethod
    def of(cls, response: "ModelResponse") -> Self:
        """Return what a response says; raises `ModelCallFailed` for one that is no reply.

        Parts may lack their types, where a backend's null came through.
        """
        if not all(map(_is_well_formed, response.parts)):
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        # A filter leaves out what it stopped, so that the rest may say something else.
        if response.finish_reason == "content_filter":
            raise ModelCallFailed(FailureCode.CONTENT_FILTERED)
        kinds = {part.part_kind for part in response.parts if getattr(part, "content", True)}
        return cls(
            text="".join(part.content for part in response.parts if part.part_kind == "text"),
            is_cut_off=response.finish_reason == "length",
            input_tokens=response.usage.input_tokens or None,
            output_tokens=response.usage.output_tokens or None,
            cache_read_tokens=response.usage.cache_read_tokens or None,
            cache_write_tokens=response.usage.cache_write_tokens or None,
            is_only_thinking=kinds == {"thinking"},
            response=response,
        )


class SimpleChatClient(Protocol):
    """One plain chat call to one model, without any framework around it."""

    @property
    def model(self) -> str:
        """The model's name at its backend."""
        ...

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply | str:
        """Send the two texts and return the reply; raises `ModelCallFailed` when none comes."""
        ...


class ModelOutput(BaseModel):
    """An accepted reply, and what had to be done to read it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    repaired: bool = False
    """Whether the JSON syntax was repaired."""
    coercions: int = Field(default=0, ge=0)
    """How many values were read from another type."""


class PartialOutput(BaseModel):
    """What is valid of a reply that is refused as a whole."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @property
    @abstractmethod
    def unread_count(self) -> int:
        """How many parts of the reply could not be read."""

    @property
    def lost_count(self) -> int:
        """How many answers, not only their particulars, are missing for that."""
        return 0

    def over(self, earlier: Self) -> Self:
        """Return what stands of this reply and of one that was refused before it.

        The one that lost less does, and the later one of equals. They are not mixed: an answer is
        that of one reply.
        """
        return self if self.lost_count <= earlier.lost_count else earlier


OnKept: TypeAlias = Callable[[PartialOutput], None]
"""Called with what stands so far of the refused replies, whenever there is more of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsReader:
    """How what is valid of a refused reply is read."""

    read: Callable[[str], PartialOutput | None]
    """Returns `None` where nothing is; never raises for what a reply holds."""
    takes_cut_off: bool = False
    """Whether that also goes for what stands before the cut of a reply that was cut off."""


class ReplyRejected(Exception):
    """A reply that is not accepted; the message is the feedback for the model."""

    def __init__(
        self, code: RejectionCode, feedback: str, violations: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(feedback)
        self.message = feedback
        self.code = code
        self.violations = dict(violations or {})

    def detached(self) -> Self:
        """Return an equal one that holds no frames: theirs hold the reply and all read of it."""
        return type(self)(self.code, self.message, self.violations)


class OutputMode(StrEnum):
    """In which form the schema of an output goes out."""

    TOOL = "tool"
    """As the only tool, which has to be called."""
    NATIVE = "native"
    """As the response format of the provider."""
    TEXT = "text"
    """As words of the prompt."""


_ENDINGS: Final = {
    OutputMode.TOOL: "Use the '{name}' tool to return your response.",
    OutputMode.NATIVE: "Reply with one JSON object in the response format, and nothing else.",
    OutputMode.TEXT: (
        "Reply with one JSON object that follows this JSON Schema, and nothing else:\n{schema}"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTool:
    """The schema of an agent's output with the name under which models know it."""

    name: str
    description: str
    schema: Mapping[str, object] = field(repr=False)
    text_format: str = ""
    """How the task itself ends, where it says what the reply looks like."""
    schema_format: str = ""
    """How it ends where the server holds the reply to the schema."""

    def ending(self, mode: OutputMode) -> str:
        """Return what a prompt ends with, so that the model knows where its reply goes."""
        schema = json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))
        return _ENDINGS[mode].format(name=self.name, schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReading:
    """One response, read."""

    text: str = field(repr=False)
    """What the extractor reads: the words of the reply, or the arguments of its tool call."""
    refusal: ReplyRejected | None = None
    """Why the text is no answer, whatever stands in it."""


def credible_tokens(count: int | None) -> int | None:
    """Return a count of tokens, `None` for none and for one that no model has.

    Backends report what they like.
    """
    return count if count and 0 < count <= _MOST_TOKENS else None


def _is_well_formed(part: "ModelResponsePart") -> bool:
    # Read by name: for the type checker the fields cannot be anything else.
    if part.part_kind == "text":
        return isinstance(getattr(part, "content", None), str)
    if part.part_kind == "tool-call":
        named = (getattr(part, "tool_name", None), getattr(part, "tool_call_id", None))
        is_named = all(isinstance(name, str) for name in named)
        return is_named and isinstance(part.args, str | dict | None)
    return True


def read_reply(
    reply: ChatReply,
    *,
    max_bytes: int,
    mode: OutputMode = OutputMode.TEXT,
    tool: OutputTool | None = None,
) -> ReplyReading:
    """Read a reply in the mode in which it was asked for."""
    if reply.is_only_thinking:
        feedback = "The reply has thinking and no answer. Do the task."
        return ReplyReading(text="", refusal=ReplyRejected(RejectionCode.ONLY_THINKING, feedback))
    parts = () if reply.response is None else reply.response.parts
    calls = [part for part in parts if part.part_kind == "tool-call"]
    if tool is not None and mode is OutputMode.TOOL:
        reading = _read_call(reply.text, calls, tool)
    else:
        reading = ReplyReading(text=reply.text, refusal=_needless_call(reply.text, calls))
    refusal = _unusable(reading.text, max_bytes, is_cut_off=reply.is_cut_off)
    return reading if refusal is None else ReplyReading(text=reading.text, refusal=refusal)


def _unusable(text: str, max_bytes: int, *, is_cut_off: bool) -> ReplyRejected | None:
    if len(text.encode("utf-8", "replace")) > max_bytes:
        return ReplyRejected(
            RejectionCode.REPLY_TOO_LARGE,
            "The reply is too long. Give only what the task asks for.",
        )
    if is_cut_off:
        # What stands before the cut may be a draft, or lack what was still to come.
        return ReplyRejected(
            RejectionCode.TRUNCATED, "The reply was cut off. Reply with all of it, more briefly."
        )
    return None


def _needless_call(text: str, calls: "list[ToolCallPart]") -> ReplyRejected | None:
    if text.strip():
        return None
    if calls:
        return ReplyRejected(
            RejectionCode.UNEXPECTED_TOOL_CALL,
            "There is no tool to call. Reply in the format that the task shows.",
        )
    return ReplyRejected(RejectionCode.EMPTY_REPLY, "The reply is empty. Do the task.")


def _read_call(text: str, calls: "list[ToolCallPart]", tool: OutputTool) -> ReplyReading:
    try:
        arguments = "\n".join(map(_written, calls))
    except RecursionError:
        refusal = ReplyRejected(RejectionCode.TOO_DEEP, "The arguments are nested too deeply.")
        return ReplyReading(text=text, refusal=refusal)
    if not calls and (written := _arguments_in(text, tool)) is not None:
        return ReplyReading(text=written)
    if not any(call.tool_name == tool.name for call in calls):
        return ReplyReading(text=text + arguments, refusal=_missing_call(text, calls, tool))
    if len(calls) == 1:
        return ReplyReading(text=arguments)
    refusal = ReplyRejected(
        RejectionCode.UNEXPECTED_TOOL_CALL,
        f"There were several tool calls. Call the tool {tool.name} once and no other.",
    )
    return ReplyReading(text=arguments, refusal=refusal)


_FENCED: Final = re.compile(r"(?:```|~~~)(?i:json)?[ \t\r]*\n(.*)\n[ \t]*(?:```|~~~)", re.DOTALL)
_MOST_CHARACTERS: Final = 16_384
"""Of arguments written as text: far more than any tool takes, and few enough for the event loop."""


def _arguments_in(text: str, tool: OutputTool) -> str | None:
    """Return the arguments that a text is, `None` where it is anything else or holds more."""
    if len(text) > _MOST_CHARACTERS:
        return None
    try:
        said = without_thinking(text)
        fenced = _FENCED.fullmatch(said)
        written = said if fenced is None else fenced[1]
        value = decode(written, STRICT_LIMITS)
    except (NotJson, OutputRejected):
        return None
    # Few replies come to this, and the engine of schemas takes time to load.
    from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema  # noqa: PLC0415

    is_call = isinstance(value, dict) and CompiledSchema(tool.schema, name=tool.name).is_valid(
        value
    )
    return written if is_call else None


def _missing_call(text: str, calls: "list[ToolCallPart]", tool: OutputTool) -> ReplyRejected:
    if calls:
        code, what = (
            RejectionCode.UNEXPECTED_TOOL_CALL,
            "The reply calls a tool that does not exist.",
        )
    elif text.strip():
        code, what = RejectionCode.NO_TOOL_CALL, "The reply calls no tool."
    else:
        code, what = RejectionCode.EMPTY_REPLY, "The reply is empty."
    return ReplyRejected(code, f"{what} Reply by calling the tool {tool.name}.")


def _written(call: "ToolCallPart") -> str:
    """Return the arguments as the model wrote them, or as a provider's library read them."""
    if isinstance(call.args, str):
        return call.args
    return json.dumps(call.args or {}, ensure_ascii=False)
