"""The application in process with its state in a folder, and how commands on that state end."""

import asyncio
import json
import re
import shutil
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx

import ai_psychiatrist
from tests.golden.answer import Json
from tests.golden.ways import Ended, environment, run

_WAIT_SECONDS: Final = 120.0
_NO_CERTIFICATES: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Without those of the system, which take long to load."""


@asynccontextmanager
async def served(
    folder: Path, settings: Mapping[str, str] | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the application, whose state is in the folder."""
    given = ai_psychiatrist.load_settings(environment(folder, settings), dotenv=None)
    app = ai_psychiatrist.create_app(given)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport,
            base_url="http://127.0.0.1",
            verify=_NO_CERTIFICATES,
            trust_env=False,
        ) as client,
    ):
        yield client


def shown_cells(ended: Ended) -> Json:
    """Return the end of a command whose output is lines of cells, or of JSON, or one sentence."""
    lines: list[Json] = []
    for line in ended.out.splitlines():
        cells: list[Json] = list(re.split(r"\s{2,}", line.strip()))
        lines.append(json.loads(line) if line.startswith("{") else cells)
    return {"exit": ended.code, "out": lines, "err": ended.err.splitlines()}


def ends(
    folder: Path,
    calls: Mapping[str, Sequence[str]],
    settings: Mapping[str, str] | None = None,
) -> dict[str, Json]:
    """Return how each call of a command ended."""
    return {name: shown_cells(run(call, folder, settings)) for name, call in calls.items()}


def webhook_settings(place: str) -> dict[str, str]:
    return {
        "JOBS_WEBHOOK_HOSTS": place,
        "JOBS_WEBHOOK_SECRET": "0123456789abcdef0123456789abcdef",
        "JOBS_WEBHOOK_ALLOW_HTTP": "true",
    }


async def until_job_is(
    client: httpx.AsyncClient, job: str, *, state: str, told: str | None = None
) -> None:
    """Return once a job is in a state, and somebody was told of it, or never will be."""
    async with asyncio.timeout(_WAIT_SECONDS):
        while True:
            found: dict[str, Any] = (await client.get(job)).json()
            callback = (found["callback"] or {}).get("state")
            if found["state"] == state and callback == told:
                return
            await asyncio.sleep(0.01)


def another_state(folder: Path) -> tuple[Path, dict[str, str]]:
    """Return a copy of the state in a folder, to be changed, and the settings that name it."""
    place = next(
        place for place in (folder / f"state-{number}" for number in count(1)) if not place.exists()
    )
    shutil.copytree(folder / "state", place)
    return place, {"DATA_STATE_DIR": str(place)}
