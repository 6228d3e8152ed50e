"""A fake of Anthropic's Messages API on the loopback interface.

It refuses with status 400 what the real one refuses, so that a test sees a wrong request as such.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.fakes.http_connection import HttpCall
from tests.fakes.recording_server import RecordingServer

MOST_CACHE_MARKS = 4
CHARACTERS_PER_TOKEN = 4

Body: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool call of a reply."""

    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesReply:
    """What the API answers."""

    text: str = ""
    tools: Sequence[ToolUse] = ()
    status: int = 200
    stop_reason: str = "tool_use"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesRequest:
    """One call as it arrived."""

    body: Body
    headers: Mapping[str, str]

    @property
    def tool_name(self) -> str:
        """The tool that has to be called; empty when there is none."""
        return str(self.body.get("tool_choice", {}).get("name", ""))

    @property
    def texts(self) -> str:
        """Everything that the model reads."""
        return json.dumps([self.body.get("system"), self.body["messages"]], ensure_ascii=False)

    @property
    def user_texts(self) -> list[str]:
        """The texts of the first message."""
        return [block["text"] for block in _blocks(self.body["messages"][0])]


Script: TypeAlias = Callable[[MessagesRequest], MessagesReply]


def calling(arguments: Mapping[str, Mapping[str, object]]) -> Script:
    """Return a script that calls the required tool; `arguments`: by the tool's name."""

    def script(request: MessagesRequest) -> MessagesReply:
        name = request.tool_name
        return MessagesReply(tools=[ToolUse(name=name, arguments=arguments[name])])

    return script


class MessagesApi(RecordingServer):
    """Serve scripted replies while the `async with` block runs."""

    def __init__(self, script: Script) -> None:
        super().__init__(self._reply)
        self.script = script
        self.requests: list[MessagesRequest] = []

    def _reply(self, call: HttpCall) -> tuple[int, object]:
        if call.method != "POST" or call.path != "/v1/messages":
            return 404, _error("not_found_error", "no such route")
        request = MessagesRequest(body=json.loads(call.body), headers=call.headers)
        self.requests.append(request)
        problem = problem_of(request)
        if problem:
            return 400, _error("invalid_request_error", problem)
        reply = self.script(request)
        if reply.status != 200:
            return reply.status, _error("api_error", f"scripted {reply.status}")
        return 200, _message(request.body, reply, len(self.requests))


def problem_of(request: MessagesRequest) -> str:
    """Return why the real API would refuse a request; empty when it would not."""
    body = request.body
    tools = [tool["name"] for tool in body.get("tools", [])]
    choice = body.get("tool_choice", {"type": "auto"})
    if choice["type"] == "tool" and choice.get("name") not in tools:
        return "tool_choice names no tool"
    if json.dumps(body).count('"cache_control"') > MOST_CACHE_MARKS:
        return "too many cache_control marks"
    if not request.headers.keys() & {"x-api-key", "authorization"}:
        return "no key"
    return _problem_of_messages(body["messages"])


def _problem_of_messages(messages: Sequence[Body]) -> str:
    open_calls: set[str] = set()
    for message in messages:
        blocks = _blocks(message)
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return "text blocks must not be empty"
        results = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if results != open_calls:
            return "each tool_use needs its tool_result in the next message"
        open_calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return "the last message is a call" if open_calls else ""


def _blocks(message: Body) -> list[Body]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _message(body: Body, reply: MessagesReply, number: int) -> object:
    content: list[Body] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {
            "type": "tool_use",
            "id": f"toolu_{number}_{at}",
            "name": tool.name,
            "input": dict(tool.arguments),
        }
        for at, tool in enumerate(reply.tools)
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": len(json.dumps(body)) // CHARACTERS_PER_TOKEN,
            "output_tokens": len(json.dumps(content)) // CHARACTERS_PER_TOKEN,
        },
    }


def _error(kind: str, message: str) -> object:
    return {"type": "error", "error": {"type": kind, "message": message}}
