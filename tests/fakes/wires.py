"""Read and write the chat messages of the two wires: OpenAI's and Ollama's."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from tests.fakes.exchange import Message, Reply, Request, Wire

CHARACTERS_PER_TOKEN = 4
MODEL_NAMES = ("fake-model",)

_BLOCK = re.compile(r"<(transcript-\w+)>\n?(.*)</\1>", re.DOTALL)
_TASK = re.compile(r"^Task: *(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The parts of the first user message that scripts care about."""

    task: str
    transcript: str
    boundary: str
    """Name of the transcript's tag, which is the same for equal transcripts."""


def read_messages(body: Mapping[str, object]) -> tuple[Message, ...]:
    """Flatten the messages of either wire."""
    items = body.get("messages")
    if not isinstance(items, list):
        return ()
    return tuple(
        Message(role=str(item.get("role", "")), content=_flatten(item.get("content")))
        for item in items
        if isinstance(item, dict)
    )


def read_prompt(messages: Sequence[Message]) -> Prompt:
    """Find task and transcript in the first user message."""
    content = next((message.content for message in messages if message.role == "user"), "")
    block = _BLOCK.search(content)
    task = _TASK.search(content, block.end() if block else 0)
    return Prompt(
        task=task[1] if task else "",
        transcript=block[2] if block else "",
        boundary=block[1] if block else content[:200],
    )


def encode_reply(request: Request, reply: Reply) -> bytes:
    """Put the reply's text into the envelope of the request's wire."""
    if reply.raw_body is not None:
        return reply.raw_body
    match request.wire:
        case "openai":
            payload = _openai_completion(request, reply)
        case "ollama":
            payload = _ollama_message(request, reply)
        case _:
            assert_never(request.wire)
    return encode_json(payload)


def encode_error(wire: Wire, message: str, *, kind: str, code: str | None = None) -> bytes:
    """Write an error body in the shape that the wire uses."""
    if wire == "ollama":
        return encode_json({"error": message})
    error = {"message": message, "type": kind, "param": None, "code": code}
    return encode_json({"error": error})


def encode_json(payload: object) -> bytes:
    """Serialise without escaping what UTF-8 can carry."""
    return json.dumps(payload, ensure_ascii=False).encode()


def _flatten(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def _prompt_tokens(request: Request, reply: Reply) -> int:
    if reply.prompt_tokens is not None:
        return reply.prompt_tokens
    return sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN


def _openai_completion(request: Request, reply: Reply) -> object:
    prompt_tokens = _prompt_tokens(request, reply)
    completion_tokens = len(reply.text or "") // CHARACTERS_PER_TOKEN
    message: dict[str, object] = {"role": "assistant", "content": reply.text}
    if reply.call is not None:
        arguments = json.dumps(reply.call.arguments)
        function = {"name": reply.call.name, "arguments": arguments}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    if reply.tokens is not None and request.body.get("logprobs"):
        choice["logprobs"] = {"content": [_token(reply.tokens, request.body.get("top_logprobs"))]}
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request.body.get("model", MODEL_NAMES[0]),
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _token(tokens: Mapping[str, float], most: object) -> object:
    """Write the likeliest token with as many alternatives as were asked for."""
    ranked = sorted(tokens, key=lambda token: -tokens[token])
    listed = [
        {"token": token, "logprob": math.log(tokens[token]), "bytes": list(token.encode())}
        for token in ranked[: most if isinstance(most, int) else 0]
    ]
    return {**listed[0], "top_logprobs": listed}


def _ollama_message(request: Request, reply: Reply) -> object:
    message: dict[str, object] = {"role": "assistant", "content": reply.text}
    if reply.call is not None:
        function = {"name": reply.call.name, "arguments": reply.call.arguments}
        message["tool_calls"] = [{"function": function}]
    return {
        "model": request.body.get("model", MODEL_NAMES[0]),
        "created_at": "2025-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": reply.finish_reason,
        "total_duration": 1_000_000,
        "load_duration": 1_000,
        "prompt_eval_count": _prompt_tokens(request, reply),
        "prompt_eval_duration": 500_000,
        "eval_count": len(reply.text or "") // CHARACTERS_PER_TOKEN,
        "eval_duration": 400_000,
    }
