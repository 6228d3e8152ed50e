"""What the throughput harness can measure, by name."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
from openai import DefaultAioHttpClient

from benchmarks.skeleton import assess_bare_http, open_skeleton
from benchmarks.throughput import Work
from benchmarks.transcripts import numbered_interview, synthetic_interview

Subject = Callable[[str], AbstractAsyncContextManager[Work]]
"""Opens a subject on the address of a model server."""

INTERVIEW = synthetic_interview()


def interview(number: int) -> str:
    """Return the transcript of the assessment with this number."""
    return numbered_interview(INTERVIEW, number)


@asynccontextmanager
async def skeleton(url: str) -> AsyncIterator[Work]:
    """Open bare agent runs on the SDK's default transport."""
    async with open_skeleton(url) as opened:
        yield lambda number: opened.assess(interview(number))


@asynccontextmanager
async def skeleton_aiohttp(url: str) -> AsyncIterator[Work]:
    """Open bare agent runs on the SDK's aiohttp transport."""
    async with open_skeleton(url, http_client=DefaultAioHttpClient()) as opened:
        yield lambda number: opened.assess(interview(number))


@asynccontextmanager
async def bare(url: str) -> AsyncIterator[Work]:
    """Open bare HTTP calls."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield lambda number: assess_bare_http(session, url, interview(number))


SUBJECTS: dict[str, Subject] = {
    "skeleton": skeleton,
    "skeleton_aiohttp": skeleton_aiohttp,
    "bare": bare,
}
