"""The application in the loop of its cases, and somebody who calls it and notes the answers."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx

import ai_psychiatrist as ap
from tests.golden.answer import Answer, Json
from tests.golden.http_showing import fixed, shown
from tests.golden.ways import environment

HERE: Final = "http://127.0.0.1"
PATIENCE_SECONDS: Final = 120.0
NO_CERTIFICATES: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing is called that has one; loading those of the machine takes its time."""
Show: TypeAlias = Callable[[httpx.Response], Json]


def in_loop(
    part: Callable[[Path], Coroutine[Any, Any, list[Answer]]],
) -> Callable[[Path], list[Answer]]:
    """Return a part of the cases as a function that runs it in a loop of its own."""

    @wraps(part)
    def run(folder: Path) -> list[Answer]:
        return asyncio.run(part(folder))

    return run


async def together(
    folder: Path,
    cases: list[Answer],
    *parts: Callable[[Path, list[Answer]], Coroutine[Any, Any, None]],
) -> None:
    """Make cases that mostly wait at the same time; they are added in the order of the parts."""
    made: list[list[Answer]] = [[] for _ in parts]
    await asyncio.gather(
        *(part(folder / f"part-{number}", made[number]) for number, part in enumerate(parts))
    )
    for one in made:
        cases += one


@asynccontextmanager
async def calling(
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    base_url: str = HERE,
    address: str = "127.0.0.1",
    is_opened: bool = True,
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the application with these settings, opened unless said otherwise."""
    app = app_with(folder, settings)
    async with client_of(app, base_url=base_url, address=address) as client:
        if is_opened:
            async with app.router.lifespan_context(app):
                yield client
        else:
            yield client


@asynccontextmanager
async def opened(folder: Path, settings: Mapping[str, str] | None = None) -> AsyncIterator[Any]:
    """Yield the opened application, for callers of several kinds."""
    app = app_with(folder, settings)
    async with app.router.lifespan_context(app):
        yield app


def app_with(folder: Path, settings: Mapping[str, str] | None = None) -> Any:
    """Return the application with these settings; its state is in the folder."""
    return ap.create_app(ap.load_settings(environment(folder, settings), dotenv=None))


def client_of(app: Any, *, base_url: str = HERE, address: str = "127.0.0.1") -> httpx.AsyncClient:
    """Return a client of an application in this loop."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 50_000))
    return httpx.AsyncClient(
        transport=transport, base_url=base_url, verify=NO_CERTIFICATES, trust_env=False, timeout=60
    )


@dataclass(slots=True, kw_only=True)
class Talk:
    """Asks, and keeps each answer as a case."""

    client: httpx.AsyncClient
    name: str
    """What the names of its cases begin with."""
    given: Sequence[str] = ()
    masks: dict[str, str] = field(default_factory=dict)
    """May grow as long as it asks: they count for all of its cases."""
    times: Sequence[str] = ()
    cases: list[Answer] = field(default_factory=list)

    async def ask(
        self, case: str, method: str, path: str, *, show: Show = shown, **sent: Any
    ) -> httpx.Response:
        """Send a request as `httpx` takes it, keep the answer under a name, and return it."""
        response = await self.client.request(method, path, **sent)
        self.keep(case, response, show(response))
        return response

    def keep(self, case: str, response: httpx.Response, value: Json) -> None:
        """Keep what is shown of an answer."""
        request = response.request
        asked = fixed(f"{request.method} {request.url.raw_path.decode()}")
        kept = {"asked": asked, **value} if isinstance(value, Mapping) else value
        self.add(case, kept)

    def add(self, case: str, value: Json) -> None:
        """Keep a value that is no answer of its own."""
        self.cases.append(
            Answer(
                name=f"{self.name}/{case}",
                value=value,
                given=self.given,
                masks=self.masks,
                times=self.times,
            )
        )


def head_alone(response: httpx.Response) -> Json:
    """Show status and headers of an answer."""
    return shown(response, body=False)


def whole_head(response: httpx.Response) -> Json:
    """Show status and all headers of an answer."""
    return shown(response, body=False, all_headers=True)


def only(*names: str) -> Show:
    """Return what shows these fields of an answer in JSON, without headers; `a.b` is `b` of `a`."""

    def show(response: httpx.Response) -> Json:
        whole = shown(response)
        assert isinstance(whole, Mapping)
        body = whole["body"]
        if response.is_error or not isinstance(body, Mapping):
            return whole
        return {"http": response.status_code, **{name: _part(body, name) for name in names}}

    return show


async def until(
    is_so: Callable[[], Any], *, seconds: float = PATIENCE_SECONDS, pause: float = 0.005
) -> None:
    """Return once a function, or a coroutine that it returns, says so."""
    async with asyncio.timeout(seconds):
        while True:
            found = is_so()
            if await found if asyncio.iscoroutine(found) else found:
                return
            await asyncio.sleep(pause)


def _part(body: Json, name: str) -> Json:
    for key in name.split("."):
        if not isinstance(body, Mapping):
            return None
        body = body.get(key)
    return body
