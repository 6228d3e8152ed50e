"""Callers who leave, callers who are refused, and files that do not answer."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from tests.attack.bodies import of_text
from tests.attack.callers import Answer, Call, ask, leave, posted
from tests.attack.memory import cpu_seconds
from tests.attack.server import attacked
from tests.attack.verdicts import Verdict, all_of, at_most
from tests.fakes.exchange import Reply
from tests.fakes.model_server import ModelServerThread
from tests.integration.command import Serving
from tests.integration.running_app import model_at
from tests.patience import wait_until

LEAVING: Final = 100
REFUSED: Final = 60
_REFUSED_BYTES: Final = 292_000
_CALL_SECONDS: Final = 0.3
_GRACE_SECONDS: Final = 1.0
_WATCHED_SECONDS: Final = 4.0
_TEXT: Final = "Interviewer: How do you sleep?\nParticipant: Badly, nearly every night.\n"
_INCIDENT: Final = {
    "title": "The lunch",
    "summary": "Somebody ate the lunch of somebody else.",
    "interviewee_name": "Sam",
    "interviewee_role": "a colleague who was there",
    "confidence_threshold": 40,
}
_LEFT: Final = (
    of_text("/full_pipeline", _TEXT),
    of_text("/v1/interviews", _TEXT),
    posted("/v1/interviews", {"protocol": "incident", "inputs": _INCIDENT}),
    of_text("/full_pipeline", _TEXT * 400),
    of_text("/v1/interviews", _TEXT * 400),
)


def attack_by_leaving() -> Iterator[Verdict]:
    """Have callers leave in the middle, and yield what went on without them."""
    with ModelServerThread() as models:
        models.server.delay_seconds = _CALL_SECONDS
        with attacked(model_at(models.url) | {"API_MAX_CONCURRENCY": "200"}) as server:
            asyncio.run(_all_leave(server.url))
            left = time.monotonic()
            seen = len(models.requests)
            time.sleep(_WATCHED_SECONDS)
            late = sum(
                request.arrived_at > left + _GRACE_SECONDS for request in list(models.requests)
            )
            under_way = models.server.in_flight
            answer = asyncio.run(ask(server.url, of_text("/full_pipeline", _TEXT)))
    note = f"{seen} calls before they left"
    yield at_most(f"model calls 1 s after {LEAVING} callers left", late, 0, note=note)
    yield at_most("model calls under way after that", under_way, 0)
    yield at_most("the next assessment", answer.seconds, 10, "s", note=f"status {answer.status}")


async def _all_leave(url: str) -> None:
    calls = [_LEFT[number % len(_LEFT)] for number in range(LEAVING)]
    seconds = [0.05 + 2.0 * number / LEAVING for number in range(LEAVING)]
    await asyncio.gather(*map(leave, [url] * LEAVING, calls, seconds))


def attack_full_server() -> Iterator[Verdict]:
    """Send requests to a server that has no room, and yield what refusing them takes."""
    line = "Interviewer: How do you sleep?\nParticipant: I feel tired nearly every day.\n"
    large = of_text("/full_pipeline", line * (_REFUSED_BYTES // len(line)))
    with ModelServerThread(lambda _: Reply(hang=True)) as models:
        settings = model_at(models.url) | {"API_MAX_CONCURRENCY": "1", "API_SLOT_WAIT_SECONDS": "0"}
        with attacked(settings) as server:
            answers, used = asyncio.run(_refused(server, models, [large] * REFUSED))
    refused = sum(answer.status == 503 for answer in answers)
    yield all_of("refused requests of 292 kB at a limit of 1", refused, REFUSED)
    yield at_most("processor's time of refusing them", used, 1, "s")


async def _refused(
    server: Serving, models: ModelServerThread, calls: Sequence[Call]
) -> tuple[list[Answer], float]:
    """Return the answers while the only place is taken, and the processor's seconds for them."""
    holder = asyncio.create_task(leave(server.url, of_text("/full_pipeline", _TEXT), 3600))
    await asyncio.to_thread(wait_until, lambda: models.requests)
    before = cpu_seconds(server.pid)
    answers = [await ask(server.url, call) for call in calls]
    used = cpu_seconds(server.pid) - before
    holder.cancel()
    return answers, used


def attack_with_files(folder: Path) -> Iterator[Verdict]:
    """Lock the interviews, put a pipe among the transcripts, and yield what assessments take."""
    stored = folder / "300_P"
    stored.mkdir(parents=True)
    os.mkfifo(stored / "300_TRANSCRIPT.csv")
    state = folder / "state"
    store = state / "store.sqlite"
    settings = {"DATA_TRANSCRIPTS_DIR": str(folder), "DATA_STATE_DIR": str(state)}
    with attacked(settings) as server:
        assess = [of_text("/full_pipeline", _TEXT)] * 20
        begin = posted("/v1/interviews", {"protocol": "phq8"})
        asyncio.run(ask(server.url, begin))
        asyncio.run(_asked(server.url, assess))
        free = asyncio.run(_asked(server.url, assess))
        with _locked(store):
            blocked = asyncio.run(_beside(server.url, [begin] * 40, assess))
        pipe = [posted("/full_pipeline", {"participant_id": 300})] * 40
        piped = asyncio.run(_beside(server.url, pipe, assess))
    usual = max(answer.seconds for answer in free)
    for name, answers in (("a locked store", blocked), ("a pipe as transcript", piped)):
        note = f"without it {usual:.1f} s"
        slowest = max(answer.seconds for answer in answers)
        fine = sum(answer.status == 200 for answer in answers)
        yield all_of(f"assessments beside {name}", fine, len(answers), note=note)
        yield at_most("the slowest of them", slowest, 3 * usual + 1, "s")


async def _beside(url: str, hanging: Sequence[Call], calls: Sequence[Call]) -> list[Answer]:
    hung = [asyncio.create_task(ask(url, call)) for call in hanging]
    await asyncio.sleep(0.2)
    answers = await _asked(url, calls)
    for task in hung:
        task.cancel()
    await asyncio.gather(*hung, return_exceptions=True)
    return answers


async def _asked(url: str, calls: Sequence[Call]) -> list[Answer]:
    return await asyncio.gather(*(ask(url, call) for call in calls))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
