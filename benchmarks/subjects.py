"""What the throughput harness can measure, by name."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import aiohttp

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from benchmarks.cpu_time import cpu_seconds_of
from benchmarks.skeleton import Skeleton, assess_bare_http, open_skeleton
from benchmarks.throughput import Subject
from benchmarks.transcripts import numbered_interview, synthetic_interview

OpenSubject = Callable[[str], AbstractAsyncContextManager[Subject]]
"""Opens a subject on the address of a model server."""

INTERVIEW = synthetic_interview()
MODEL = "openai-chat:fake-model"
_IDLE_CPU_SECONDS = 0.05
"""Of a server that does nothing, in a second."""
UNBOUNDED_CALLS = "1000"
"""The controls bound nothing, so neither does ours."""


def interview(number: int) -> str:
    """Return the transcript of the assessment with this number."""
    return numbered_interview(INTERVIEW, number)


def environment(url: str) -> dict[str, str]:
    """Return settings that send the agents to the model server: the eight calls of the control.

    The control has no learned reader either.
    """
    return {
        "MODEL_DEFAULT": MODEL,
        "DANGER_MODEL": "off",
        "READER_ENABLED": "false",
        "OPENAI_BASE_URL": f"{url}/v1",
        "MODEL_MAX_CONCURRENCY": UNBOUNDED_CALLS,
        "API_MAX_CONCURRENCY": UNBOUNDED_CALLS,
    }


@asynccontextmanager
async def skeleton(url: str) -> AsyncIterator[Subject]:
    """Open bare agent runs on our own connections."""
    async with bootstrap(load_settings(environment(url), None)) as services:
        (route,) = services.connections.chain(MODEL)
        assert route.agent_model is not None
        opened = Skeleton(route.agent_model)
        yield Subject(work=lambda number: opened.assess(interview(number)))


@asynccontextmanager
async def libraries(url: str) -> AsyncIterator[Subject]:
    """Open bare agent runs on the SDK's own client, over the quicker of its transports."""
    async with open_skeleton(url) as opened:
        yield Subject(work=lambda number: opened.assess(interview(number)))


@asynccontextmanager
async def bare(url: str) -> AsyncIterator[Subject]:
    """Open bare HTTP calls."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        yield Subject(work=lambda number: assess_bare_http(session, url, interview(number)))


@asynccontextmanager
async def ours(url: str) -> AsyncIterator[Subject]:
    """Open our pipeline in this process, its log lines included."""
    async with bootstrap(load_settings(environment(url), None)) as services:

        async def assess(number: int) -> None:
            transcript = parse_transcript(interview(number), services.settings.transcript.labels)
            assessment = await services.assessor.assess(transcript)
            assert assessment.status is AssessmentStatus.COMPLETE

        yield Subject(work=assess)


@asynccontextmanager
async def http(url: str) -> AsyncIterator[Subject]:
    """Open our server in a process of its own; its CPU time counts, not the client's."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = Path(sys.executable).with_name("ai-psychiatrist")
    process = await asyncio.create_subprocess_exec(
        command,
        "serve",
        env={**os.environ, **environment(url), "API_PORT": str(port)},
        stderr=asyncio.subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            await _until_ready(session, address)
            await _until_idle(process.pid)

            async def assess(number: int) -> None:
                body = {"transcript_text": interview(number)}
                async with session.post(f"{address}/full_pipeline", json=body) as response:
                    result = await response.json()
                assert result["status"] == "complete"

            yield Subject(work=assess, cpu_seconds=lambda: cpu_seconds_of(process.pid))
    finally:
        process.terminate()
        await process.wait()


async def _until_ready(session: aiohttp.ClientSession, address: str) -> None:
    for _ in range(200):
        try:
            async with session.get(f"{address}/healthz"):
                return
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.1)
    msg = "the server did not start"
    raise RuntimeError(msg)


async def _until_idle(pid: int) -> None:
    """Wait until a server has read what it reads ahead: it is no part of an assessment."""
    spent, now = -1.0, cpu_seconds_of(pid)
    while now - spent > _IDLE_CPU_SECONDS:
        await asyncio.sleep(1)
        spent, now = now, cpu_seconds_of(pid)


SUBJECTS: dict[str, OpenSubject] = {
    "skeleton": skeleton,
    "libraries": libraries,
    "bare": bare,
    "ours": ours,
    "http": http,
}
