"""Requests made from the API's own description, whose answers have to be as it says.

The API has the rule baseline for a model. Run with `python -m tests.attack.generated_requests`.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

import httpx

from ai_psychiatrist.config import Settings
from tests.attack.answer_checks import AnswerChecks
from tests.attack.findings import Findings, sweep
from tests.attack.request_making import MadeRequest, Requests, operations_of
from tests.integration.asgi_app import asgi_client
from tests.integration.running_app import NO_CERTIFICATES, RunningApp, settings_with
from tests.patience import PATIENCE_SECONDS
from tests.sweeps import GENERATED_REQUESTS

_OVER_SOCKETS: Final = 0.05
"""Share of the requests that go to a real server."""
_STORED: Final = "start_time\tstop_time\tspeaker\tvalue\n1\t2\tParticipant\ti am tired every day\n"


async def run(count: int, seed: int) -> Findings:
    """Send so many requests, one after another; the same seed makes the same requests."""
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder:
        settings = _settings(Path(folder))
        async with asgi_client(settings) as inside, _socket_client(settings) as outside:
            document = (await inside.get("/openapi.json")).json()
            operations = operations_of(document)
            checks = AnswerChecks(document, operations)
            random = Random(seed)  # noqa: S311  nothing secret is made
            requests = Requests(document, operations, random)
            for _ in range(count):
                sent = requests.make()
                client = outside if random.random() < _OVER_SOCKETS else inside
                answer = await _answer(client, sent)
                _add(findings, sent, answer, list(checks.findings(sent, answer)))
                if answer.status_code == 204:
                    requests.forget(sent.path)
                elif (
                    answer.content
                    and answer.is_success
                    and answer.headers.get("content-type", "").endswith("json")
                ):
                    requests.learn(answer.json())
    return findings


def _add(findings: Findings, sent: MadeRequest, answer: httpx.Response, found: list[str]) -> None:
    """Count an answer and what is wrong with it."""
    start = sent.content[:300]
    shown = f"{sent.method} {sent.path[:80]}{sent.query} {dict(sent.headers)} {start!r}"
    findings.count(answer.status_code)
    for kind in found:
        findings.note(kind, f"{shown}\n    -> {answer.text[:300]}")


async def _answer(client: httpx.AsyncClient, sent: MadeRequest) -> httpx.Response:
    # A login would make all that follows a session's requests, which need its token.
    client.cookies.clear()
    return await client.request(
        sent.method, sent.path + sent.query, headers=sent.headers, content=sent.content
    )


@asynccontextmanager
async def _socket_client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a server with the same stored interviews."""
    with RunningApp(settings) as app:
        async with httpx.AsyncClient(
            base_url=app.url, timeout=PATIENCE_SECONDS, verify=NO_CERTIFICATES, trust_env=False
        ) as client:
            yield client


def _settings(folder: Path) -> Settings:
    stored = folder / "stored" / "300_P" / "300_TRANSCRIPT.csv"
    stored.parent.mkdir(parents=True)
    stored.write_text(_STORED, encoding="utf-8")
    return settings_with(folder / "state", DATA_TRANSCRIPTS_DIR=str(folder / "stored"))


def _run_share(count: int, seed: int) -> Findings:
    return asyncio.run(run(count, seed))


def main() -> int:
    """Print what was found; returns 1 when that is anything."""
    return sweep(_run_share, whole=GENERATED_REQUESTS.whole, what=__doc__)


if __name__ == "__main__":
    sys.exit(main())
