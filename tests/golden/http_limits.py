"""Requests that are one too many, too large, too slow, or come while the server cannot serve."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from tests.fakes.faults import fault
from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import DANGER, FULL, PREVIEW, SHORT, TEXTS
from tests.golden.http_caller import (
    Talk,
    app_with,
    calling,
    client_of,
    in_loop,
    opened,
    until,
)
from tests.golden.http_doors import brief, short
from tests.golden.http_records import PLACE
from tests.golden.http_showing import shown
from tests.golden.ways import model_server

_BODY: Final = {"transcript_text": SHORT}
_PLAIN: Final = {"Content-Type": "text/plain"}
_JSON: Final = {"Content-Type": "application/json"}


@in_loop
async def limits(folder: Path) -> list[Answer]:
    """Return the cases."""
    cases: list[Answer] = []
    await _bodies(folder / "bodies", cases)
    await _busy(folder / "busy", cases)
    await _overloaded(folder / "overloaded", cases)
    await _cancelled(folder / "cancelled", cases)
    return cases


async def _bodies(folder: Path, cases: list[Answer]) -> None:
    """Keep what is said of bodies that are too large, or do not come."""
    settings = {"API_MAX_BODY_BYTES": "1024", "API_BODY_TIMEOUT_SECONDS": "0.1"}
    async with calling(folder, settings) as client:
        talk = Talk(client=client, name="limits/body", cases=cases)
        for case, size in {"just": 1024, "one-more": 1025}.items():
            content = b"a" * size
            await talk.ask(case, "POST", FULL, content=content, headers=_PLAIN, show=short)
        declared = {**_PLAIN, "Content-Length": "9999999999999999999999"}
        await talk.ask("declared", "POST", FULL, content=b"a", headers=declared)
        low = {**_PLAIN, "Content-Length": "1"}
        await talk.ask("declared-low", "POST", FULL, content=b"a" * 2_000, headers=low)

        async def parts(size: int) -> AsyncIterator[bytes]:
            for _ in range(size):
                yield b"a" * 100

        async def slow() -> AsyncIterator[bytes]:
            yield b"Participant: I sleep"
            await asyncio.sleep(20)

        await talk.ask("in-parts", "POST", FULL, content=parts(11), headers=_PLAIN)
        await talk.ask("slow", "POST", FULL, content=slow(), headers=_PLAIN)
        await talk.ask("slow-session", "POST", "/v1/session", content=slow(), headers=_JSON)
        await talk.ask("slow-nowhere", "POST", "/nothing", content=slow())
        large: dict[str, Any] = {"content": b"a" * 9_999, "headers": _JSON}
        await talk.ask("large-session", "POST", "/v1/session", **large)
        await talk.ask("large-nowhere", "POST", "/nothing", **large)
        await talk.ask("large-put", "PUT", FULL, **large)
        delete = client.build_request("DELETE", f"{PLACE}/x", content=b"a" * 9_999)
        response = await client.send(delete)
        talk.add("large-delete", brief(response))


@asynccontextmanager
async def _under_way(folder: Path, settings: Mapping[str, str]) -> AsyncIterator[Any]:
    """Yield an application while one request waits for a model that does not answer."""
    with model_server(fault("hang")) as (server, named):
        async with opened(folder, {**named, **settings}) as app, client_of(app) as client:
            first = asyncio.create_task(client.post(FULL, json=_BODY))
            await until(lambda: server.requests)
            yield app
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)


async def _busy(folder: Path, cases: list[Answer]) -> None:
    """Keep what is said where as many requests are under way as may be."""
    settings = {"API_MAX_CONCURRENCY": "1", "API_SLOT_WAIT_SECONDS": "0"}
    async with _under_way(folder, settings) as app, client_of(app) as client:
        talk = Talk(client=client, name="limits/busy", cases=cases)
        await talk.ask("full", "POST", FULL, json=_BODY)
        await talk.ask("malformed", "POST", FULL, content=b"{", headers=_JSON)
        others: dict[str, Json] = {}
        for path in ("/assess/quantitative", "/assess/qualitative", PREVIEW, PLACE, "/v1/batches"):
            others[path] = brief(await client.post(path, json=_BODY))
        for path in ("/v1/interviews", "/v1/session"):
            others[path] = brief(await client.post(path, json={"rater": "A"}))
            client.cookies.clear()
        for path in ("/", "/new", "/health", "/readyz", PLACE, "/v1/jobs"):
            others[f"GET {path}"] = brief(await client.get(path))
        talk.add("others", others)


async def _overloaded(folder: Path, cases: list[Answer]) -> None:
    """Keep what is said where no large body finds room in time."""
    settings = {
        "API_MAX_BODY_BYTES": "70000",
        "API_MAX_TRANSCRIPT_CHARS": "70000",
        "API_BODY_TIMEOUT_SECONDS": "0.3",
    }
    content = ("Participant: I sleep badly. " * 2_500)[:69_900].encode()
    async with _under_way(folder, settings) as app, client_of(app) as client:
        talk = Talk(client=client, name="limits/overloaded", cases=cases)
        # Sixteen of the largest bodies have room at once.
        waiting = [
            asyncio.create_task(client.post(FULL, content=content, headers=_PLAIN))
            for _ in range(30)
        ]
        answered, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        response = answered.pop().result()
        talk.keep("large", response, shown(response))
        await talk.ask("small", "GET", "/healthz")
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def _cancelled(folder: Path, cases: list[Answer]) -> None:
    """Keep what a server gets to send that ends a request under way."""
    with model_server(fault("hang")) as (server, named):
        app = app_with(folder, named)
        async with app.router.lifespan_context(app), client_of(app) as client:
            talk = Talk(client=client, name="limits/ended", given=TEXTS, cases=cases)
            for case, text in {"plain": SHORT, "danger": DANGER}.items():
                sent: list[dict[str, Any]] = []
                server.requests.clear()
                task = asyncio.create_task(_called(app, text, sent))
                await until(lambda: server.requests)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                talk.add(case, _answer(sent))


async def _called(app: Any, text: str, sent: list[dict[str, Any]]) -> None:
    """Call the application as a server does; what it sends is put into a list."""
    body = [{"type": "http.request", "body": text.encode(), "more_body": False}]

    async def receive() -> Any:
        return body.pop() if body else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(dict(message))

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"text/plain")]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": FULL,
        "raw_path": FULL.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)


def _answer(sent: list[dict[str, Any]]) -> Json:
    start, *parts = sent
    body = httpx.Response(200, content=b"".join(part["body"] for part in parts)).json()
    return {"status": start["status"], "body": body}
