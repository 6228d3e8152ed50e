"""A fake of two batch interfaces on the loopback interface: Anthropic's and OpenAI's.

It answers the same requests live as well, from the same script, and does to batches what providers
do: it takes its time, reorders, loses, expires, repeats and breaks results off.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from tests.fakes.exchange import Message, Reply, Request, Script
from tests.fakes.http_connection import HttpCall, in_thread, listening, response_head
from tests.fakes.replies import good_replies
from tests.fakes.wires import CHARACTERS_PER_TOKEN, read_messages, read_prompt

Body: TypeAlias = dict[str, Any]
Wire: TypeAlias = Literal["anthropic", "openai"]
Chosen: TypeAlias = Callable[[int], bool]
"""Of the calls of a batch, by their place in it, those that something happens to."""

_PART = re.compile(rb'name="file".*?\r\n\r\n(.*?)\r\n--', re.DOTALL)


def no_call(_: int) -> bool:
    """Choose nothing."""
    return False


@dataclass(slots=True, kw_only=True)
class Weather:
    """What befalls batches; each is told of itself by its number, from 1."""

    looks: int = 0
    """How often a batch is looked at before it has ended."""
    is_reordered: bool = False
    lost: Chosen = no_call
    expired: Chosen = no_call
    repeated: Chosen = no_call
    strangers: int = 0
    """Results of calls that nobody handed in."""
    broken_off: int = 0
    """How often results break off before they come whole."""
    vanished: frozenset[int] = frozenset()
    refused_with: int | None = None
    """The status that every new batch is refused with."""
    is_silent: bool = False
    """Whether a new batch is taken, and the connection dropped before the client hears of it."""
    is_deaf: bool = False
    """Whether the connection is dropped before a new batch is taken."""
    hangs_at: int | None = None
    """The call, from 1, that is done and never answered, nor is any after it."""


@dataclass(slots=True, kw_only=True)
class HeldBatch:
    """A batch as the provider holds it."""

    number: int
    wire: Wire
    calls: list[tuple[str, Body]]
    input_file: str = ""
    looks: int = 0
    results: list[Body] | None = None
    is_deleted: bool = False

    @property
    def id(self) -> str:
        """As clients know it."""
        return f"batch_{self.wire}_{self.number}"


@dataclass(slots=True)
class BatchServer:
    """Serve in a thread while the `with` block runs."""

    script: Script = field(default_factory=good_replies)
    weather: Weather = field(default_factory=Weather)
    batches: list[HeldBatch] = field(default_factory=list)
    live: list[Body] = field(default_factory=list)
    """Bodies of the calls that were made at once."""
    files: dict[str, bytes] = field(default_factory=dict)
    answered: list[Request] = field(default_factory=list)
    """All calls that the model was asked, live and in batches."""
    url: str = ""
    calls: int = 0
    _attempts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _broken_off: int = 0
    _running: AbstractContextManager[str] = field(init=False)

    def __post_init__(self) -> None:
        """Begin when the block does."""
        self._running = in_thread(listening(self._handle))

    def __enter__(self) -> Self:
        """Listen on a free port."""
        self.url = self._running.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and raise what went wrong in here."""
        self._running.__exit__(kind, error, trace)

    @property
    def settings(self) -> dict[str, str]:
        """Settings with which models are asked here."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "sk-ant-fake",
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "sk-fake",
            "MODEL_BUSY_WAITS_SECONDS": "0,0,0",
        }

    async def _handle(self, call: HttpCall, transport: asyncio.Transport) -> None:
        self.calls += 1
        hangs_at = self.weather.hangs_at
        if hangs_at is not None and self.calls > hangs_at:
            return
        answer = self._answer(call)
        if self.calls == hangs_at:
            return
        if answer is None:
            transport.abort()
            return
        status, content = answer
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        transport.write(response_head(status, "application/json", len(body)) + body)

    def _answer(self, call: HttpCall) -> tuple[int, object] | None:
        method, path = call.method, call.path
        if method == "POST" and path in {"/v1/messages", "/v1/responses"}:
            body = json.loads(call.body)
            self.live.append(body)
            return self._said("anthropic" if path == "/v1/messages" else "openai", body)
        if path.startswith("/v1/messages/batches"):
            return self._anthropic(method, path.removeprefix("/v1/messages/batches"), call)
        if path.startswith("/v1/files"):
            return self._file(method, path.removeprefix("/v1/files"), call)
        if path.startswith("/v1/batches"):
            return self._openai(method, path.removeprefix("/v1/batches"), call)
        return 404, {"error": {"message": "no such route", "type": "not_found"}}

    def _anthropic(self, method: str, rest: str, call: HttpCall) -> tuple[int, object] | None:
        if method == "POST":
            calls = [(one["custom_id"], one["params"]) for one in json.loads(call.body)["requests"]]
            return self._taken(HeldBatch(number=0, wire="anthropic", calls=calls))
        if not rest:
            return 200, self._list("anthropic")
        batch = self._found(rest.removesuffix("/results"))
        if batch is None:
            return 404, {"type": "error", "error": {"type": "not_found_error", "message": "none"}}
        if method == "DELETE":
            batch.is_deleted = True
            return 200, {"id": batch.id, "type": "message_batch_deleted"}
        if rest.endswith("/results"):
            return 200, self._lines(batch)
        batch.looks += 1
        return 200, self._shown(batch)

    def _openai(self, method: str, rest: str, call: HttpCall) -> tuple[int, object] | None:
        if method == "POST":
            name = json.loads(call.body)["input_file_id"]
            lines = [json.loads(line) for line in self.files[name].splitlines()]
            calls = [(one["custom_id"], one["body"]) for one in lines]
            return self._taken(HeldBatch(number=0, wire="openai", calls=calls, input_file=name))
        if not rest:
            return 200, self._list("openai")
        batch = self._found(rest)
        if batch is None:
            return 404, {"error": {"message": "none", "type": "invalid_request_error"}}
        batch.looks += 1
        return 200, self._shown(batch)

    def _file(self, method: str, rest: str, call: HttpCall) -> tuple[int, object] | None:
        if method == "POST":
            found = _PART.search(call.body)
            assert found is not None
            name = f"file-{len(self.files) + 1}"
            self.files[name] = found[1]
            return 200, _file_shown(name, len(found[1]))
        name = rest.strip("/").removesuffix("/content")
        if method == "DELETE":
            self.files.pop(name, None)
            return 200, {"id": name, "object": "file", "deleted": True}
        if name.startswith("results-"):
            number = int(name.removeprefix("results-"))
            return 200, self._lines(self.batches[number - 1])
        if name not in self.files:
            return 404, {"error": {"message": "none", "type": "invalid_request_error"}}
        return 200, self.files[name]

    def _taken(self, batch: HeldBatch) -> tuple[int, object] | None:
        if self.weather.refused_with is not None:
            error = {"type": "invalid_request_error", "message": "refused"}
            return self.weather.refused_with, {"type": "error", "error": error}
        if self.weather.is_deaf:
            return None
        batch.number = len(self.batches) + 1
        self.batches.append(batch)
        return None if self.weather.is_silent else (200, self._shown(batch))

    def _found(self, rest: str) -> HeldBatch | None:
        for batch in self.batches:
            if rest == f"/{batch.id}" and batch.number not in self.weather.vanished:
                return batch
        return None

    def _list(self, wire: Wire) -> object:
        shown = [self._shown(one) for one in reversed(self.batches) if one.wire == wire]
        return {
            "object": "list",
            "data": shown,
            "has_more": False,
            "first_id": shown[0]["id"] if shown else None,
            "last_id": shown[-1]["id"] if shown else None,
        }

    def _shown(self, batch: HeldBatch) -> Body:
        has_ended = batch.looks > self.weather.looks
        if batch.wire == "openai":
            shown = {
                "id": batch.id,
                "object": "batch",
                "endpoint": "/v1/responses",
                "input_file_id": batch.input_file,
                "completion_window": "24h",
                "status": "completed" if has_ended else "in_progress",
                "created_at": int(datetime.now(UTC).timestamp()),
                "request_counts": {"total": len(batch.calls), "completed": 0, "failed": 0},
            }
            return shown | ({"output_file_id": f"results-{batch.number}"} if has_ended else {})
        now, calls = datetime.now(UTC).isoformat(), len(batch.calls)
        others = dict.fromkeys(("errored", "canceled", "expired"), 0)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if has_ended else "in_progress",
            "request_counts": {
                "processing": 0 if has_ended else calls,
                "succeeded": calls if has_ended else 0,
                **others,
            },
            "created_at": now,
            "expires_at": now,
            "ended_at": now if has_ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{batch.id}/results",
        }

    def _lines(self, batch: HeldBatch) -> bytes:
        if batch.results is None:
            batch.results = self._made(batch)
        content = b"".join(json.dumps(one).encode() + b"\n" for one in batch.results)
        if self._broken_off < self.weather.broken_off:
            self._broken_off += 1
            # In the middle of a line, and between two.
            end = content.rindex(b"\n", 0, len(content) - 1)
            return content[: end // 2 if self._broken_off % 2 else end]
        return content

    def _made(self, batch: HeldBatch) -> list[Body]:
        weather, made = self.weather, []
        for at, (custom_id, body) in enumerate(batch.calls):
            if weather.lost(at):
                continue
            if weather.expired(at):
                made.append(_unmade(batch.wire, custom_id))
                continue
            line = _line(batch.wire, custom_id, *self._said(batch.wire, body))
            made += [line, line] if weather.repeated(at) else [line]
        for number in range(weather.strangers):
            said = self._said(batch.wire, batch.calls[0][1], is_counted=False)
            made.append(_line(batch.wire, f"stranger-{number}", *said))
        return made[::-1] if weather.is_reordered else made

    def _said(self, wire: Wire, body: Body, *, is_counted: bool = True) -> tuple[int, Body]:
        messages = read_messages({"messages": body["messages" if wire == "anthropic" else "input"]})
        request = self._request(body, messages, is_counted=is_counted)
        reply = self.script(request)
        if reply.status != 200:
            return _error(wire, reply.status)
        return 200, (_message if wire == "anthropic" else _response)(body, reply)

    def _request(
        self, body: Mapping[str, Any], messages: tuple[Message, ...], *, is_counted: bool
    ) -> Request:
        prompt = read_prompt(messages)
        key = (prompt.task, prompt.transcript)
        self._attempts[key] += is_counted
        request = Request(
            wire="openai",
            task=prompt.task,
            attempt=self._attempts[key],
            transcript=prompt.transcript,
            messages=messages,
            body=body,
            headers={},
            arrived_at=0.0,
        )
        if is_counted:
            self.answered.append(request)
        return request


def _line(wire: Wire, custom_id: str, status: int, body: Body) -> Body:
    if wire == "openai":
        response = {"status_code": status, "request_id": "req", "body": body}
        return {"id": "line", "custom_id": custom_id, "response": response, "error": None}
    if status == 200:
        return {"custom_id": custom_id, "result": {"type": "succeeded", "message": body}}
    return {"custom_id": custom_id, "result": {"type": "errored", "error": body}}


def _unmade(wire: Wire, custom_id: str) -> Body:
    if wire == "openai":
        error = {"code": "batch_expired", "message": "not made in time"}
        return {"id": "line", "custom_id": custom_id, "response": None, "error": error}
    return {"custom_id": custom_id, "result": {"type": "expired"}}


def _error(wire: Wire, status: int) -> tuple[int, Body]:
    kinds = {
        429: "rate_limit_error",
        400: "invalid_request_error",
        529: "overloaded_error",
    }
    error = {"type": kinds.get(status, "api_error"), "message": f"scripted {status}"}
    if wire == "openai":
        return status, {"error": error}
    return status, {"type": "error", "error": error, "request_id": None}


def _tokens(content: object) -> int:
    return len(json.dumps(content)) // CHARACTERS_PER_TOKEN


def _message(body: Body, reply: Reply) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": reply.text}] if reply.text else [],
        "stop_reason": "max_tokens" if reply.finish_reason == "length" else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": sum(_tokens(one.content) for one in read_messages(body)),
            "output_tokens": _tokens(reply.text),
        },
    }


def _response(body: Body, reply: Reply) -> Body:
    sent, written = _tokens(body["input"]), _tokens(reply.text)
    text: Body = {"type": "output_text", "text": reply.text, "annotations": []}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": body["model"],
        "status": "completed",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        ],
        "usage": {
            "input_tokens": sent,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sent + written,
        },
    }


def _file_shown(name: str, size: int) -> Body:
    return {
        "id": name,
        "object": "file",
        "bytes": size,
        "created_at": 1_700_000_000,
        "filename": "batch.jsonl",
        "purpose": "batch",
        "status": "processed",
    }
