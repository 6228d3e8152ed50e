"""What the server says of itself: its document, which methods its paths take, how it is."""

import re
from collections.abc import Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json
from tests.golden.http_caller import (
    HERE,
    Talk,
    app_with,
    calling,
    client_of,
    head_alone,
    in_loop,
    whole_head,
)
from tests.golden.http_showing import page_of
from tests.golden.ways import model_server

NOBODY: Final = "00000000-0000-4000-8000-000000000000"
"""An id of nothing."""
_PAGES: Final = (
    *("/", "/new", "/login", "/logout", "/next", "/agreement"),
    *(f"/assessments/{NOBODY}", f"/assessments/{NOBODY}/rate"),
    *("/docs", "/docs/start.js", "/openapi.json", "/static/0123456789abcdef/sheet.js"),
)
"""Paths that the document does not tell of."""
_FIRST_NAMES: Final = (
    *("/full_pipeline", "/assess/quantitative", "/assess/qualitative"),
    *("/health", "/healthz", "/readyz", "/metrics"),
)
_DEAD: Final = {
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "MODEL_BUSY_WAITS_SECONDS": "0",
    "MODEL_DEFAULT": "openai-chat:fake-model",
}


@in_loop
async def documents(folder: Path) -> list[Answer]:
    """Return the cases."""
    async with calling(folder) as client:
        talk = Talk(client=client, name="document")
        whole = (await client.get("/openapi.json")).json()
        _describe(talk, whole)
        paths = [_filled(path) for path in whole["paths"]]
        await _methods(talk, [*paths, *_FIRST_NAMES, *_PAGES])
        await _pages(talk)
        await _not_there(talk)
        await _health(talk)
    async with calling(folder, {"API_DOCS": "false"}) as client:
        closed = Talk(client=client, name="document/closed", cases=talk.cases)
        for path in ("/docs", "/docs/start.js", "/openapi.json", "/nothing"):
            await closed.ask(path.strip("/"), "GET", path)
    await _models(folder, talk.cases)
    await _mounted(folder, talk.cases)
    await _not_opened(folder, talk.cases)
    return talk.cases


def _describe(talk: Talk, whole: Mapping[str, Any]) -> None:
    """Keep the document in parts, for a change to be seen where it is."""
    listed = [
        f"{method.upper()} {path}" for path, found in whole["paths"].items() for method in found
    ]
    talk.add("operations", listed)
    for path, found in whole["paths"].items():
        operations = {method: _operation(one) for method, one in found.items()}
        talk.add(f"paths/{path.strip('/').replace('/', '.')}", operations)
    components = whole["components"]
    talk.add("schemas/_names", list(components["schemas"]))
    for name, schema in components["schemas"].items():
        talk.add(f"schemas/{name}", schema)
    codes = {
        f"{status}:{code}"
        for found in whole["paths"].values()
        for operation in found.values()
        for status, response in operation["responses"].items()
        for code in response.get("x-problem-codes", ())
    }
    talk.add("problems", sorted(codes))
    rest = {name: value for name, value in whole.items() if name not in {"paths", "components"}}
    others = {name: value for name, value in components.items() if name != "schemas"}
    talk.add("whole", {"keys": list(whole), **rest, "components": others})


def _operation(told: Mapping[str, Any]) -> Json:
    """Return an operation, the problems that it may answer with as one line each."""
    responses: dict[str, Json] = {}
    for status, response in told["responses"].items():
        rest = {name: one for name, one in response.items() if name not in _OF_PROBLEMS}
        is_usual = response.get("content") == _PROBLEM and not rest
        codes = ",".join(response.get("x-problem-codes", ()))
        responses[status] = [response["description"], codes] if is_usual else response
    return {**told, "responses": responses}


_OF_PROBLEMS: Final = frozenset({"description", "content", "x-problem-codes"})
_PROBLEM: Final = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


async def _methods(talk: Talk, paths: list[str]) -> None:
    """Keep which methods each path takes, and that HEAD is answered as GET is."""
    allowed: dict[str, Json] = {}
    heads: dict[str, Json] = {}
    for path in paths:
        response = await talk.client.request("PUT", path)
        assert response.status_code == 405, path
        allowed[path] = response.headers["allow"].split(", ")
        options = await talk.client.options(path)
        if options.status_code != 405 or options.headers["allow"] != response.headers["allow"]:
            allowed[f"OPTIONS {path}"] = head_alone(options)
        if "GET" in response.headers["allow"]:
            heads[path] = await _head(talk, path)
    talk.add("allowed", allowed)
    talk.add("heads", heads)
    await talk.ask("method/put", "PUT", "/v1/assessments")
    await talk.ask("method/unknown", "BREW", "/full_pipeline")
    await talk.ask("method/options", "OPTIONS", "/full_pipeline")


async def _head(talk: Talk, path: str) -> Json:
    got = await talk.client.get(path)
    head = await talk.client.head(path)
    differing = {
        name
        for name in got.headers.keys() | head.headers.keys()
        if got.headers.get(name) != head.headers.get(name)
    }
    statuses = f"{got.status_code}|{head.status_code}|{len(head.content)}"
    return f"{statuses}|{','.join(sorted(differing))}"


async def _pages(talk: Talk) -> None:
    await talk.ask("docs", "GET", "/docs", show=head_alone)
    for path in ("/docs", "/docs/start.js", "/openapi.json", "/healthz", "/login", "/nothing"):
        await talk.ask(f"headers/{path.strip('/')}", "GET", path, show=whole_head)
    async with talk.client.stream("GET", f"https://127.0.0.1{'/healthz'}") as secure:
        talk.keep("headers/encrypted", secure, whole_head(secure))
    home = page_of((await talk.client.get("/")).text)
    assert isinstance(home, Mapping)
    places = await _assets(talk)
    for place in places:
        name = place.rpartition("/")[2]
        await talk.ask(f"static/{name}", "GET", place, show=head_alone)
    await talk.ask("static/head", "HEAD", places[0], show=whole_head)
    await talk.ask("static/unknown", "GET", places[0].rpartition("/")[0] + "/none.js")
    await talk.ask("static/other-digest", "GET", "/static/0123456789abcdef/sheet.js")
    await talk.ask("static/folder", "GET", "/static/")


async def _assets(talk: Talk) -> list[str]:
    """Return where the pages say that their files are, and what these import."""
    found: list[str] = []
    for path in ("/", "/new", "/login"):
        text = (await talk.client.get(path)).text
        found += re.findall(r'(?:href|src)="(/static/[^"]+)"', text)
    for place in found:
        if place.endswith(".js"):
            text = (await talk.client.get(place)).text
            names = re.findall(r'from "\./([\w.-]+)"', text)
            found += [f"{place.rpartition('/')[0]}/{name}" for name in names]
    return sorted(set(found))


async def _not_there(talk: Talk) -> None:
    for case, path in {
        "root-of-v1": "/v1",
        "slash": "/healthz/",
        "double": f"{HERE}//healthz",
        "unknown": "/v1/nothing",
        "case": "/V1/healthz",
        "encoded": "/v1%2Fhealthz",
        "page-under-v1": "/v1/login",
        "no-first-name": "/interviews",
    }.items():
        await talk.ask(f"not-found/{case}", "GET", path)
    await talk.ask("not-found/post", "POST", "/nothing", content=b"{", headers=_JSON)


_JSON: Final = {"Content-Type": "application/json"}


async def _health(talk: Talk) -> None:
    for path in ("/health", "/healthz", "/readyz", "/v1/health", "/v1/healthz", "/v1/readyz"):
        await talk.ask(f"status/{path.strip('/').replace('/', '.')}", "GET", path)
    await talk.ask("status/query", "GET", "/healthz?x=1")
    await talk.ask("status/metrics-off", "GET", "/metrics")


async def _models(folder: Path, cases: list[Answer]) -> None:
    """Keep what is said where models would not answer."""
    async with calling(folder, _DEAD) as client:
        talk = Talk(client=client, name="document/dead-model", cases=cases)
        for path in ("/health", "/readyz", "/healthz"):
            await talk.ask(path.strip("/"), "GET", path)
    part = {"MODEL_META_REVIEW_MODEL": "ollama:missing", "MODEL_DEFAULT": "baseline"}
    dead = {"OLLAMA_HOST": "http://127.0.0.1:9"}
    async with calling(folder, part | dead) as client:
        talk = Talk(client=client, name="document/one-dead-model", cases=cases)
        for path in ("/health", "/readyz"):
            await talk.ask(path.strip("/"), "GET", path)
    async with calling(folder, {**_DEAD, "AUTH_REQUIRED": "true"}) as client:
        talk = Talk(client=client, name="document/dead-model-behind-doors", cases=cases)
        for path in ("/health", "/readyz", "/healthz"):
            await talk.ask(path.strip("/"), "GET", path)
    with model_server(good_replies()) as (_, settings):
        async with calling(folder, settings) as client:
            talk = Talk(client=client, name="document/live-model", cases=cases)
            for path in ("/health", "/readyz"):
                await talk.ask(path.strip("/"), "GET", path)
        other = {"MODEL_DEFAULT": "openai-chat:another-model"}
        async with calling(folder, settings | other) as client:
            talk = Talk(client=client, name="document/model-unknown-there", cases=cases)
            for path in ("/health", "/readyz"):
                await talk.ask(path.strip("/"), "GET", path)


async def _mounted(folder: Path, cases: list[Answer]) -> None:
    """Keep how it answers inside another application, opened and not."""
    inner = app_with(folder)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        async with inner.running():
            yield

    outer = Starlette(routes=[Mount("/notes", app=inner)], lifespan=lifespan)
    async with client_of(outer) as client:
        talk = Talk(client=client, name="document/mounted", cases=cases)
        await talk.ask("not-opened", "GET", "/notes/healthz")
        async with outer.router.lifespan_context(outer):
            await talk.ask("healthz", "GET", "/notes/healthz")
            await talk.ask("login", "GET", "/notes/login")
            await talk.ask("logout", "POST", "/notes/logout")
            await talk.ask("method", "PUT", "/notes/v1/assessments")
            await talk.ask("unknown", "GET", "/notes/unknown")
            await talk.ask("outside", "GET", "/healthz", show=head_alone)
            body = {"transcript_text": "Participant: I am tired every day."}
            headers = {"Prefer": "respond-async"}
            sent = {"json": body, "headers": headers}
            await talk.ask("job", "POST", "/notes/v1/assessments", show=head_alone, **sent)


async def _not_opened(folder: Path, cases: list[Answer]) -> None:
    async with calling(folder, is_opened=False) as client:
        talk = Talk(client=client, name="document/not-opened", cases=cases)
        for path in ("/healthz", "/openapi.json", "/nothing"):
            await talk.ask(path.strip("/"), "GET", path)
    await _faulty(folder, cases)


async def _faulty(folder: Path, cases: list[Answer]) -> None:
    """Keep what is answered where a route that a host adds has a fault."""
    app: FastAPI = app_with(folder)

    async def fails() -> None:
        message = "nothing of this is told"
        raise RuntimeError(message)

    app.add_api_route("/fails", fails)
    async with client_of(app) as client, app.router.lifespan_context(app):
        talk = Talk(client=client, name="document/faulty", cases=cases)
        await talk.ask("internal-error", "GET", "/fails")
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(dict(message))

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/v1/jobs", "headers": [], "scheme": "ws"}
    async with app.router.lifespan_context(app):
        await app({**scope, "query_string": b"", "subprotocols": [], "state": {}}, receive, send)
    talk.add("websocket", sent)


def _filled(path: str) -> str:
    return re.sub(r"\{\w+\}", NOBODY, path)
