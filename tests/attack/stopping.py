"""A server told to end while requests run: `python -m tests.attack.stopping`."""

import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from tests.fakes.faults import fault
from tests.fakes.model_server import ModelServerThread
from tests.integration.command import COMMAND, Serving
from tests.integration.running_app import NO_CERTIFICATES, model_at
from tests.patience import wait_until

ROOT: Final = Path(__file__).parents[2]
SERVERS: Final = {
    "serve": (COMMAND, "serve"),
    "uvicorn": (
        *(sys.executable, "-m", "uvicorn", "server:app"),
        *("--app-dir", str(ROOT), "--port", "0"),
    ),
}
_TEXT: Final = "Participant: I feel tired every day, and I think of killing myself."
_CALLS_BEFORE_THE_HANGING_ONE: Final = 7
"""The findings, four metrics, the evidence, and the scores, which hang."""


@dataclass(slots=True, kw_only=True)
class Ended:
    """What became of the requests of a server that was told to end."""

    partial: int = 0
    stopping: int = 0
    """Those of which nothing had finished, and which were told so."""
    lost: int = 0
    """Those that got no answer, or another one."""
    refused_meanwhile: int = 0
    seconds: float = 0.0
    """From the signal to the end of the process."""
    others: Counter[str] = field(default_factory=Counter)


def stop_while_asking(server: str, count: int, *, shutdown_seconds: float) -> Ended:
    """Tell a server to end while so many assessments wait for a model that never answers."""
    ended = Ended()
    with (
        tempfile.TemporaryDirectory() as folder,
        ModelServerThread(fault("hang", tasks=["scoring"])) as models,
        ThreadPoolExecutor(count) as pool,
    ):
        settings = model_at(models.url) | {
            "API_SHUTDOWN_SECONDS": str(shutdown_seconds),
            "MODEL_MAX_CONCURRENCY": str(4 * count),
        }
        is_afresh = server != "serve"
        with (
            Serving(
                Path(folder), settings, command=SERVERS[server], is_afresh=is_afresh
            ) as running,
            _caller(running.url) as caller,
        ):
            answers = [pool.submit(_assess, caller) for _ in range(count)]
            wait_until(lambda: len(models.requests) >= count * _CALLS_BEFORE_THE_HANGING_ONE)
            started = time.monotonic()
            running.signal(signal.SIGTERM)
            time.sleep(0.2)
            ended.refused_meanwhile = sum(
                _assess(caller).status_code == httpx.codes.SERVICE_UNAVAILABLE for _ in range(3)
            )
            running.wait()
            ended.seconds = time.monotonic() - started
            for answer in answers:
                _count(answer, ended)
    return ended


def _caller(url: str) -> httpx.Client:
    limits = httpx.Limits(max_connections=None)
    return httpx.Client(
        base_url=url, timeout=120, verify=NO_CERTIFICATES, trust_env=False, limits=limits
    )


def _assess(caller: httpx.Client) -> httpx.Response:
    return caller.post("/full_pipeline", json={"transcript_text": _TEXT})


def _count(answer: Future[httpx.Response], ended: Ended) -> None:
    error = answer.exception()
    if error is not None:
        ended.lost += 1
        ended.others[type(error).__name__] += 1
        return
    body = answer.result().json()
    if body.get("status") == "partial" and body["qualitative"]["overall"]:
        ended.partial += 1
    elif body.get("code") == "stopping":
        ended.stopping += 1
    else:
        ended.lost += 1
        ended.others[str(body.get("code"))] += 1


def main() -> int:
    """Stop each kind of server with requests under way, and print what became of them."""
    lost = 0
    print("server   requests  partial  stopping  lost  refused meanwhile  seconds to the end")
    for server in SERVERS:
        for count in (1, 16, 64):
            ended = stop_while_asking(server, count, shutdown_seconds=8)
            print(
                f"{server:9}{count:8}{ended.partial:9}{ended.stopping:10}{ended.lost:6}"
                f"{ended.refused_meanwhile:17}/3{ended.seconds:20.1f}  {dict(ended.others) or ''}"
            )
            lost += ended.lost
    return min(lost, 1)


if __name__ == "__main__":
    sys.exit(main())
