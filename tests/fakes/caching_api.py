"""A fake of Anthropic's Messages API that caches what stands before a mark, and says so."""

import asyncio
import json
from typing import Any

from tests.fakes.http_connection import HttpCall, response_head
from tests.fakes.messages_api import (
    CHARACTERS_PER_TOKEN,
    MessagesApi,
    MessagesReply,
    MessagesRequest,
)
from tests.fakes.replies import good_text, participant_quotes
from tests.fakes.wires import encode_json

SECONDS = 0.05


class CachingApi(MessagesApi):
    """Answers after a while; a prefix is found by calls that come when a reply to it has begun."""

    def __init__(self) -> None:
        super().__init__(_good)
        self.found: list[int] = []
        """How many tokens each call found in the cache, in the order of arrival."""
        self.in_flight: list[int] = []
        """How many calls were under way when each came, itself among them."""
        self._prefixes: set[str] = set()
        self._open = 0

    async def _handle(self, call: HttpCall, transport: asyncio.Transport) -> None:
        body = json.loads(call.body)
        prefix = _prefix(body)
        is_found = prefix in self._prefixes
        tokens = len(prefix) // CHARACTERS_PER_TOKEN
        self.found.append(tokens if is_found else 0)
        self._open += 1
        self.in_flight.append(self._open)
        await asyncio.sleep(SECONDS)
        self._open -= 1
        self._prefixes.add(prefix)
        status, payload = self._reply(call)
        if isinstance(payload, dict) and "usage" in payload and prefix:
            name = "cache_read_input_tokens" if is_found else "cache_creation_input_tokens"
            payload["usage"][name] = tokens
            payload["usage"]["input_tokens"] -= min(tokens, payload["usage"]["input_tokens"])
        answer = encode_json(payload)
        transport.write(response_head(status, "application/json", len(answer)) + answer)


def _prefix(body: dict[str, Any]) -> str:
    """Return what stands before the last mark of the first message."""
    texts: list[str] = []
    marked = 0
    content = body["messages"][0]["content"]
    for block in content if isinstance(content, list) else ():
        texts.append(block["text"])
        marked = len(texts) if "cache_control" in block else marked
    return "".join(texts[:marked])


def _good(request: MessagesRequest) -> MessagesReply:
    text = "".join(request.user_texts)
    start = text.index("Task: ") + len("Task: ")
    task = text[start:].partition("\n")[0].strip()
    return MessagesReply(text=good_text(task, participant_quotes(text)), stop_reason="end_turn")
