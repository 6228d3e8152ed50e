"""Answers that are not read hold little memory, and keep no other caller from its own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.api.answers import PART_BYTES
from ai_psychiatrist.api.authorization import PRINCIPAL
from ai_psychiatrist.api.limits import Limits
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown

PAGE: Final = b"x" * 12_800_000
CALLERS: Final = 150
MOST_BYTES: Final = 150_000_000
"""Of all pages that are made and not yet read."""


def scope_of(caller: str, *, method: str = "GET", path: str = "/page") -> Scope:
    """Return what the server tells of a request by this caller."""
    principal = Principal(id=caller, name=caller, tenant="t", scopes=frozenset())
    return {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [],
        "state": {PRINCIPAL: principal},
    }


class Pages:
    """An application whose answers are one large page, and how many of them live."""

    def __init__(self, *, declares: bool = True) -> None:
        self._headers = [(b"content-length", b"%d" % len(PAGE))] if declares else []
        self.living = 0
        self.most_living = 0

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Make a page and send it."""
        self.living += 1
        self.most_living = max(self.most_living, self.living)
        try:
            start = {"type": "http.response.start", "status": 200, "headers": self._headers}
            await send(start)
            await send({"type": "http.response.body", "body": PAGE})
        finally:
            self.living -= 1


def limited(app: ASGIApp, *, wait_seconds: float) -> ASGIApp:
    """Return an application whose requests wait for their turn no longer than this."""
    settings = load_settings({"API_SLOT_WAIT_SECONDS": str(wait_seconds)}, None).api
    return Limits(app, settings=settings, stopping=GracefulShutdown())


class Reader:
    """A caller who reads a part at a time, or never more than the first."""

    def __init__(self, *, reads: bool) -> None:
        self._reads = reads
        self.status = 0
        self.begun = asyncio.Event()
        self.parts: list[int] = []

    async def send(self, message: Message) -> None:
        """Take what the server sends."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.begun.set()
            return
        self.parts.append(len(message["body"]))
        if not self._reads:
            await asyncio.Event().wait()


async def nothing() -> Message:
    """Say nothing more."""
    return {"type": "http.request"}


async def called(app: ASGIApp, reader: Reader, scope: Scope) -> Reader:
    """Return the caller once it was answered."""
    await app(scope, nothing, reader.send)
    return reader


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run a test's work in a loop of its own."""

    async def within_reason() -> None:
        async with asyncio.timeout(60):
            await work()

    asyncio.run(within_reason())


@pytest.mark.parametrize("declares", [True, False], ids=["declared", "streamed"])
def test_callers_who_do_not_read_hold_few_pages(*, declares: bool) -> None:
    async def work() -> None:
        pages = Pages(declares=declares)
        app = limited(pages, wait_seconds=0.05)
        readers = [Reader(reads=False) for _ in range(CALLERS)]
        calls = [
            asyncio.create_task(called(app, reader, scope_of("one", path=f"/{number}")))
            for number, reader in enumerate(readers)
        ]
        await asyncio.gather(*(reader.begun.wait() for reader in readers))
        assert pages.most_living * len(PAGE) <= MOST_BYTES
        assert {reader.status for reader in readers} == {200, 503}
        assert max(size for reader in readers for size in reader.parts) <= PART_BYTES
        other = await called(app, Reader(reads=True), scope_of("another"))
        assert (other.status, sum(other.parts)) == (200, len(PAGE))
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        again = await called(app, Reader(reads=True), scope_of("one"))
        assert again.status == 200

    run(work)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/healthz"), ("GET", "/v1/readyz"), ("POST", "/full_pipeline")]
)
def test_status_and_what_was_paid_for_are_never_refused(method: str, path: str) -> None:
    async def work() -> None:
        app = limited(Pages(), wait_seconds=0)
        unread = [
            asyncio.create_task(called(app, Reader(reads=False), scope_of("one")))
            for _ in range(CALLERS)
        ]
        await asyncio.sleep(0)
        scope = scope_of("one", method=method, path=path)
        answered = await called(app, Reader(reads=True), scope)
        assert (answered.status, sum(answered.parts)) == (200, len(PAGE))
        for call in unread:
            call.cancel()
        await asyncio.gather(*unread, return_exceptions=True)

    run(work)
