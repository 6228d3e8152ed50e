"""A server of `/v1/embeddings`, as well-behaved or as hostile as its script."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

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

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body | {"path": self.path})
            status, content = script(body)
            told = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
