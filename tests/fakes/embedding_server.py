"""A server of `/v1/embeddings`, as well-behaved or as hostile as its script."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.fakes.http_connection import HttpCall, in_thread, listening, response_head

Script = Callable[[dict[str, Any]], tuple[int, object]]
"""From the body of a request to the status and the body of its answer."""


def answer(vectors: list[list[float]]) -> dict[str, object]:
    """Return the body that OpenAI's protocol has for vectors."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": "any", "usage": usage}


def by_letters(body: dict[str, Any]) -> tuple[int, object]:
    """Count letters: texts of the same ones are alike."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return 200, answer(
        [[1.0 + text.casefold().count(letter) for letter in letters] for text in body["input"]]
    )


@contextmanager
def embedding_server(script: Script = by_letters) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve, and yield the server's URL and the bodies of the requests that it gets."""
    asked: list[dict[str, Any]] = []

    async def handle(call: HttpCall, transport: asyncio.Transport) -> None:
        body = json.loads(call.body)
        asked.append(body | {"path": call.path})
        status, content = script(body)
        told = content if isinstance(content, bytes) else json.dumps(content).encode()
        transport.write(response_head(status, "application/json", len(told)) + told)

    with in_thread(listening(handle)) as url:
        yield url, asked
