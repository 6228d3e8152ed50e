"""A fake model server on the loopback interface, for tests and benchmarks.

It speaks OpenAI's chat completions and Ollama's native chat; a script decides each answer.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tests.fakes.decisions import decided
from tests.fakes.delivery import deliver
from tests.fakes.exchange import Drip, Message, Reply, Request, Script, Wire
from tests.fakes.faults import FAULTS, fault
from tests.fakes.http_connection import HttpCall, in_thread, listening, response_head
from tests.fakes.pipeline_replies import pipeline_replies
from tests.fakes.replies import TASKS, good_replies
from tests.fakes.wires import (
    MODEL_NAMES,
    encode_error,
    encode_json,
    read_messages,
    read_prompt,
)

__all__ = [
    "FAULTS",
    "TASKS",
    "Drip",
    "Message",
    "ModelServer",
    "ModelServerThread",
    "Reply",
    "Request",
    "Script",
    "fault",
    "good_replies",
]

VERSION = "0.12.0"

_CHAT_WIRES: dict[str, Wire] = {
    "/v1/chat/completions": "openai",
    "/chat/completions": "openai",
    "/api/chat": "ollama",
}
_LISTS = ("/api/tags", "/v1/models", "/models")


_HOLD_SECONDS = 0.02


class ModelServer:
    """Serve scripted replies while the `async with` block runs.

    A script that raises drops the connection, and the block raises its exception at the end.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        delay_seconds: float = 0.0,
        port: int = 0,
        keeps_requests: bool = True,
        models: Sequence[str] = MODEL_NAMES,
        list_status: int = 200,
    ) -> None:
        """`models`: what the list holds; `list_status`: what it is answered with."""
        self.script = script or good_replies()
        self.models = models
        self.list_status = list_status
        self.details: dict[str, object] = {}
        """What Ollama's list says of each model besides its name."""
        self.paths: list[str] = []
        self.decisions: list[dict[str, object]] = []
        """What was sent to the decision model, which says the same of everything."""
        self.decision_status = 200
        self.delay_seconds = delay_seconds
        self.holds_replies = False
        """While it is true no chat call is answered."""
        self.url = ""
        self.requests: list[Request] = []
        self._keeps_requests = keeps_requests
        self._listening = listening(self._answer, port=port)
        self.reset()

    async def __aenter__(self) -> Self:
        """Listen on a port of the loopback interface."""
        self.url = await self._listening.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Drop what is left of the connections."""
        await self._listening.__aexit__(kind, error, trace)

    @property
    def stats(self) -> dict[str, int | float]:
        """Counts since the last reset, and the CPU seconds of this process."""
        return {
            "requests": self.request_count,
            "max_in_flight": self.max_in_flight,
            "cpu_seconds": time.process_time(),
        }

    def reset(self) -> None:
        """Forget requests, counts and attempt numbers."""
        self.requests.clear()
        self.request_count = 0
        self.in_flight = 0
        self.max_in_flight = 0
        self._attempts: Counter[tuple[str, str]] = Counter()

    async def _answer(self, call: HttpCall, transport: asyncio.Transport) -> None:
        self.paths.append(call.path)
        wire = _CHAT_WIRES.get(call.path)
        if wire is not None and call.method == "POST":
            await self._chat(wire, call, transport)
            return
        if call.path == "/v1/systemone" and call.method == "POST":
            self.decisions.append(json.loads(call.body))
            status, payload = self.decision_status, decided(self.decisions[-1])
            body = encode_json(payload)
            transport.write(response_head(status, "application/json", len(body)) + body)
            return
        status, payload = self._look_up(call)
        if call.path in _LISTS and self.list_status != 200:
            status, payload = self.list_status, {"error": "no list for you"}
        body = encode_json(payload)
        transport.write(response_head(status, "application/json", len(body)) + body)

    def _look_up(self, call: HttpCall) -> tuple[int, object]:
        match (call.method, call.path):
            case ("GET", "/api/version"):
                return 200, {"version": VERSION}
            case ("GET", "/api/tags"):
                return 200, {
                    "models": [{"name": n, "model": n} | self.details for n in self.models]
                }
            case ("GET", "/v1/models" | "/models"):
                models = [{"id": n, "object": "model", "owned_by": "fake"} for n in self.models]
                return 200, {"object": "list", "data": models}
            case ("GET", "/stats"):
                return 200, self.stats
            case ("POST", "/reset"):
                self.reset()
                return 200, {}
            case _:
                return 404, {"error": "not found"}

    async def _chat(self, wire: Wire, call: HttpCall, transport: asyncio.Transport) -> None:
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            request = self._read(wire, call)
            reply = _unserved(request) or self.script(request)
            delay_seconds = self.delay_seconds + reply.delay_seconds
            if delay_seconds:
                await asyncio.sleep(delay_seconds)
            while self.holds_replies:  # noqa: ASYNC110  another thread ends it
                await asyncio.sleep(_HOLD_SECONDS)
            await deliver(transport, request, reply)
        finally:
            self.in_flight -= 1

    def _read(self, wire: Wire, call: HttpCall) -> Request:
        body = json.loads(call.body)
        messages = read_messages(body)
        prompt = read_prompt(messages)
        key = (prompt.boundary, prompt.task)
        self._attempts[key] += 1
        self.request_count += 1
        request = Request(
            wire=wire,
            task=prompt.task,
            attempt=self._attempts[key],
            transcript=prompt.transcript,
            messages=messages,
            body=body,
            headers=call.headers,
            arrived_at=time.monotonic(),
        )
        if self._keeps_requests:
            self.requests.append(request)
        return request


class ModelServerThread:
    """Run a model server in a thread of its own, for clients that block."""

    def __init__(
        self,
        script: Script | None = None,
        *,
        delay_seconds: float = 0.0,
        models: Sequence[str] = MODEL_NAMES,
        list_status: int = 200,
    ) -> None:
        self.server = ModelServer(
            script, delay_seconds=delay_seconds, models=models, list_status=list_status
        )
        self._running = in_thread(self.server)

    def __enter__(self) -> Self:
        """Start the thread and wait until the port is open."""
        self._running.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the thread; an exception of the script is raised here."""
        self._running.__exit__(kind, error, trace)

    @property
    def url(self) -> str:
        """Address of the server, without a slash at its end."""
        return self.server.url

    @property
    def requests(self) -> list[Request]:
        """Chat calls in order of arrival."""
        return self.server.requests

    @property
    def max_in_flight(self) -> int:
        """Largest number of chat calls that waited for an answer at one time."""
        return self.server.max_in_flight


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until a signal asks to stop."""
    parser = argparse.ArgumentParser(prog="model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--delay-ms", type=float, default=0.0, help="before each reply")
    parser.add_argument("--quotes", type=int, default=8, help="participant sentences in replies")
    parser.add_argument("--fault", choices=sorted(FAULTS), help="misbehave in this way")
    parser.add_argument("--tasks", default="", help="comma-separated tasks that the fault hits")
    options = parser.parse_args(arguments)
    tasks = [task for task in options.tasks.split(",") if task]
    unknown = sorted(set(tasks) - set(TASKS))
    if unknown:
        parser.error(f"unknown tasks: {', '.join(unknown)}")
    script = fault(options.fault, tasks=tasks) if options.fault else good_replies(options.quotes)
    script = pipeline_replies(otherwise=script)
    asyncio.run(_serve_until_signal(script, options.delay_ms / 1000, options.port))


async def _serve_until_signal(script: Script, delay_seconds: float, port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    server = ModelServer(script, delay_seconds=delay_seconds, port=port, keeps_requests=False)
    async with server:
        sys.stdout.write(f"listening on {server.url}\n")
        sys.stdout.flush()
        await stop.wait()


def _unserved(request: Request) -> Reply | None:
    # Ollama streams unless told otherwise; a client that forgets to say so must not pass its tests.
    is_streaming = request.body.get("stream", request.wire == "ollama")
    if not is_streaming:
        return None
    message = "the fake server does not stream: send stream=false"
    return Reply(status=400, raw_body=encode_error(request.wire, message, kind="invalid_request"))


if __name__ == "__main__":
    main()
