"""What an extractor reads of a response, and what the agent run is given in its place.

Under a schema the run is given a plain form of every reply, so that each one reaches the extractor
and is refused there with feedback of ours, whatever is wrong with it.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Final

from pydantic_ai.messages import ModelResponse, ModelResponsePart, TextPart, ToolCallPart

from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.llm.output_mode import OutputMode, OutputTool
from ai_psychiatrist.llm.rejection import ReplyRejected

MAX_QUOTED_BACK_CHARACTERS: Final = 8_000
"""How much of a rejected reply the model is shown again when it is asked anew."""

_NO_CONTENT: Final = "{}"
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReading:
    """One response, read."""

    text: str = field(repr=False)
    """What the extractor reads."""
    parts: tuple[ModelResponsePart, ...] | None = field(default=None, repr=False)
    """What the agent run is given; `None` for the response as it came."""
    refusal: ReplyRejected | None = None
    shown: str | None = field(default=None, repr=False)
    """Text that the model is shown as its last reply in place of `parts`."""


def is_well_formed(response: ModelResponse) -> bool:
    """Return whether texts and calls have their types: a backend's null may have come through."""
    return all(map(_is_well_formed, response.parts))


def _is_well_formed(part: ModelResponsePart) -> bool:
    # Read by name: for the type checker the fields cannot be anything else.
    if isinstance(part, TextPart):
        return isinstance(getattr(part, "content", None), str)
    if isinstance(part, ToolCallPart):
        named = (getattr(part, "tool_name", None), getattr(part, "tool_call_id", None))
        is_named = all(isinstance(name, str) for name in named)
        return is_named and isinstance(part.args, str | dict | None)
    return True


def read_reply(response: ModelResponse, mode: OutputMode, tool: OutputTool | None) -> ReplyReading:
    """Read a response in the mode in which it was asked for."""
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if tool is None or mode is OutputMode.TEXT:
        return ReplyReading(text=text)
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    if mode is OutputMode.NATIVE:
        return _read_native(text, calls)
    return _read_call(text, calls, tool)


def _read_native(text: str, calls: list[ToolCallPart]) -> ReplyReading:
    refusal = None
    if calls and not text.strip():
        refusal = ReplyRejected(
            RejectionCode.UNEXPECTED_TOOL_CALL,
            "There is no tool to call. Reply with the JSON object alone.",
        )
    return ReplyReading(
        text=text, parts=(TextPart(_NO_CONTENT),), refusal=refusal, shown=_sendable(text)
    )


def _read_call(text: str, calls: list[ToolCallPart], tool: OutputTool) -> ReplyReading:
    try:
        arguments = [_written(call) for call in calls]
    except RecursionError:
        return ReplyReading(
            text=text,
            parts=(ToolCallPart(tool.name, {}),),
            refusal=ReplyRejected(RejectionCode.TOO_DEEP, "The arguments are nested too deeply."),
            shown=_sendable(text),
        )
    wanted = [at for at, call in enumerate(calls) if call.tool_name == tool.name]
    if not wanted:
        return ReplyReading(
            text=text + "\n".join(arguments),
            parts=(ToolCallPart(tool.name, {}),),
            refusal=_missing_call(text, calls, tool),
            shown=_sendable(text),
        )
    refusal = None
    if len(calls) > 1:
        refusal = ReplyRejected(
            RejectionCode.UNEXPECTED_TOOL_CALL,
            f"There were several tool calls. Call the tool {tool.name} once and no other.",
        )
    call = _sendable_call(calls[wanted[0]], arguments[wanted[0]])
    return ReplyReading(text="\n".join(arguments), parts=(call,), refusal=refusal)


def _missing_call(text: str, calls: list[ToolCallPart], tool: OutputTool) -> ReplyRejected:
    if calls:
        code, what = RejectionCode.UNEXPECTED_TOOL_CALL, "There is no tool of the name called."
    elif text.strip():
        code, what = RejectionCode.NO_TOOL_CALL, "The reply calls no tool."
    else:
        code, what = RejectionCode.EMPTY_REPLY, "The reply is empty."
    return ReplyRejected(code, f"{what} Reply by calling the tool {tool.name}.")


def _written(call: ToolCallPart) -> str:
    """Return the arguments as the model wrote them, or as a provider's library read them."""
    if isinstance(call.args, str):
        return call.args
    return json.dumps(call.args or {}, ensure_ascii=False)


def _sendable_call(call: ToolCallPart, arguments: str) -> ToolCallPart:
    """Return a call that every provider takes back, under another id where its own is none."""
    sendable = _sendable_arguments(arguments)
    if _ID.fullmatch(call.tool_call_id):
        return ToolCallPart(call.tool_name, sendable, call.tool_call_id)
    return ToolCallPart(call.tool_name, sendable)


def _sendable_arguments(arguments: str) -> dict[str, object]:
    """Return arguments that every provider takes back; none where these are broken or endless."""
    if len(arguments) > MAX_QUOTED_BACK_CHARACTERS:
        return {}
    try:
        value = json.loads(arguments)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _sendable(text: str) -> str:
    return encodable(text[:MAX_QUOTED_BACK_CHARACTERS])


def encodable(text: str) -> str:
    """Return a text in which what has no bytes in UTF-8 is a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
