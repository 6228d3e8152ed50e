"""What an extractor reads of a response, in whichever form the reply was asked for."""

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.llm.chat import ChatReply
from ai_psychiatrist.llm.output_mode import OutputMode, OutputTool
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.validation.reply.json_decoder import NotJson, decode
from ai_psychiatrist.validation.reply.limits import STRICT_LIMITS
from ai_psychiatrist.validation.reply.thinking import without_thinking

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ModelResponsePart, ToolCallPart

Reply: TypeAlias = "ModelResponse | ChatReply"
"""What a call gave: a response of the library, or what a plain client made of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReading:
    """One response, read."""

    text: str = field(repr=False)
    """What the extractor reads: the words of the reply, or the arguments of its tool call."""
    refusal: ReplyRejected | None = None
    """Why the text is no answer, whatever stands in it."""


def is_well_formed(response: Reply) -> bool:
    """Return whether texts and calls have their types: a backend's null may have come through."""
    if isinstance(response, ChatReply):
        return isinstance(getattr(response, "text", None), str)
    return all(map(_is_well_formed, response.parts))


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
    response: Reply, mode: OutputMode, tool: OutputTool | None, *, max_bytes: int
) -> ReplyReading:
    """Read a response in the mode in which it was asked for."""
    if isinstance(response, ChatReply):
        text, calls, is_cut_off = response.text, [], response.is_cut_off
    else:
        text = "".join(part.content for part in response.parts if part.part_kind == "text")
        calls = [part for part in response.parts if part.part_kind == "tool-call"]
        is_cut_off = response.finish_reason == "length"
    if tool is not None and mode is OutputMode.TOOL:
        reading = _read_call(text, calls, tool)
    else:
        reading = ReplyReading(text=text, refusal=_needless_call(text, calls))
    refusal = _unusable(reading.text, max_bytes, is_cut_off=is_cut_off)
    return reading if refusal is None else ReplyReading(text=reading.text, refusal=refusal)


def _unusable(text: str, max_bytes: int, *, is_cut_off: bool) -> ReplyRejected | None:
    if len(text.encode("utf-8", "replace")) > max_bytes:
        return ReplyRejected(
            RejectionCode.REPLY_TOO_LARGE,
            "The reply is far too long. Give only what the task asks for.",
        )
    if is_cut_off:
        # What stands before the cut may be a draft, or lack what was still to come.
        return ReplyRejected(
            RejectionCode.TRUNCATED, "The reply was cut off. Reply with all of it, briefer."
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
        code, what = RejectionCode.UNEXPECTED_TOOL_CALL, "There is no tool of the name called."
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
